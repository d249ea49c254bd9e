// SPDX-License-Identifier: Apache-2.0
// The problem: actors are anywhere, and programs name them without knowing where. Offered: proxies,
// small values that can be stored, compared and sent: of one element, of a dense array, of a group,
// of a single actor.
#pragma once

#include <shoal/actors/index.hpp>
#include <shoal/actors/send.hpp>
#include <shoal/actors/spread.hpp>

#include <type_traits>

namespace shoal::actors {

namespace detail {
template <class A>
inline constexpr bool kIsLentArgument = kIsLent<std::remove_cvref_t<A>>;

/// A lent span becomes a View that tells `lender` when it dies; all else stays what it is.
template <class A>
decltype(auto) lend_out(A&& argument, Lender* lender) {
  if constexpr (kIsLentArgument<A>) {
    return borrowed_view(argument, lender);
  } else {
    return std::forward<A>(argument);
  }
}
}  // namespace detail

/// One element, wherever it is.
template <class T>
class ElementProxy {
 public:
  ElementProxy() = default;
  ElementProxy(std::uint64_t collection, std::uint64_t element, std::int32_t priority = 0) noexcept
      : collection_(collection), element_(element), priority_(priority) {}

  /// Queues M for the element and returns at once. With an argument made by `lend`, returns a
  /// Future<void> that resolves when the lent memory is no longer read.
  template <auto M, class... A>
  requires Sendable<M, T, A...>
  auto send(A&&... arguments) const {
    if constexpr ((detail::kIsLentArgument<A> || ...)) {
      return send_lent<M>(std::forward<A>(arguments)...);
    } else {
      send_entry<M>(collection_, element_, priority_, CallId{}, std::forward<A>(arguments)...);
    }
  }

  /// The same, and its result, or its exception as a RemoteError, comes back in the future.
  template <auto M, class... A>
  requires Callable<M, T, A...>
  auto call(A&&... arguments) const {
    using R = typename Signature<M>::Result;
    Pe& pe = runtime::this_pe();
    auto* state = new FutureState<R>;  // NOLINT: counts its references
    Future<R> future(state);
    state->waits_for = "a reply";
    state->on = {&Entry<M>::info, collection_, element_};
    const CallId call = Local::of(pe).calls.open(pe, state, &detail::read_result<R>);
    try {
      send_entry<M>(collection_, element_, priority_, call, std::forward<A>(arguments)...);
    } catch (...) {  // an argument threw: nobody will answer
      Local::of(pe).calls.close(call).state->release();
      throw;
    }
    return future;
  }

  /// The same element, its messages with a priority: smaller runs sooner, 0 is the default.
  ElementProxy with_priority(std::int32_t priority) const noexcept {
    return {collection_, element_, priority};
  }
  std::uint64_t id() const noexcept { return element_; }

  friend bool operator==(const ElementProxy&, const ElementProxy&) = default;
  void serialize(auto& ar) { ar(collection_, element_, priority_); }

 private:
  template <auto M, class... A>
  Future<void> send_lent(A&&... arguments) const {
    static_assert((detail::kIsLentArgument<A> + ...) == 1, "a send can lend one array");
    auto* lender = new Lender(runtime::this_pe());  // NOLINT: the View that borrows owns it
    Future<void> released = lender->promise.future();
    send_entry<M>(collection_, element_, priority_, CallId{},
                  detail::lend_out(std::forward<A>(arguments), lender)...);
    return released;
  }

  std::uint64_t collection_ = 0;
  std::uint64_t element_ = 0;
  std::int32_t priority_ = 0;
};

namespace detail {
/// Sends M to all elements of a collection; the arguments are written once.
template <auto M, class... A>
void broadcast_entry(std::uint64_t collection, const A&... arguments) {
  using Stored = typename Signature<M>::Stored;
  Pe& pe = runtime::this_pe();
  const Stored values(arguments...);
  Sizer sizer;
  measure(sizer, values);
  SharedBytes* bytes = SharedBytes::make(sizer.size());
  Writer writer(bytes->bytes().data(), sizer.size());
  std::apply([&](const auto&... value) { writer(value...); }, values);
  runtime::Envelope envelope;
  envelope.kind = runtime::Kind::broadcast;
  envelope.collection = collection;
  envelope.entry = Entry<M>::info.id;
  spread(pe, envelope, bytes);
}
}  // namespace detail

/// M can be sent to all elements of a collection: each gets a copy of the arguments.
template <auto M, class T, class... A>
concept can_be_broadcast =
    Sendable<M, T, A...> && std::is_copy_constructible_v<typename Signature<M>::Stored>;

/// A dense array.
template <class T>
class ArrayProxy {
 public:
  ArrayProxy() = default;
  ArrayProxy(std::uint64_t collection, std::uint64_t extent) noexcept
      : collection_(collection), extent_(extent) {}

  ElementProxy<T> operator[](Index1 index) const noexcept {
    return {collection_, element_id(index)};
  }
  std::int64_t size() const noexcept { return static_cast<std::int64_t>(extent_); }

  template <auto M, class... A>
  requires can_be_broadcast<M, T, A...>
  void broadcast(const A&... arguments) const {
    detail::broadcast_entry<M>(collection_, arguments...);
  }

  friend bool operator==(const ArrayProxy&, const ArrayProxy&) = default;
  void serialize(auto& ar) { ar(collection_, extent_); }

 private:
  std::uint64_t collection_ = 0;
  std::uint64_t extent_ = 0;
};

/// One member on every PE.
template <class T>
class GroupProxy {
 public:
  GroupProxy() = default;
  explicit GroupProxy(std::uint64_t collection) noexcept : collection_(collection) {}

  /// The member on PE `pe`.
  ElementProxy<T> operator[](std::uint32_t pe) const noexcept { return {collection_, pe}; }
  /// The member on this PE; nullptr until it has been constructed.
  T* local() const noexcept {
    Pe& pe = runtime::this_pe();
    return static_cast<T*>(find_element(pe, collection_, number(pe.id())));
  }

  template <auto M, class... A>
  requires can_be_broadcast<M, T, A...>
  void broadcast(const A&... arguments) const {
    detail::broadcast_entry<M>(collection_, arguments...);
  }

  friend bool operator==(const GroupProxy&, const GroupProxy&) = default;
  void serialize(auto& ar) { ar(collection_); }

 private:
  std::uint64_t collection_ = 0;
};

}  // namespace shoal::actors
