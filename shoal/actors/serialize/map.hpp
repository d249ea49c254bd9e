// SPDX-License-Identifier: Apache-2.0
// Codecs for std::map, multimap, set and multiset: a count, then the elements in order.
#pragma once

#include <shoal/actors/serialize/associative.hpp>

#include <map>
#include <set>

namespace shoal::actors {

template <class Key, class T, class Compare, class Allocator>
struct Codec<std::map<Key, T, Compare, Allocator>>
    : AssociativeCodec<std::map<Key, T, Compare, Allocator>, Key, T> {};

template <class Key, class T, class Compare, class Allocator>
struct Codec<std::multimap<Key, T, Compare, Allocator>>
    : AssociativeCodec<std::multimap<Key, T, Compare, Allocator>, Key, T> {};

template <class Key, class Compare, class Allocator>
struct Codec<std::set<Key, Compare, Allocator>>
    : AssociativeCodec<std::set<Key, Compare, Allocator>, Key> {};

template <class Key, class Compare, class Allocator>
struct Codec<std::multiset<Key, Compare, Allocator>>
    : AssociativeCodec<std::multiset<Key, Compare, Allocator>, Key> {};

}  // namespace shoal::actors
