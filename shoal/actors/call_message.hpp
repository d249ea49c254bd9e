// SPDX-License-Identifier: Apache-2.0
// The problem: the arguments of an entry must be kept, handed to the member function, answered if
// somebody waits, and read from bytes that came from elsewhere. Offered: the message type of each
// entry, and its registration, which is nothing but its use.
#pragma once

#include <shoal/actors/bulk.hpp>
#include <shoal/actors/local.hpp>
#include <shoal/actors/reply.hpp>
#include <shoal/actors/signature.hpp>

#include <memory>
#include <new>
#include <tuple>
#include <utility>

namespace shoal::actors {

/// The constant description of an actor class.
template <class T>
struct ClassOf {
  static void destroy(Element* element) noexcept {
    ElementAccess::tasks(*element).clear();  // they may use what T holds
    delete static_cast<T*>(element);         // NOLINT: its branch owns it
  }
  static inline const ActorClass kClass{&typeid(T), &ClassOf::destroy};
};

template <auto M>
struct CallMessage;

namespace detail {
// send.hpp
template <auto M, class... A>
void transmit(Pe& pe, comm::PeId target, const Destination& to, CallId call, A&&... values);
}  // namespace detail

template <auto M>
struct Entry {
  using Class = typename Signature<M>::Class;
  static ActorMessage* receive(Pe& pe, const runtime::Envelope& envelope, Reader& reader);
  static bool deliver(Pe& pe, Branch& branch, Reader& reader);
  static inline EntryInfo info{
      typeid(EntryName<decltype(M), M>), ClassOf<Class>::kClass, &Entry::receive, &Entry::deliver,
      kTakesIncoming<typename Signature<M>::Stored> ? EntryKind::method_that_receives
                                                    : EntryKind::method};
};

template <auto M>
struct CallMessage : ActorMessage {
  using S = Signature<M>;
  using Class = typename S::Class;
  using Result = typename S::Result;
  using Arguments = typename S::Stored;
  static_assert(alignof(Arguments) <= runtime::kPooledHeader,
                "a parameter of an entry can be aligned to 32 bytes at most");

  explicit CallMessage(comm::Origin origin) noexcept : ActorMessage(origin, kType) {}

  Arguments& arguments() noexcept { return *std::launder(reinterpret_cast<Arguments*>(bytes)); }

  template <class... A>
  static CallMessage* make(Pe& pe, A&&... values) {
    auto* message = pe.pool().make<CallMessage>(sizeof(CallMessage));
    pe.pool().fill(message, [&] {
      ::new (static_cast<void*>(message->bytes)) Arguments(std::forward<A>(values)...);
    });
    return message;
  }

  static void run(Pe& pe, Message* base) {
    auto* message = static_cast<CallMessage*>(base);
    Element* element = message->slot != nullptr
                           ? *message->slot
                           : find_element(pe, message->collection, message->element);
    if (element == nullptr) [[unlikely]] {
      entry_missed(pe, message);
      return;
    }
    auto& object = *static_cast<Class*>(element);
    if constexpr (S::kIsFiber) {
      runtime::start_fiber(pe, describe_actor_message(*message), &run_in_fiber, message);
    } else {
      invoke(pe, object, *message);
      drop(pe, message);
    }
  }

  static void drop(Pe& pe, Message* base) noexcept {
    auto* message = static_cast<CallMessage*>(base);
    std::destroy_at(&message->arguments());
    pe.pool().release_sized<sizeof(CallMessage)>(message);
  }

  /// It waited here until its collection was known, and its element is elsewhere.
  static void transmit(Pe& pe, comm::PeId target, ActorMessage* base) {
    auto* message = static_cast<CallMessage*>(base);
    const Destination to{message->collection, message->element, message->priority};
    std::apply(
        [&](auto&... kept) {
          detail::transmit<M>(pe, target, to, message->call(), std::move(kept)...);
        },
        message->arguments());
    drop(pe, message);
  }

  static constexpr ActorMessageType kType{
      {&CallMessage::run, &CallMessage::drop, &describe_actor_message},
      &Entry<M>::info,
      &CallMessage::transmit};

  bool is_call() const noexcept { return (flags & kIsCall) != 0; }
  CallId call() const noexcept { return {is_call() ? call_value_ : 0}; }
  void set_call(CallId call) noexcept {
    flags |= kIsCall;
    call_value_ = call.value;
  }

  alignas(Arguments) std::byte bytes[sizeof(Arguments)];  // NOLINT: raw storage

 private:
  std::uint64_t call_value_;  // unset, and its cache line untouched, unless is_call()

  static void run_in_fiber(Fiber& fiber, void* argument) {
    auto* message = static_cast<CallMessage*>(argument);
    Pe& pe = runtime::this_pe();
    Element* element = find_element(pe, message->collection, message->element);
    invoke(pe, *static_cast<Class*>(element), *message, fiber);
    drop(pe, message);
  }

