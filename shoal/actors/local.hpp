// SPDX-License-Identifier: Apache-2.0
// The problem: a PE's actors, its open calls and the messages that cannot be delivered yet need one
// home. Offered: the actors' state of one PE, reached through Pe::layer_state.
#pragma once

#include <shoal/actors/message.hpp>
#include <shoal/actors/reply.hpp>
#include <shoal/comm/frame.hpp>

#include <memory>
#include <vector>

namespace shoal::actors {

/// Where the bulk of the message being read is; what View and Incoming take it from.
struct ArrivingBulk {
  comm::Frame* frame = nullptr;  ///< it has been received; who takes it owns it
  comm::BulkHandle handle;       ///< it has only been announced
  bool announced = false;
};

/// The collection of all actors that are created one by one.
inline constexpr std::uint64_t kSingles = 0;

/// Belongs to one PE.
class Local {
 public:
  explicit Local(Pe& pe);
  Local(const Local&) = delete;
  Local& operator=(const Local&) = delete;
  ~Local();

  static Local& of(Pe& pe) noexcept { return *static_cast<Local*>(pe.layer_state); }

  Branch* branch(std::uint64_t collection) noexcept {
    if (collection < direct_count_) [[likely]]
      return direct_[collection];
    Branch** found = others_.find(collection);
    return found != nullptr ? *found : nullptr;
  }
  /// The branch, without elements yet; what waited for the collection is queued again.
  Branch& add_branch(const CollectionInfo& info, const ActorClass* actor_class);
  /// An id for a collection that this PE creates.
  std::uint64_t new_collection() noexcept;
  /// An id for a single that is to live on `home`.
  std::uint64_t new_single(comm::PeId home);
  /// `element` has been constructed: what waited for it is queued again.
  void constructed(Branch& branch, Element* element);
  /// All elements that were created with the collection are: broadcasts that waited are queued
  /// again.
  void populated(Branch& branch);
  /// Waits here until its collection or element exists. Counted, and named in reports.
  void park(Message* message, std::uint64_t collection, std::uint64_t element);
  void report_parked() const;

  Pe& pe;
  Calls calls;
  Birth birth;  ///< of the element under construction
  ArrivingBulk arriving;
  TaskList tasks;  ///< of the program

 private:
  struct Parked {
    Message* message;
    std::uint64_t collection;
    std::uint64_t element;
    comm::Nanoseconds since;
  };
  void grow_direct(std::uint64_t count);
  bool fits(const Parked& parked);
  std::string describe(const Parked& parked) const;
  std::string missing(const Parked& parked) const;
  template <class Select>
  void retry(const Select& select);

  std::unique_ptr<Branch*[]> direct_;  // by id: collections that PE 0 made
  std::uint64_t direct_count_ = 0;
  comm::IdMap<Branch*> others_;
  std::vector<std::unique_ptr<Branch>> branches_;
  std::vector<Parked> parked_;
  std::uint64_t collections_made_ = 0;
  std::uint64_t singles_made_ = 0;
};

inline Element* find_element(Pe& pe, std::uint64_t collection, std::uint64_t element) noexcept {
  Branch* branch = Local::of(pe).branch(collection);
  return branch != nullptr ? branch->find(element) : nullptr;
}

/// Whether `entry` is one of the class of an element; unknown: the element or its collection is not
/// here yet.
enum class Fit : std::uint8_t { yes, no, unknown };
Fit fit_of(Pe& pe, std::uint64_t collection, std::uint64_t element,
           const EntryInfo& entry) noexcept;

/// The PE that a message to this element goes to next; kNoPe: nobody here knows the collection yet.
comm::PeId route(Pe& pe, std::uint64_t collection, std::uint64_t element) noexcept;

}  // namespace shoal::actors
