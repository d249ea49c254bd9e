// SPDX-License-Identifier: Apache-2.0
// The problem: an actor must know who it is, without its constructor being handed that. Offered:
// the base class of all actors, Actor<T, Index>: index, proxies of itself and of its collection,
// the world around it.
#pragma once

#include <shoal/actors/proxy.hpp>

namespace shoal::actors {

class World;

/// T derives from it. Index: Index1 for arrays, PeIndex for groups, NoIndex for actors created one
/// by one.
template <class T, class Index = NoIndex>
class Actor : public Element {
 public:
  using IndexType = Index;

  /// This actor, as others name it.
  ElementProxy<T> self() const noexcept {
    return {ElementAccess::branch(*this).info.id, ElementAccess::id(*this)};
  }
  /// Of an array: this element's index.
  Index1 index() const noexcept requires std::same_as<Index, Index1> {
    return index_of(ElementAccess::id(*this), Index1{});
  }
  /// Of an array: the whole.
  ArrayProxy<T> array() const noexcept requires std::same_as<Index, Index1> {
    const CollectionInfo& info = ElementAccess::branch(*this).info;
    return {info.id, info.extent};
  }
  /// Of a group: the whole.
  GroupProxy<T> group() const noexcept requires std::same_as<Index, PeIndex> {
    return GroupProxy<T>(ElementAccess::branch(*this).info.id);
  }
  /// The PE that this actor is on.
  std::uint32_t pe() const noexcept { return number(runtime::this_pe().id()); }
  /// The program around it: the same everywhere.
  World world() const noexcept;

 protected:
  Actor() = default;
};

}  // namespace shoal::actors
