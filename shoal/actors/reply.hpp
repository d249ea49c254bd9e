// SPDX-License-Identifier: Apache-2.0
// The problem: a call's result, or its exception, must find the one future that waits for it, from
// any PE. Offered: a PE's table of open calls, and the messages and frames that resolve them.
#pragma once

#include <shoal/actors/message.hpp>
#include <shoal/actors/serialize/core.hpp>
#include <shoal/comm/frame.hpp>
#include <shoal/comm/id_map.hpp>
#include <shoal/runtime/future.hpp>

#include <new>
#include <stdexcept>
#include <string>
#include <utility>

namespace shoal::actors {

using runtime::Future;
using runtime::FutureState;
using runtime::FutureStateBase;

/// What a call's future throws when the entry threw: the type and the text of what it threw there.
class RemoteError : public std::runtime_error {
 public:
  RemoteError(std::string type, const std::string& text)
      : std::runtime_error(text), type_(std::move(type)) {}
  /// "std::out_of_range"
  const std::string& type() const noexcept { return type_; }

 private:
  std::string type_;
};

/// An exception on its way to the caller.
struct ErrorText {
  std::string type;
  std::string text;
  void serialize(auto& ar) { ar(type, text); }
};
ErrorText describe_exception(const std::exception_ptr& error);

/// The result of a call that returns nothing.
struct Nothing {
  using plain_bytes = Nothing;
};

/// A result as it travels: void as Nothing.
template <class R>
using Travelling = std::conditional_t<std::is_void_v<R>, Nothing, R>;

/// The open calls of one PE; belongs to it.
class Calls {
 public:
  /// Sets `state` from `reader`. False: the bytes do not parse.
  using Read = bool (*)(FutureStateBase& state, Reader& reader);
  struct Open {
    FutureStateBase* state = nullptr;
    Read read = nullptr;
  };

  CallId open(Pe& pe, FutureStateBase* state, Read read);
  /// Takes the call out of the table; a state of nullptr: it is not open (a second reply, or a
  /// forged one).
  Open close(CallId call) noexcept;
  void drop_all() noexcept;

 private:
  comm::IdMap<Open> open_;
  std::uint64_t serial_ = 0;
};

/// Sets the future of `call`, which this PE made. A call that is not open is ignored.
template <class R>
void resolve(Pe& pe, CallId call, Travelling<R>&& value);
void resolve_with_error(Pe& pe, CallId call, const ErrorText& error);

/// Sends a result, or what was thrown instead, to wherever `call` was made.
template <class R>
void reply(Pe& pe, CallId call, Travelling<R>&& value);
void reply_with_error(Pe& pe, CallId call, const std::exception_ptr& error);

/// A frame of kind reply arrived. False: it does not parse.
bool reply_arrived(Pe& pe, const runtime::Envelope& envelope, Reader& reader);

namespace detail {
Calls::Open close_call(Pe& pe, CallId call) noexcept;
runtime::OpenedFrame reply_frame(Pe& pe, CallId call, std::uint8_t flags, std::size_t size);

template <class R>
bool read_result(FutureStateBase& state, Reader& reader);

template <class R>
struct ReplyMessage : Message {
  static_assert(alignof(Travelling<R>) <= runtime::kPooledHeader,
                "the result of a call can be aligned to 32 bytes at most");
  ReplyMessage(comm::Origin origin, CallId to) noexcept : Message(origin, kType), call(to) {}

  Travelling<R>& value() noexcept { return *std::launder(reinterpret_cast<Travelling<R>*>(bytes)); }
  static void run(Pe& pe, Message* message) {
    auto* own = static_cast<ReplyMessage*>(message);
    resolve<R>(pe, own->call, std::move(own->value()));
    drop(pe, message);
  }
  static void drop(Pe& pe, Message* message) noexcept {
    std::destroy_at(&static_cast<ReplyMessage*>(message)->value());
    pe.pool().release(message);
  }
  static constexpr MessageType kType{&ReplyMessage::run, &ReplyMessage::drop, nullptr};

  CallId call;
  alignas(Travelling<R>) std::byte bytes[sizeof(Travelling<R>)];  // NOLINT: raw storage
};
}  // namespace detail

template <class R>
bool detail::read_result(FutureStateBase& state, Reader& reader) {
  auto value = reader.read<Travelling<R>>();
  if (!reader.fully_read()) return false;
  if constexpr (std::is_void_v<R>) {
    static_cast<FutureState<void>&>(state).set();
  } else {
    static_cast<FutureState<R>&>(state).set(std::move(value));
  }
  return true;
}

template <class R>
void resolve(Pe& pe, CallId call, Travelling<R>&& value) {
  const Calls::Open open = detail::close_call(pe, call);
  if (open.state == nullptr) return;
  const runtime::StateReference<FutureStateBase> kept(open.state);
  open.state->release();  // the table's reference
  if constexpr (std::is_void_v<R>) {
    static_cast<FutureState<void>*>(open.state)->set();
  } else {
    static_cast<FutureState<R>*>(open.state)->set(std::move(value));
  }
}

template <class R>
void reply(Pe& pe, CallId call, Travelling<R>&& value) {
  using Value = Travelling<R>;
  const comm::PeId caller = call.caller();
  if (pe.process().holds(caller)) {
    auto* message = pe.pool().make<detail::ReplyMessage<R>>(sizeof(detail::ReplyMessage<R>), call);
    pe.pool().fill(message,
                   [&] { ::new (static_cast<void*>(message->bytes)) Value(std::move(value)); });
    return pe.send_within(caller, message);
  }
  Sizer sizer;
  sizer(value);
  const auto [frame, rest] = detail::reply_frame(pe, call, 0, sizer.size());
  Writer writer(rest, sizer.size());
  pe.pool().fill(frame, [&] { writer(value); });
  pe.transmit(caller, frame);
}

}  // namespace shoal::actors
