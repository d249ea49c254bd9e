// SPDX-License-Identifier: Apache-2.0
// Codecs for std::unordered_map, unordered_multimap, unordered_set and unordered_multiset: a count,
// then the elements in the container's order. That order may differ in the container that is read,
// so a canonical writer, which compares bytes, sorts the elements by what they are written as.
#pragma once

#include <shoal/actors/serialize/associative.hpp>

#include <unordered_map>
#include <unordered_set>

namespace shoal::actors {

struct WrittenElement {
  std::vector<std::byte> bytes;
  const void* element;
};
void sort_by_bytes(std::vector<WrittenElement>& elements);

/// Writes the elements in an order that depends only on what they are. For checks: it is slow.
template <class Container>
void write_sorted(Writer& writer, const Container& container) {
  using Item = typename Container::value_type;
  std::vector<WrittenElement> order;
  order.reserve(container.size());
  for (const Item& element : container) {
    Sizer sizer;
    write_associative_element<Container>(sizer, element);
    std::vector<std::byte> bytes(sizer.size());
    Writer part(bytes.data(), bytes.size());
    part.set_canonical();
    write_associative_element<Container>(part, element);
    order.push_back({std::move(bytes), &element});
  }
  sort_by_bytes(order);
  for (const WrittenElement& written : order) {
    write_associative_element<Container>(writer, *static_cast<const Item*>(written.element));
  }
}

template <class Container, class... Parts>
struct UnorderedCodec {
  static constexpr bool kSupported = kAllSerializable<Parts...>;
  static constexpr std::size_t kLeastSize = sizeof(std::uint64_t);

  template <class Ar>
  static void run(Ar& ar, Container& value) {
    if constexpr (Ar::kReads) {
      read_associative(ar, value);
    } else {
      if (!begin_associative<Container>(ar, value.size())) return;
      if constexpr (std::is_same_v<Ar, Writer>) {
        if (ar.canonical()) return write_sorted(ar, value);
      }
      for (const auto& element : value) write_associative_element<Container>(ar, element);
    }
  }
};

template <class Key, class T, class Hash, class Equal, class Allocator>
struct Codec<std::unordered_map<Key, T, Hash, Equal, Allocator>>
    : UnorderedCodec<std::unordered_map<Key, T, Hash, Equal, Allocator>, Key, T> {};

template <class Key, class T, class Hash, class Equal, class Allocator>
struct Codec<std::unordered_multimap<Key, T, Hash, Equal, Allocator>>
    : UnorderedCodec<std::unordered_multimap<Key, T, Hash, Equal, Allocator>, Key, T> {};

template <class Key, class Hash, class Equal, class Allocator>
struct Codec<std::unordered_set<Key, Hash, Equal, Allocator>>
    : UnorderedCodec<std::unordered_set<Key, Hash, Equal, Allocator>, Key> {};

template <class Key, class Hash, class Equal, class Allocator>
struct Codec<std::unordered_multiset<Key, Hash, Equal, Allocator>>
    : UnorderedCodec<std::unordered_multiset<Key, Hash, Equal, Allocator>, Key> {};

}  // namespace shoal::actors
