// SPDX-License-Identifier: Apache-2.0
// The problem: a send must cost a few dozen instructions when the target is on this PE, and still
// reach it anywhere. Offered: the one function that all proxies send through. Same PE: the
// arguments are moved into a pooled message that joins the queue. Same process: the same object,
// through the target's inbox. Elsewhere: written once into a frame; a large array in them is sent
// from where it lies.
#pragma once

#include <shoal/actors/call_message.hpp>
#include <shoal/runtime/envelope.hpp>
#include <shoal/runtime/transfer.hpp>

namespace shoal::actors {

namespace detail {
// --- from an argument to what the parameter is kept as
// ---------------------------------------------- A lent span has become a View by the time it gets
// here (lend_out); it fits each way to take an array.
template <class S, class A>
decltype(auto) fit(A&& argument) {
  if constexpr (std::is_convertible_v<A&&, S>) {
    return std::forward<A>(argument);
  } else {
    return S(argument.begin(), argument.end());  // a View for a std::vector parameter
  }
}

// What travels for a parameter kept as S: S, but a View for a vector stays one, since their bytes
// are the same.
template <class S, class A>
struct Travels {
  using Type = S;
};
template <class T, class U>
struct Travels<std::vector<T>, View<U>> {
  using Type = View<U>;
};

template <class Stored, class... A>
struct TravelTuple;
template <class... S, class... A>
struct TravelTuple<std::tuple<S...>, A...> {
  using Type = std::tuple<typename Travels<S, std::remove_cvref_t<A>>::Type...>;
};

// Arguments that a transport still reads; ends itself when it is done.
template <class Kept>
struct KeptArguments : runtime::Transfer, runtime::Pooled {
  template <class... A>
  explicit KeptArguments(A&&... values)
      : Transfer(&KeptArguments::done), arguments(std::forward<A>(values)...) {}
  static void done(comm::Completion& self, bool) noexcept {
    runtime::this_pe().release_hold(false);
    delete static_cast<KeptArguments*>(&self);  // NOLINT: it owns itself
  }
  Kept arguments;
};

/// Ends the job: the thread that sends is no PE.
[[noreturn, gnu::cold]] void refuse_foreign_thread();

template <class Tuple>
void measure(Sizer& sizer, const Tuple& values) {
  std::apply([&](const auto&... value) { sizer(value...); }, values);
}

/// A frame with `values`, which `sizer` has measured.
template <auto M, class Tuple>
comm::Frame* written_frame(Pe& pe, const Destination& to, CallId call, const Sizer& sizer,
                           const Tuple& values) {
  const runtime::Envelope envelope{to.element,      to.collection, call.value,
                                   number(pe.id()), to.priority,   Entry<M>::info.id};
  const auto [frame, rest] = runtime::open_frame(pe.pool(), envelope, sizer.size());
  Writer writer(rest, sizer.size(), sizer.bulk());
  pe.pool().fill(frame,
                 [&] { std::apply([&](const auto&... value) { writer(value...); }, values); });
  return frame;
}

/// To a PE of another process.
template <auto M, class... A>
[[gnu::noinline]] void transmit(Pe& pe, comm::PeId target, const Destination& to, CallId call,
                                A&&... values) {
  using Stored = typename Signature<M>::Stored;
  using Kept = typename TravelTuple<Stored, A...>::Type;
  constexpr BulkRule kRule =
      kTakesIncoming<Stored> ? BulkRule::reserved_runs : BulkRule::large_runs;
  if constexpr (has_fixed_size<std::remove_cvref_t<A>...> &&
                std::is_same_v<Kept, std::tuple<std::remove_cvref_t<A>...>>) {
    const std::tuple<const A&...> direct(values...);
    Sizer sizer;
    measure(sizer, direct);
    pe.transmit(target, written_frame<M>(pe, to, call, sizer, direct));
  } else {
    Kept kept(std::forward<A>(values)...);
    Sizer sizer(kRule);
    measure(sizer, kept);
    if (sizer.bulk().size == 0) {
      pe.transmit(target, written_frame<M>(pe, to, call, sizer, kept));
      return;
    }
    auto* longer = new KeptArguments<Kept>(std::move(kept));  // NOLINT: ends itself
    pe.hold(false);      // until the transport has read it: somebody may wait for that
    Sizer again(kRule);  // the bulk may have moved with its owner
    measure(again, longer->arguments);
    pe.transmit(target, written_frame<M>(pe, to, call, again, longer->arguments),
                {{again.bulk().data, again.bulk().size}, longer});
  }
}

template <auto M, std::size_t... I, class... A>
inline CallMessage<M>* make_message(Pe& pe, std::uint64_t collection, std::uint64_t element,
                                    std::int32_t priority, CallId call, std::index_sequence<I...>,
                                    A&&... values) {
  using Stored = typename Signature<M>::Stored;
  auto* message =
      CallMessage<M>::make(pe, fit<std::tuple_element_t<I, Stored>>(std::forward<A>(values))...);
  message->collection = collection;
  message->element = element;
  if (call) message->set_call(call);
  message->priority = priority;
  return message;
}

/// Not on this PE, or not yet known where.
template <auto M, class... A>
[[gnu::noinline]] void send_away(Pe& pe, std::uint64_t collection, std::uint64_t element,
                                 std::int32_t priority, CallId call, A&&... values) {
  comm::PeId target = route(pe, collection, element);
  if (target == comm::kNoPe) target = pe.id();  // it waits here until the collection is known
  if (pe.process().holds(target)) {
    pe.send_within(target,
                   make_message<M>(pe, collection, element, priority, call,
                                   std::index_sequence_for<A...>{}, std::forward<A>(values)...));
  } else {
    transmit<M>(pe, target, {collection, element, priority}, call, std::forward<A>(values)...);
  }
}
}  // namespace detail

/// Sends to the entry M of an element. Numbers rather than a Destination: they stay in registers.
template <auto M, class... A>
inline void send_entry(std::uint64_t collection, std::uint64_t element, std::int32_t priority,
                       CallId call, A&&... values) {
  Pe* pe = runtime::current_pe;
  if (pe == nullptr) [[unlikely]]
    detail::refuse_foreign_thread();
  Branch* branch = Local::of(*pe).branch(collection);
  const Branch::Here here = branch != nullptr ? branch->here(element) : Branch::Here{};
  if (here.known) [[likely]] {
    auto* message =
        detail::make_message<M>(*pe, collection, element, priority, call,
                                std::index_sequence_for<A...>{}, std::forward<A>(values)...);
    message->slot = here.slot;
    pe->send_here(message);
  } else {
    detail::send_away<M>(*pe, collection, element, priority, call, std::forward<A>(values)...);
  }
}

}  // namespace shoal::actors
