// SPDX-License-Identifier: Apache-2.0
// The problem: a message names a collection and an element, and a PE must find the object in a few
// instructions, whatever kind of collection it is. Offered: the base of all actors, what a PE knows
// of a collection (a branch: a dense range of slots, and a hash map for the rest), and the PE's
// table of branches.
#pragma once

#include <shoal/actors/entry.hpp>
#include <shoal/comm/id_map.hpp>
#include <shoal/runtime/task.hpp>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace shoal::actors {

using runtime::Pe;
using runtime::TaskList;

class Element;

/// One constant object per actor class.
struct ActorClass {
  const std::type_info* type;
  void (*destroy)(Element* element) noexcept;
};

enum class CollectionKind : std::uint8_t { singles, array, group };

/// What all PEs know of a collection.
struct CollectionInfo {
  std::uint64_t id = 0;
  std::uint64_t extent = 0;  ///< elements of a dense array
  CollectionKind kind = CollectionKind::singles;
  std::uint16_t constructor = 0;  ///< entry id
};

/// Ids of collections: the creating PE, and a number.
inline constexpr unsigned kCreatorShift = 40;

/// Element ids of singles: the home PE, and a number. One that its own PE creates gets the number
/// of a slot there, and is found as an array's element is; another's creator draws a number, which
/// is hashed.
inline constexpr unsigned kHomeShift = 40;
inline constexpr std::uint64_t kHasSlot = std::uint64_t{1} << 39U;
inline constexpr std::uint64_t kSingleSlots = std::uint64_t{1}
                                              << 16U;  ///< a PE; untouched ones cost nothing

/// A block map: the first extent % pes PEs hold one element more than the rest.
class BlockMap {
 public:
  BlockMap() = default;
  BlockMap(std::uint64_t extent, std::uint32_t pes) noexcept
      : extent_(extent), pes_(pes), small_(extent / pes), larger_(extent % pes) {}

  std::uint64_t first(std::uint32_t pe) const noexcept {
    return pe * small_ + (pe < larger_ ? pe : larger_);
  }
  std::uint32_t home(std::uint64_t element) const noexcept {
    const std::uint64_t in_larger = larger_ * (small_ + 1);
    if (element < in_larger) return static_cast<std::uint32_t>(element / (small_ + 1));
    if (element >= extent_) return static_cast<std::uint32_t>(element % pes_);
    return static_cast<std::uint32_t>(larger_ + (element - in_larger) / small_);
  }

 private:
  std::uint64_t extent_ = 0;
  std::uint32_t pes_ = 1;
  std::uint64_t small_ = 0;   // elements of a PE that has no more
  std::uint64_t larger_ = 0;  // PEs that have one more
};

/// The base of all actors: where the object belongs. Its names end in _, so that they hide none of
/// a user's.
class Element {
 public:
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;

 protected:
  /// Finds out from the PE what is being constructed.
  Element() noexcept;
  ~Element() = default;

 private:
  friend struct Branch;
  friend class Local;
  friend struct ElementAccess;
  Branch* branch_ = nullptr;
  std::uint64_t id_ = 0;
  const ActorClass* class_ = nullptr;
  TaskList tasks_;  // those that it started and nobody awaits
};

struct FreeSlots {
  void operator()(Element** slots) const noexcept { std::free(static_cast<void*>(slots)); }
};
/// Zeroed memory that costs nothing until it is touched.
using SlotArray = std::unique_ptr<Element*[], FreeSlots>;
SlotArray make_slots(std::uint64_t count);

/// One PE's part of a collection. Belongs to that PE.
struct Branch {
  // The dense range comes first: a message's look-up touches only these words.
  std::uint64_t first = 0;
  std::uint64_t count = 0;
  SlotArray slots;
  std::uint64_t home_of_singles = ~std::uint64_t{0};  // of a branch of singles: this PE
  comm::IdMap<Element*> sparse;
  CollectionInfo info;
  bool populated = false;  // this PE's elements have been constructed: broadcasts may run
  BlockMap map;
  const ActorClass* actor_class = nullptr;  // nullptr: each element its own

  Element* find(std::uint64_t element) noexcept {
    const std::uint64_t at = element - first;
    if (at < count) [[likely]]
      return slots[at];
    Element** found = sparse.find(element);
    return found != nullptr ? *found : nullptr;
  }
  /// Where a message sent here finds its element, for one that this PE holds or is the home of:
  /// known stays false for all others.
  struct Here {
    Element** slot;
    bool known;
  };
  Here here(std::uint64_t element) noexcept {
    const std::uint64_t at = element - first;
    if (at < count) [[likely]]
      return {&slots[at], true};
    return {nullptr, element >> kHomeShift == home_of_singles};
  }
  template <class Visit>
  void for_each_element(Visit&& visit) {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (slots[i] != nullptr) visit(*slots[i]);
    }
    sparse.for_each([&](std::uint64_t, Element*& element) { visit(*element); });
  }
  comm::PeId home(std::uint64_t element) const noexcept {
    switch (info.kind) {
      case CollectionKind::array:
        return comm::PeId{map.home(element)};
      case CollectionKind::group:
        return comm::PeId{static_cast<std::uint32_t>(element)};
      case CollectionKind::singles:
        break;
    }
    return comm::PeId{static_cast<std::uint32_t>(element >> kHomeShift)};
  }
};

/// What an element's constructor finds about itself.
struct Birth {
  Branch* branch = nullptr;
  std::uint64_t id = 0;
  Element* element = nullptr;  ///< its base is there; nullptr: no constructor runs
};

struct ElementAccess {
  static Branch& branch(const Element& element) noexcept { return *element.branch_; }
  static std::uint64_t id(const Element& element) noexcept { return element.id_; }
  static TaskList& tasks(Element& element) noexcept { return element.tasks_; }
  static const ActorClass* actor_class(const Element& element) noexcept { return element.class_; }
  static void set_class(Element& element, const ActorClass* what) noexcept {
    element.class_ = what;
  }
};

}  // namespace shoal::actors
