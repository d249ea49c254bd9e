// SPDX-License-Identifier: Apache-2.0
#include <shoal/actors/send.hpp>

#include <cstring>

namespace shoal::actors::detail {

void refuse_foreign_thread() {
  comm::check_failed("a PE runs on this thread",
                     "a send from a thread that is no PE: let an actor send");
}

comm::Frame* entry_frame(Pe& pe, const EntryInfo& entry, const Destination& to, CallId call,
                         std::size_t size, bool has_bulk) {
  runtime::Envelope envelope;
  envelope.element = to.element;
  envelope.collection = to.collection;
  envelope.call = call.value;
  envelope.source = number(pe.id());
  envelope.entry = entry.id;
  if (has_bulk) envelope.flags |= runtime::kHasBulk;
  const std::size_t offset = arguments_offset(to);
  comm::Frame* frame = comm::take_frame(pe.pool(), offset + size);
  if (to.priority != 0) {
    envelope.flags |= runtime::kHasPriority;
    std::memcpy(frame->data() + sizeof envelope, &to.priority, sizeof to.priority);
  }
  std::memcpy(frame->data(), &envelope, sizeof envelope);
  return frame;
}

}  // namespace shoal::actors::detail
