// SPDX-License-Identifier: Apache-2.0
#include <shoal/actors/local.hpp>
#include <shoal/actors/reply.hpp>

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace shoal::actors {

namespace {
std::string current_exception_type() {
  const std::type_info* type = abi::__cxa_current_exception_type();
  if (type == nullptr) return "unknown";
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(type->name(), nullptr, nullptr, &status), &std::free);
  return status == 0 ? text.get() : type->name();
}
}  // namespace

ErrorText describe_exception(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const RemoteError& remote) {
    return {remote.type(), remote.what()};
  } catch (const std::exception& known) {
    const char* text = known.what();
    return {current_exception_type(), text != nullptr ? text : "(its what() is null)"};
  } catch (...) {
    return {current_exception_type(), "(not a std::exception)"};
  }
}

CallId Calls::open(Pe& pe, FutureStateBase* state, Read read) {
  constexpr std::uint64_t kLast = ~std::uint64_t{0} >> CallId::kPeBits;
  CallId call;
  do {
    serial_ = serial_ == kLast ? 1 : serial_ + 1;
    call = CallId::make(serial_, pe.id());
  } while (open_.find(call.value) != nullptr);
  state->retain();
  open_.insert(call.value, {state, read});
  return call;
}

Calls::Open Calls::close(CallId call) noexcept {
  Open* found = open_.find(call.value);
  if (found == nullptr) return {};
  const Open open = *found;
  open_.erase(call.value);
  return open;
}

void Calls::drop_all() noexcept {
  comm::IdMap<Open> all;
  all.swap(open_);
  all.for_each([](std::uint64_t, Open& open) { open.state->release(); });
}

namespace detail {
Calls::Open close_call(Pe& pe, CallId call) noexcept { return Local::of(pe).calls.close(call); }

runtime::OpenedFrame reply_frame(Pe& pe, CallId call, std::uint8_t flags, std::size_t size) {
  runtime::Envelope envelope;
  envelope.kind = runtime::Kind::reply;
  envelope.flags = flags;
  envelope.call = call.value;
  envelope.source = number(pe.id());
  return runtime::open_frame(pe.pool(), envelope, size);
}
}  // namespace detail

void resolve_with_error(Pe& pe, CallId call, const ErrorText& error) {
  const Calls::Open open = Local::of(pe).calls.close(call);
  if (open.state == nullptr) return;
  open.state->fail(std::make_exception_ptr(RemoteError(error.type, error.text)));
  open.state->release();
}

namespace {
struct ErrorMessage : Message {
  ErrorMessage(comm::Origin origin, CallId to, ErrorText* what) noexcept
      : Message(origin, kType), call(to), error(what) {}
  static void run(Pe& pe, Message* message) {
    auto* own = static_cast<ErrorMessage*>(message);
    resolve_with_error(pe, own->call, *own->error);
    drop(pe, message);
  }
  static void drop(Pe& pe, Message* message) noexcept {
    delete static_cast<ErrorMessage*>(message)->error;  // NOLINT: owned by the message
    pe.pool().release(message);
  }
  static constexpr MessageType kType{&ErrorMessage::run, &ErrorMessage::drop, nullptr};
  CallId call;
  ErrorText* error;
};
}  // namespace

void reply_with_error(Pe& pe, CallId call, const std::exception_ptr& error) {
  ErrorText text = describe_exception(error);
  const comm::PeId caller = call.caller();
  if (pe.process().holds(caller)) {
    auto* kept = new ErrorText(std::move(text));  // NOLINT: the message deletes it
    auto* message = pe.pool().make<ErrorMessage>(sizeof(ErrorMessage), call, kept);
    return pe.send_within(caller, message);
  }
  Sizer sizer;
  sizer(text);
  const auto [frame, rest] = detail::reply_frame(pe, call, runtime::kIsException, sizer.size());
  Writer writer(rest, sizer.size());
  writer(text);
  pe.transmit(caller, frame);
}

bool reply_arrived(Pe& pe, const runtime::Envelope& envelope, Reader& reader) {
  const CallId call{envelope.call};
  if ((envelope.flags & runtime::kIsException) != 0) {
    const auto error = reader.read<ErrorText>();
    if (!reader.fully_read()) return false;
    resolve_with_error(pe, call, error);
    return true;
  }
  const Calls::Open open = Local::of(pe).calls.close(call);
  if (open.state == nullptr) return true;
  bool good = true;
  try {
    good = open.read(*open.state, reader);
  } catch (...) {  // a `serialize` of the program's: whoever waits for the result hears of it
    open.state->fail(std::current_exception());
  }
  open.state->release();
  return good;
}

}  // namespace shoal::actors
