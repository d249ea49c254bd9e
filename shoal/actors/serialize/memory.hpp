// SPDX-License-Identifier: Apache-2.0
// Codecs for std::unique_ptr and std::shared_ptr: whether there is an object, then the object.
// Shared pointers to one object in one message still point to one object after reading, cycles
// included. A pointer to a polymorphic class is refused, unless that class is final: what it points
// to may be of a derived class, and would arrive cut down to the base.
#pragma once

#include <shoal/actors/serialize/core.hpp>

#include <memory>

namespace shoal::actors {

template <class T>
concept points_to_exactly_its_type = Serializable<std::remove_const_t<T>> &&
    (!std::is_polymorphic_v<T> || std::is_final_v<T>);

/// Stands for a type, compared by address.
template <class T>
inline constexpr char kTypeAddress = 0;

struct Met {
  std::uint64_t number;
  bool before;
};
/// Makes `object`, seen as `type`, the next number, counted from 0, unless it was met before. The
/// tracker shares the object: an address freed within a `serialize` is not met again.
Met meet(Tracker& tracker, std::shared_ptr<const void> object, const void* type);
/// Object `number`, or null if there is none or it is of another type.
std::shared_ptr<void> find(const Tracker& tracker, std::uint64_t number, const void* type);

template <class T>
struct Codec<std::unique_ptr<T>> {
  static constexpr bool kSupported = points_to_exactly_its_type<T>;
  static constexpr std::size_t kLeastSize = 1;

  template <class Ar>
  static void run(Ar& ar, std::unique_ptr<T>& value) {
    bool present = value != nullptr;
    ar(present);
    if constexpr (Ar::kReads) {
      value.reset();
      if (!present) return;
      auto fresh = std::make_unique<std::remove_const_t<T>>();
      ar.element(*fresh);
      value = std::move(fresh);
    } else if (present) {
      ar.element(std::as_const(*value));
    }
  }
};

/// 0 for null, 1 before an object that comes here first, 2 + n for object n.
template <class T>
struct Codec<std::shared_ptr<T>> {
  static constexpr bool kSupported = points_to_exactly_its_type<T>;
  static constexpr std::size_t kLeastSize = sizeof(std::uint64_t);

  template <class Ar>
  static void run(Ar& ar, std::shared_ptr<T>& value) {
    if constexpr (Ar::kReads) {
      read(ar, value);
    } else if (value == nullptr) {
      ar(std::uint64_t{0});
    } else {
      const Met met = meet(ar.tracker(), value, &kTypeAddress<Object>);
      ar(met.before ? 2 + met.number : std::uint64_t{1});
      if (!met.before) ar.element(std::as_const(*value));
    }
  }

 private:
  using Object = std::remove_const_t<T>;

  static void read(Reader& reader, std::shared_ptr<T>& value) {
    const auto code = reader.read<std::uint64_t>();
    value.reset();
    if (code == 0) return;
    if (code == 1) {
      auto fresh = std::make_shared<Object>();
      meet(reader.tracker(), fresh, &kTypeAddress<Object>);
      reader.element(*fresh);
      value = std::move(fresh);
      return;
    }
    auto known = find(reader.tracker(), code - 2, &kTypeAddress<Object>);
    if (known == nullptr) return reader.fail("a shared_ptr to an object not in the message", code);
    value = std::static_pointer_cast<T>(std::move(known));
  }
};

}  // namespace shoal::actors
