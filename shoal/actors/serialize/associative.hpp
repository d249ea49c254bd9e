// SPDX-License-Identifier: Apache-2.0
// What the codecs of maps and sets, ordered or not, have in common: a count, then keys or pairs of
// key and value. Reading keeps the container's comparison, hash and allocator.
#pragma once

#include <shoal/actors/serialize/core.hpp>

namespace shoal::actors {

template <class Container>
concept maps_keys = requires {
  typename Container::mapped_type;
};

/// Reads into an emptied map or set. Elements written in order are inserted in constant time.
template <class Container>
void read_associative(Reader& reader, Container& container) {
  using Key = typename Container::key_type;
  container.clear();
  if constexpr (maps_keys<Container>) {
    using Mapped = typename Container::mapped_type;
    const std::size_t count = reader.begin_elements<Key, Mapped>();
    for (std::size_t i = 0; i < count; ++i) {
      Key key{};
      Mapped mapped{};
      reader.element(key, mapped);
      if (reader.failed()) return;
      container.emplace_hint(container.end(), std::move(key), std::move(mapped));
    }
  } else {
    const std::size_t count = reader.begin_elements<Key>();
    for (std::size_t i = 0; i < count; ++i) {
      Key key{};
      reader.element(key);
      if (reader.failed()) return;
      container.emplace_hint(container.end(), std::move(key));
    }
  }
}

/// Sizes or writes one element of a map or set.
template <class Container, class Ar>
void write_associative_element(Ar& ar, const typename Container::value_type& element) {
  if constexpr (maps_keys<Container>) {
    ar.element(element.first, element.second);
  } else {
    ar.element(element);
  }
}

/// Sizes or writes the count; false if the elements need not be visited.
template <class Container, class Ar>
bool begin_associative(Ar& ar, std::size_t count) {
  if constexpr (maps_keys<Container>) {
    return ar
        .template begin_elements<typename Container::key_type, typename Container::mapped_type>(
            count);
  } else {
    return ar.template begin_elements<typename Container::key_type>(count);
  }
}

/// The codec of the ordered ones.
template <class Container, class... Parts>
struct AssociativeCodec {
  static constexpr bool kSupported = kAllSerializable<Parts...>;
  static constexpr std::size_t kLeastSize = sizeof(std::uint64_t);

  template <class Ar>
  static void run(Ar& ar, Container& value) {
    if constexpr (Ar::kReads) {
      read_associative(ar, value);
    } else {
      if (!begin_associative<Container>(ar, value.size())) return;
      for (const auto& element : value) write_associative_element<Container>(ar, element);
    }
  }
};

}  // namespace shoal::actors
