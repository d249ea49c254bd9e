// SPDX-License-Identifier: Apache-2.0
#include <shoal/actors/actor_layer.hpp>
#include <shoal/runtime/exit_codes.hpp>
#include <shoal/runtime/transfer.hpp>

#include <cstring>
#include <memory>

namespace shoal::actors {

using runtime::Envelope;
using runtime::Kind;

namespace {
void reject(Pe& pe, const Envelope& envelope, const std::string& why) {
  pe.fail(comm::kCheckFailed, fmt::format("PE {} refuses a message from PE {}: {}", number(pe.id()),
                                          envelope.source, why));
}

void reject_class(Pe& pe, const Envelope& envelope, const EntryInfo& entry) {
  reject(pe, envelope, fmt::format("{} is not of the class of its target", readable_name(entry)));
}

// What creates its target may be queued already: it waits beside the queue, to be checked then.
void wait_for_target(Pe& pe, ActorMessage* message) {
  const comm::PeId target = route(pe, message->collection, message->element);
  if (target != comm::kNoPe && target != pe.id()) return pe.enqueue(message);
  ++pe.counters.processed;  // and created again when it is queued
  Local::of(pe).park(message, message->collection, message->element);
}

// An entry's arguments that wait for their bulk to be received.
struct WaitingForBulk : runtime::Transfer, runtime::Pooled {
  WaitingForBulk(const Envelope& what, std::span<const std::byte> rest, std::size_t size)
      : Transfer(&WaitingForBulk::done), envelope(what) {
    comm::Pool& pool = runtime::this_pe().pool();
    head = comm::take_frame(pool, rest.size());
    if (!rest.empty()) std::memcpy(head->data(), rest.data(), rest.size());
    bulk = comm::take_frame(pool, size);
  }
  static void done(comm::Completion& self, bool succeeded) noexcept;
  Envelope envelope;
  comm::Frame* head;
  comm::Frame* bulk;
};

// Reads the arguments and queues the message. `local.arriving` says where the bulk is.
void read_entry(Pe& pe, const EntryInfo& entry, const Envelope& envelope,
                std::span<const std::byte> arguments, Bulk bulk) {
  Reader reader(arguments, bulk);
  ActorMessage* message = nullptr;
  try {
    message = entry.receive(pe, envelope, reader);
  } catch (...) {
    const ErrorText error = describe_exception(std::current_exception());
    return reject(pe, envelope,
                  fmt::format("reading the arguments of {} threw {}: {}", readable_name(entry),
                              error.type, error.text));
  }
  if (message == nullptr) {
    return reject(pe, envelope,
                  fmt::format("the arguments of {} do not parse: {}", readable_name(entry),
                              reader.describe()));
  }
  message->priority = envelope.priority;
  if (bulk.size != 0 && bulk.data == nullptr) message->flags |= kIsAnnounced;
  switch (fit_of(pe, envelope.collection, envelope.element, entry)) {
    case Fit::yes:
      return pe.enqueue(message);
    case Fit::no:
      message->type->drop(pe, message);
      return reject_class(pe, envelope, entry);
    case Fit::unknown:
      return wait_for_target(pe, message);
  }
}

void WaitingForBulk::done(comm::Completion& self, bool succeeded) noexcept {
  const std::unique_ptr<WaitingForBulk> own(static_cast<WaitingForBulk*>(&self));
  Pe& pe = runtime::this_pe();
  const EntryInfo* entry = EntryTable::instance().find(own->envelope.entry);
  if (succeeded && !pe.stopped()) {
    Local& local = Local::of(pe);
    local.arriving = {own->bulk, {}, false};
    pe.at_once([&] {
      read_entry(pe, *entry, own->envelope, own->head->bytes(),
                 {own->bulk->data(), own->bulk->size});
      if (local.arriving.frame != nullptr) pe.pool().release(local.arriving.frame);
      local.arriving = {};
    });
  } else {
    pe.pool().release(own->bulk);
  }
  pe.pool().release(own->head);
}

}  // namespace

ActorLayer::ActorLayer(std::vector<std::string> arguments, ExceptionHandler handler,
                       std::function<Task<>(World&)> program)
    : entries_(EntryTable::instance()),
      arguments_(std::move(arguments)),
      handler_(std::move(handler)),
      program_(std::move(program)) {}

void* ActorLayer::open(Pe& pe) { return new Local(pe); }  // NOLINT: closed below

void ActorLayer::close(Pe&, void* state) noexcept {
  delete static_cast<Local*>(state);  // NOLINT: made above
}

void ActorLayer::arrived(Pe& pe, const Envelope& envelope, const comm::Arrival& arrival) {
  if (pe.layer_state == nullptr) {  // closing: what still comes is dropped
    if (arrival.bulk_size != 0) pe.port()->release(arrival.bulk);
    return;
  }
  const auto rest = arrival.frame;
  if (envelope.kind == Kind::create || envelope.kind == Kind::broadcast) {
    return spread_arrived(pe, envelope, rest);
  }
  if (envelope.kind == Kind::reply) {
    ++pe.counters.processed;
    if (CallId{envelope.call}.caller() != pe.id()) {
      return reject(pe, envelope, "a reply to a call of another PE");
    }
    Reader reader(rest);
    if (!reply_arrived(pe, envelope, reader)) reject(pe, envelope, "a reply does not parse");
    return;
  }
  const EntryInfo* entry = entries_.find(envelope.entry);
  if (entry == nullptr) return reject(pe, envelope, "there is no such entry");
  const CallId call{envelope.call};
  if (number(call.caller()) >= pe.process().shape.pes()) {
    return reject(pe, envelope, "its caller is no PE of this job");
  }
  // A reply within a process is not parsed: it trusts the call to be of its type.
  if (call && pe.process().holds(call.caller())) {
    return reject(pe, envelope, "its caller is a PE of the process that it came to");
  }
  if (arrival.bulk_size == 0) return read_entry(pe, *entry, envelope, rest, {});
  if (entry->kind == EntryKind::method_that_receives) {
    Local& local = Local::of(pe);
    local.arriving = {nullptr, arrival.bulk, true};
    read_entry(pe, *entry, envelope, rest, {nullptr, arrival.bulk_size});
    if (local.arriving.announced) pe.port()->release(arrival.bulk);
    local.arriving = {};
    return;
  }
  if (fit_of(pe, envelope.collection, envelope.element, *entry) == Fit::no) {
    return reject_class(pe, envelope, *entry);  // before there is room for its bulk
  }
  auto* waiting = new WaitingForBulk(envelope, rest, arrival.bulk_size);  // NOLINT: ends itself
  pe.port()->receive(arrival.bulk, waiting->bulk->bytes(), *waiting);
}

void ActorLayer::start(Pe& pe) { (void)run_program(pe); }

Task<> ActorLayer::run_program(Pe& pe) {
  // A service's wait: the report names what the program itself waits for.
  co_await runtime::service(program_(world_));
  pe.quiescence().program_ended();
}

std::string ActorLayer::describe(Pe& pe, const Activity& activity) {
  if (activity.entry == nullptr) return "the program";
  std::string text = readable_name(*static_cast<const EntryInfo*>(activity.entry));
  if (pe.layer_state == nullptr) return text;
  const Branch* branch = Local::of(pe).branch(activity.collection);
  if (activity.element == kToAll) return text + " of all elements";
  if (branch == nullptr || branch->info.kind == CollectionKind::array) {
    return fmt::format("{} of element {}", text, static_cast<std::int64_t>(activity.element));
  }
  if (branch->info.kind == CollectionKind::group) {
    return fmt::format("{} of member {}", text, activity.element);
  }
  return fmt::format("{} of actor {} of PE {}", text, activity.element & (kHasSlot - 1),
                     activity.element >> kHomeShift);
}

void ActorLayer::report_parked(Pe& pe) {
  if (pe.layer_state != nullptr) Local::of(pe).report_parked();
}

void ActorLayer::unhandled(Pe& pe, const Activity& activity, std::exception_ptr error) noexcept {
  const ErrorText text = describe_exception(error);
  const UnhandledException what{describe(pe, activity), number(pe.id()), text.type, text.text};
  if (handler_ && handler_(what)) return;
  pe.fail(runtime::kExitException,
          fmt::format("{} on PE {} threw {}: {}", what.entry, what.pe, what.type, what.text));
}

TaskList& ActorLayer::owner_of(Pe& pe, const Activity& activity) {
  Local& local = Local::of(pe);
  if (activity.entry == nullptr) return local.tasks;
  if (local.birth.element != nullptr) return ElementAccess::tasks(*local.birth.element);
  Element* element = find_element(pe, activity.collection, activity.element);
  return element != nullptr ? ElementAccess::tasks(*element) : local.tasks;
}

namespace {
bool is_unwinding(const std::exception_ptr& error) noexcept {
  try {
    std::rethrow_exception(error);
  } catch (const runtime::FiberUnwound&) {
    return true;
  } catch (...) {
    return false;
  }
}
}  // namespace

void entry_threw(Pe& pe, const ActorMessage& message, CallId call,
                 std::exception_ptr error) noexcept {
  if (is_unwinding(error)) return;  // the program has ended
  if (call) {
    reply_with_error(pe, call, error);
  } else {
    pe.process().layer->unhandled(pe, describe_actor_message(message), std::move(error));
  }
}

void entry_missed(Pe& pe, ActorMessage* message) {
  const comm::PeId target = route(pe, message->collection, message->element);
  if (target == comm::kNoPe || target == pe.id()) {
    Local::of(pe).park(message, message->collection, message->element);
  } else if ((message->flags & kIsAnnounced) != 0) {  // who sent it knew better where to
    pe.fail(comm::kCheckFailed,
            fmt::format("PE {} got a message for {}, which lives on PE {}", number(pe.id()),
                        pe.process().layer->describe(pe, describe_actor_message(*message)),
                        number(target)));
    message->type->drop(pe, message);
  } else if (pe.process().holds(target)) {
    message->slot = nullptr;
    pe.send_to(pe.process().at(target), message);
  } else {
    static_cast<const ActorMessageType*>(message->type)->transmit(pe, target, message);
  }
}

}  // namespace shoal::actors