  // `fiber` is empty but for fiber entries.
  template <class... F>
  static void invoke(Pe& pe, Class& object, CallMessage& message, F&... fiber) {
    try {
      std::apply(
          [&](auto&... kept) {
            if constexpr (S::kIsTask) {
              run_task(pe, (object.*M)(fiber..., std::move(kept)...), message.call());
            } else if constexpr (std::is_void_v<Result>) {
              (object.*M)(fiber..., std::move(kept)...);
              if (message.is_call()) reply<void>(pe, message.call(), {});
            } else {
              decltype(auto) result = (object.*M)(fiber..., std::move(kept)...);
              // forward: a value is moved, what a reference refers to stays the actor's
              if (message.is_call()) {
                reply<Result>(pe, message.call(), Result(std::forward<decltype(result)>(result)));
              }
            }
          },
          message.arguments());
    } catch (...) {
      entry_threw(pe, message, message.call(), std::current_exception());
    }
  }

  // Without a call, the task is discarded: its element owns it.
  template <class T>
  static void run_task(Pe& pe, T task, CallId call) {
    if (call) (void)answer_when_done(pe, std::move(task), call);
  }
  // A service's wait: the report names what the task itself waits for.
  template <class T>
  static Task<> answer_when_done(Pe& pe, T task, CallId call) {
    try {
      if constexpr (std::is_void_v<Result>) {
        co_await runtime::service(std::move(task));
        reply<void>(pe, call, {});
      } else {
        reply<Result>(pe, call, co_await runtime::service(std::move(task)));
      }
    } catch (...) {
      reply_with_error(pe, call, std::current_exception());
    }
  }
};

template <auto M>
ActorMessage* Entry<M>::receive(Pe& pe, const runtime::Envelope& envelope, Reader& reader) {
  auto* message = CallMessage<M>::make(pe);
  std::apply([&](auto&... values) { reader(values...); }, message->arguments());
  message->collection = envelope.collection;
  message->element = envelope.element;
  if (envelope.call != 0) message->set_call(CallId{envelope.call});
  if (reader.fully_read()) [[likely]]
    return message;
  CallMessage<M>::drop(pe, message);
  return nullptr;
}

template <auto M>
bool Entry<M>::deliver(Pe& pe, Branch& branch, Reader& reader) {
  typename Signature<M>::Stored arguments;
  std::apply([&](auto&... values) { reader(values...); }, arguments);
  if (!reader.fully_read()) return false;
  if constexpr (std::is_copy_constructible_v<typename Signature<M>::Stored>) {
    branch.for_each_element([&](Element& element) {
      auto* message = std::apply(
          [&](const auto&... values) { return CallMessage<M>::make(pe, values...); }, arguments);
      message->collection = branch.info.id;
      message->element = ElementAccess::id(element);
      pe.send_here(message);
    });
  }
  return true;
}

/// How a T is constructed from Arguments on the PE where it is to live.
template <class T, class... Arguments>
struct Constructor {
  using Stored = std::tuple<Arguments...>;

  static ActorMessage* receive(Pe&, const runtime::Envelope&, Reader&) { return nullptr; }
  /// Constructs this PE's elements of a dense branch, or the one that Local::birth names.
  static bool deliver(Pe& pe, Branch& branch, Reader& reader) {
    Stored arguments;
    std::apply([&](auto&... values) { reader(values...); }, arguments);
    if (!reader.fully_read()) return false;
    Local& local = Local::of(pe);
    if (branch.info.kind == CollectionKind::singles) {
      construct(local, branch, local.birth.id, arguments);
    } else {
      for (std::uint64_t i = 0; i < branch.count; ++i) {
        construct(local, branch, branch.first + i, arguments);
      }
    }
    return true;
  }
  static inline EntryInfo info{typeid(ConstructorName<T, Arguments...>), ClassOf<T>::kClass,
                               &Constructor::receive, &Constructor::deliver,
                               EntryKind::constructor};

 private:
  static void construct(Local& local, Branch& branch, std::uint64_t id, const Stored& arguments) {
    local.birth = {&branch, id};
    try {
      auto* element = std::apply(
          [](const Arguments&... values) { return new T(values...); },  // NOLINT: the branch's
          arguments);
      local.birth.element = nullptr;
      ElementAccess::set_class(*element, &ClassOf<T>::kClass);
      local.constructed(branch, element);
    } catch (...) {  // the others are constructed all the same, should the program go on
      local.birth.element = nullptr;
      local.pe.process().layer->unhandled(local.pe, {&info, branch.info.id, id},
                                          std::current_exception());
    }
  }
};

}  // namespace shoal::actors
