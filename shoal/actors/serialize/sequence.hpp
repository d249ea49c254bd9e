// SPDX-License-Identifier: Apache-2.0
// Codecs for std::deque and std::list: a count, then the elements. They do not lie side by side, so
// they are copied one by one and never travel as bulk.
#pragma once

#include <shoal/actors/serialize/core.hpp>

#include <deque>
#include <list>

namespace shoal::actors {

/// Reads into the end of an emptied container.
template <class Container>
void read_elements(Reader& reader, Container& container) {
  using T = typename Container::value_type;
  container.clear();
  const std::size_t count = reader.begin_elements<T>();
  for (std::size_t i = 0; i < count && !reader.failed(); ++i) {
    reader.element(container.emplace_back());
  }
}

template <class T, class Allocator>
struct Codec<std::deque<T, Allocator>> {
  static constexpr bool kSupported = Serializable<T>;
  static constexpr std::size_t kLeastSize = sizeof(std::uint64_t);

  template <class Ar>
  static void run(Ar& ar, std::deque<T, Allocator>& value) {
    if constexpr (Ar::kReads) {
      read_elements(ar, value);
    } else {
      write_elements(ar, value);
    }
  }
};

template <class T, class Allocator>
struct Codec<std::list<T, Allocator>> {
  static constexpr bool kSupported = Serializable<T>;
  static constexpr std::size_t kLeastSize = sizeof(std::uint64_t);

  template <class Ar>
  static void run(Ar& ar, std::list<T, Allocator>& value) {
    if constexpr (Ar::kReads) {
      read_elements(ar, value);
    } else {
      write_elements(ar, value);
    }
  }
};

}  // namespace shoal::actors
