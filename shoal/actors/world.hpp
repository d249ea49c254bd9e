// SPDX-License-Identifier: Apache-2.0
// The problem: a program must make its actors, wait for them and end. Offered: the World, given to
// the program and reachable from every actor; a handle without state of its own.
#pragma once

#include <shoal/actors/actor.hpp>

#include <span>
#include <string>
#include <string_view>

namespace shoal::actors {

namespace detail {
/// Makes all PEs construct their part. `values` are written once.
void create_collection(Pe& pe, const CollectionInfo& info, const EntryInfo& constructor,
                       SharedBytes* arguments);
void create_single(Pe& pe, std::uint64_t element, const EntryInfo& constructor,
                   SharedBytes* arguments);

/// What a constructor's argument travels as: itself, but a string literal as a std::string.
template <class A>
using Kept = std::conditional_t<std::is_same_v<std::decay_t<A>, const char*> ||
                                    std::is_same_v<std::decay_t<A>, char*>,
                                std::string, std::decay_t<A>>;

template <class... A>
SharedBytes* written(const A&... values) {
  Sizer sizer;
  sizer(values...);
  SharedBytes* bytes = SharedBytes::make(sizer.size());
  Writer writer(bytes->bytes().data(), sizer.size());
  writer(values...);
  return bytes;
}

template <class T, class... A>
inline constexpr bool kConstructible = std::is_constructible_v<T, const Kept<A>&...>;
}  // namespace detail

template <class T>
concept is_an_actor = std::is_base_of_v<Element, T>;

/// A T can be constructed from these arguments, wherever they have travelled to.
template <class T, class... A>
concept is_an_actor_constructible_from =
    is_an_actor<T> && is_not_in_an_unnamed_namespace<T> && detail::kConstructible<T, A...>;

template <class... A>
concept constructor_arguments_are_serializable =
    Serializable<typename detail::FirstUnfit<detail::Kept<A>...>::Type>;

class World {
 public:
  /// A dense array of `extent` elements, in blocks over all PEs, each made from a copy of the
  /// arguments.
  template <class T, class... A>
  requires is_an_actor_constructible_from<T, A...> && constructor_arguments_are_serializable<A...>
      ArrayProxy<T> create(Index1 extent, const A&... arguments)
  const {
    static_assert(std::is_same_v<typename T::IndexType, Index1>,
                  "an array's T is an Actor<T, Index1>");
    Pe& pe = runtime::this_pe();
    SHOAL_CHECK(extent[0] >= 0, "an array of {} elements", extent[0]);
    const CollectionInfo info{Local::of(pe).new_collection(), static_cast<std::uint64_t>(extent[0]),
                              CollectionKind::array};
    detail::create_collection(
        pe, info, Constructor<T, detail::Kept<A>...>::info,
        detail::written(info.extent, info.kind, static_cast<const detail::Kept<A>&>(arguments)...));
    return {info.id, info.extent};
  }

  /// One member on each PE.
  template <class T, class... A>
  requires is_an_actor_constructible_from<T, A...> && constructor_arguments_are_serializable<A...>
      GroupProxy<T> create_group(const A&... arguments)
  const {
    static_assert(std::is_same_v<typename T::IndexType, PeIndex>,
                  "a group's T is an Actor<T, PeIndex>");
    Pe& pe = runtime::this_pe();
    const CollectionInfo info{Local::of(pe).new_collection(), pes(), CollectionKind::group};
    detail::create_collection(
        pe, info, Constructor<T, detail::Kept<A>...>::info,
        detail::written(info.extent, info.kind, static_cast<const detail::Kept<A>&>(arguments)...));
    return GroupProxy<T>(info.id);
  }

  /// One actor on PE `on`.
  template <class T, class... A>
  requires is_an_actor_constructible_from<T, A...> && constructor_arguments_are_serializable<A...>
      ElementProxy<T> create_on(std::uint32_t on, const A&... arguments)
  const {
    static_assert(std::is_same_v<typename T::IndexType, NoIndex>,
                  "a single actor's T is an Actor<T>");
    SHOAL_CHECK(on < pes(), "an actor on PE {} of {}", on, pes());
    Pe& pe = runtime::this_pe();
    const std::uint64_t element = Local::of(pe).new_single(comm::PeId{on});
    detail::create_single(pe, element, Constructor<T, detail::Kept<A>...>::info,
                          detail::written(std::uint64_t{0}, CollectionKind::singles,
                                          static_cast<const detail::Kept<A>&>(arguments)...));
    return {kSingles, element};
  }

  std::uint32_t pes() const noexcept;
  std::uint32_t processes() const noexcept;
  /// The PE that runs this.
  std::uint32_t pe() const noexcept { return number(runtime::this_pe().id()); }
  /// The program's own arguments, its name first; the runtime's options are taken out.
  std::span<const std::string> args() const noexcept;
  /// Await it: nothing moves any more, in the whole program.
  runtime::QuiescenceWait quiescence() const noexcept { return {}; }
  /// Ends the program everywhere with `code`, 0 to 255; no entry starts after it. Returns.
  void exit(int code = 0) const;
};

template <class T, class Index>
World Actor<T, Index>::world() const noexcept {
  return {};
}

/// What a program starts as: on PE 0, once.
using Program = Task<> (*)(World& world);

}  // namespace shoal::actors
