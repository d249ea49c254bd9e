// SPDX-License-Identifier: Apache-2.0
#include <shoal/actors/local.hpp>
#include <shoal/actors/spread.hpp>
#include <shoal/runtime/exit_codes.hpp>

#include <cstdlib>
#include <cstring>
#include <new>

namespace shoal::actors {

using runtime::Envelope;
using runtime::Kind;

SharedBytes* SharedBytes::make(std::size_t size) {
  void* memory = std::malloc(sizeof(SharedBytes) + size);
  SHOAL_CHECK(memory != nullptr, "no memory for a broadcast of {} bytes", size);
  return ::new (memory) SharedBytes(size);
}

void SharedBytes::release() noexcept {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) std::free(this);
}

namespace {
struct SpreadMessage : Message {
  SpreadMessage(comm::Origin origin, const Envelope& what, SharedBytes* with) noexcept
      : Message(origin, kType), envelope(what), arguments(with) {}
  static void run(Pe& pe, Message* message);
  static void drop(Pe& pe, Message* message) noexcept {
    static_cast<SpreadMessage*>(message)->arguments->release();
    pe.pool().release(message);
  }
  static Activity describe(const Message& message) noexcept {
    const auto& own = static_cast<const SpreadMessage&>(message);
    const EntryInfo* entry = EntryTable::instance().find(own.envelope.entry);
    return {entry, own.envelope.collection, own.envelope.element};
  }
  static constexpr MessageType kType{&SpreadMessage::run, &SpreadMessage::drop,
                                     &SpreadMessage::describe};
  Envelope envelope;
  SharedBytes* arguments;
  bool forwarded = false;  // it may wait here and run again, but goes down once
};

SpreadMessage* make_message(Pe& pe, const Envelope& envelope, SharedBytes* arguments) {
  return pe.pool().make<SpreadMessage>(sizeof(SpreadMessage), envelope, arguments);
}

void reject(Pe& pe, const Envelope& envelope) {
  pe.fail(comm::kCheckFailed,
          fmt::format("a broadcast or creation by entry {} from PE {} does not parse, "
                      "or does not fit what is here",
                      envelope.entry, envelope.source));
}

void forward_to_children(Pe& pe, const SpreadMessage& message) {
  runtime::for_each_tree_child(pe.process().shape, pe.id(), [&](comm::PeId child) {
    message.arguments->retain();
    spread_to(pe, child, message.envelope, message.arguments);
  });
}

// What `message` creates can be created here: a single that lives here and does not exist yet, or a
// collection whose elements do not.
bool may_create(Pe& pe, const Envelope& envelope, const CollectionInfo& info,
                const EntryInfo& entry, const Branch* branch) {
  if (entry.kind != EntryKind::constructor) return false;
  if (envelope.collection == kSingles) {
    return info.kind == CollectionKind::singles &&
           envelope.element >> kHomeShift == number(pe.id()) &&
           find_element(pe, kSingles, envelope.element) == nullptr;
  }
  if (info.kind != CollectionKind::array && info.kind != CollectionKind::group) return false;
  if (envelope.element != kToAll) return false;
  if (envelope.collection >> kCreatorShift >= pe.process().shape.pes()) return false;
  return branch == nullptr || (!branch->populated && branch->info.kind == info.kind &&
                               branch->info.extent == info.extent &&
                               *branch->actor_class->type == *entry.actor_class->type);
}

bool may_broadcast(const Envelope& envelope, const EntryInfo& entry, const Branch& branch) {
  return entry.kind != EntryKind::constructor && envelope.element == kToAll &&
         branch.actor_class != nullptr && *branch.actor_class->type == *entry.actor_class->type;
}

// True: the message was used up. False: its collection is not known here yet.
bool act(Pe& pe, SpreadMessage& message) {
  Local& local = Local::of(pe);
  const Envelope& envelope = message.envelope;
  const EntryInfo* entry = EntryTable::instance().find(envelope.entry);
  if (entry == nullptr) return reject(pe, envelope), true;
  Reader reader(message.arguments->bytes());
  Branch* branch = local.branch(envelope.collection);
  if (envelope.kind == Kind::create) {
    CollectionInfo info;
    reader(info.extent, info.kind);
    info.id = envelope.collection;
    if (reader.failed() || !may_create(pe, envelope, info, *entry, branch)) {
      return reject(pe, envelope), true;
    }
    if (branch == nullptr) branch = &local.add_branch(info, entry->actor_class);
    local.birth = {branch, envelope.element};
  }
  if (branch == nullptr) return false;
  if (envelope.kind == Kind::broadcast) {
    if (!may_broadcast(envelope, *entry, *branch)) return reject(pe, envelope), true;
    // The creator knows the branch before the creation comes down the tree, perhaps behind this.
    if (!branch->populated) return false;
  }
  try {
    if (!entry->deliver(pe, *branch, reader)) reject(pe, envelope);
    if (envelope.kind == Kind::create && envelope.element == kToAll) local.populated(*branch);
  } catch (...) {
    pe.process().layer->unhandled(pe, SpreadMessage::describe(message), std::current_exception());
  }
  return true;
}

void SpreadMessage::run(Pe& pe, Message* base) {
  auto& message = *static_cast<SpreadMessage*>(base);
  if (message.envelope.element == kToAll && !message.forwarded) {
    message.forwarded = true;
    forward_to_children(pe, message);
  }
  if (act(pe, message)) {
    drop(pe, base);
  } else {
    Local::of(pe).park(base, message.envelope.collection, kToAll);
  }
}
}  // namespace

void spread(Pe& pe, const Envelope& envelope, SharedBytes* arguments) {
  Envelope to_root = envelope;
  to_root.element = kToAll;
  spread_to(pe, comm::PeId{0}, to_root, arguments);
}

void spread_to(Pe& pe, comm::PeId to, const Envelope& envelope, SharedBytes* arguments) {
  Envelope stamped = envelope;
  stamped.source = number(pe.id());
  if (pe.process().holds(to)) {
    pe.send_within(to, make_message(pe, stamped, arguments));
  } else {
    const auto bytes = arguments->bytes();
    const auto [frame, rest] = runtime::open_frame(pe.pool(), stamped, bytes.size());
    if (!bytes.empty()) std::memcpy(rest, bytes.data(), bytes.size());
    arguments->release();
    pe.transmit(to, frame);
  }
}

void spread_arrived(Pe& pe, const Envelope& envelope, std::span<const std::byte> arguments) {
  SharedBytes* shared = SharedBytes::make(arguments.size());
  if (!arguments.empty()) {
    std::memcpy(shared->bytes().data(), arguments.data(), arguments.size());
  }
  pe.enqueue(make_message(pe, envelope, shared));
}

}  // namespace shoal::actors
