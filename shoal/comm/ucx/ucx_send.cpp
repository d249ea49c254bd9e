// SPDX-License-Identifier: Apache-2.0
// The sending half of UcxPort.
#include <shoal/comm/log.hpp>
#include <shoal/comm/ucx/packed.hpp>
#include <shoal/comm/ucx/ucx_port.hpp>

#include <cstring>

namespace shoal::comm {

namespace {
// Bulks below this are sent eagerly and count as frames do. Larger ones may wait for the receiving
// program (rendezvous), and must never hold up what is sent after them.
constexpr std::size_t kSmallBulk = 4'096;
// How often a send to a full peer looks for room before it leaves its frame waiting.
constexpr int kMostPolls = 4;
}  // namespace

void UcxPort::send(PeId to, Frame* frame, OutgoingBulk bulk) {
  check_owner();
  Peer* peer = last_peer_;
  if (peer->pe != to) [[unlikely]] {
    last_peer_ = peer = &find_peer(to);
  }
  if (peer->frames >= kMostFrames) [[unlikely]] {
    send_slowly(*peer, frame, bulk);
  } else if (bulk.bytes.empty()) {
    issue_frame(*peer, frame, kFrame);
  } else {
    issue_bulk(*peer, frame, bulk);
  }
}

void UcxPort::issue_frame(Peer& peer, Frame* frame, MessageId id) {
  const ucs_status_ptr_t result = ucp_am_send_nbx(peer.endpoint, id, nullptr, 0, frame->data(),
                                                  frame->size, &frame_parameters_);
  if (result == nullptr) [[likely]] {
    pool_.release(frame);
    return;
  }
  issued(result, {this, &peer, frame, nullptr, true});
}

void UcxPort::issue_bulk(Peer& peer, Frame* frame, OutgoingBulk bulk) {
  if (frame->size > longest_header_) return issue_frame(peer, pack(frame, bulk), kPacked);
  const bool small = bulk.bytes.size() < kSmallBulk;
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_FLAGS;
  parameters.cb.send = sent;
  parameters.flags = small ? std::uint32_t{UCP_AM_SEND_FLAG_EAGER} : 0U;
  issued(ucp_am_send_nbx(peer.endpoint, kFrameWithBulk, frame->data(), frame->size,
                         bulk.bytes.data(), bulk.bytes.size(), &parameters),
         {this, &peer, frame, bulk.completion, small});
}

Frame* UcxPort::pack(Frame* frame, OutgoingBulk bulk) {
  const detail::PackedLayout layout{frame->size, bulk.bytes.size()};
  Frame* packed = take_frame(pool_, layout.total());
  layout.write_head(packed->data());
  std::memcpy(packed->data() + layout.frame_at(), frame->data(), frame->size);
  std::memcpy(packed->data() + layout.bulk_at(), bulk.bytes.data(), bulk.bytes.size());
  pool_.release(frame);
  run(bulk.completion, true);
  return packed;
}

/// What UCX answered to a send: done (nullptr), an error, or a request whose end will be told to
/// `sent`.
void UcxPort::issued(ucs_status_ptr_t result, const Request& request) {
  if (UCS_PTR_IS_PTR(result)) {
    *static_cast<Request*>(result) = request;
    ++sends_;
    quiet_ = false;
    request.peer->frames += request.counted ? 1U : 0U;
    return;
  }
  end_send(request, UCS_PTR_STATUS(result));
}

void UcxPort::sent(void* request, ucs_status_t status, void* /*user*/) {
  const Request copy = *static_cast<Request*>(request);
  ucp_request_free(request);
  --copy.port->sends_;
  copy.peer->frames -= copy.counted ? 1U : 0U;
  copy.port->end_send(copy, status);
}

void UcxPort::end_send(const Request& request, ucs_status_t status) {
  pool_.release(request.frame);
  if (status != UCS_OK) [[unlikely]]
    lose(*request.peer, ucs_status_string(status));
  run(request.completion, status == UCS_OK);
}

void UcxPort::send_slowly(Peer& peer, Frame* frame, OutgoingBulk bulk) {
  if (!inside_ && receiver_ != nullptr) {
    for (int i = 0; i < kMostPolls && peer.frames >= kMostFrames; ++i) progress(*receiver_);
  }
  const bool has_room = peer.frames < kMostFrames;
  if (bulk.bytes.empty()) {
    return has_room ? issue_frame(peer, frame, kFrame) : wait_for_room(peer, frame, kWaitingFrame);
  }
  if (has_room) return issue_bulk(peer, frame, bulk);
  auto* block = pool_.make<WaitingBulk>(sizeof(WaitingBulk));
  block->frame = frame;
  block->bulk = bulk;
  wait_for_room(peer, block, kWaitingBulk);
}

void UcxPort::wait_for_room(Peer& peer, Block* block, WaitingKind kind) {
  block->flags = kind;
  block->next.store(nullptr, std::memory_order_relaxed);
  if (peer.frames >= kLost) return drop(block);
  if (peer.first == nullptr) {
    peer.first = block;
  } else {
    peer.last->next.store(block, std::memory_order_relaxed);
  }
  peer.last = block;
  if (peer.is_waiting) return;
  peer.is_waiting = true;
  peer.next_waiting = waiting_;
  waiting_ = &peer;
}

void UcxPort::issue(Peer& peer, Block* block) {
  if (block->flags == kWaitingFrame) return issue_frame(peer, static_cast<Frame*>(block), kFrame);
  auto* waiting = static_cast<WaitingBulk*>(block);
  Frame* frame = waiting->frame;
  const OutgoingBulk bulk = waiting->bulk;
  pool_.release(waiting);
  issue_bulk(peer, frame, bulk);
}

unsigned UcxPort::issue_waiting() {
  unsigned count = 0;
  inside_ = true;  // a completion that runs here may send, and that must not come back
  Peer* peer = std::exchange(waiting_, nullptr);
  while (peer != nullptr) {
    Peer* next = peer->next_waiting;
    while (peer->first != nullptr && peer->frames < kMostFrames) {
      Block* block = peer->first;
      peer->first = block->next.load(std::memory_order_relaxed);
      issue(*peer, block);
      ++count;
    }
    peer->is_waiting = peer->first != nullptr;
    if (peer->is_waiting) peer->next_waiting = std::exchange(waiting_, peer);
    peer = next;
  }
  inside_ = false;
  return count;
}

std::vector<std::string> UcxPort::describe_unsent() const {
  std::vector<std::string> lines;
  peers_.for_each([&](std::uint64_t, const std::unique_ptr<Peer>& peer) {
    std::size_t waiting = 0;
    for (const Block* block = peer->first; block != nullptr; ++waiting) {
      block = block->next.load(std::memory_order_relaxed);
    }
    const std::uint32_t with_ucx = peer->frames & ~kLost;
    if (with_ucx + waiting == 0) return;
    lines.push_back(fmt::format("{} messages are on their way to PE {}, {} wait here for room",
                                with_ucx, number(peer->pe), waiting));
  });
  return lines;
}

void UcxPort::drop(Block* block) {
  if (block->flags == kWaitingFrame) return pool_.release(block);
  auto* waiting = static_cast<WaitingBulk*>(block);
  Completion* completion = waiting->bulk.completion;
  pool_.release(waiting->frame);
  pool_.release(waiting);
  run(completion, false);
}

void UcxPort::drop_waiting(Peer& peer) {
  while (Block* block = peer.first) {
    peer.first = block->next.load(std::memory_order_relaxed);
    drop(block);
  }
}

UcxPort::Peer& UcxPort::find_peer(PeId to) {
  if (auto* known = peers_.find(number(to))) return **known;
  SHOAL_CHECK(to != kNoPe, "a message to no PE");
  Peer& peer = *peers_.insert(number(to), std::make_unique<Peer>());
  peer.port = this;
  peer.pe = to;
  if (auto connected = connect(peer)) {
    peer.endpoint = *connected;
  } else {
    lose(peer, to_string(connected.error()));
  }
  return peer;
}

Expected<ucp_ep_h> UcxPort::connect(Peer& peer) {
  auto address = context_->options.addresses->lookup(peer.pe);
  if (!address) return address.error();
  ucp_ep_params_t parameters{};
  parameters.field_mask = UCP_EP_PARAM_FIELD_REMOTE_ADDRESS;
  parameters.address = reinterpret_cast<const ucp_address_t*>(address->data());
  if (context_->options.peer_errors) {
    parameters.field_mask |= UCP_EP_PARAM_FIELD_ERR_HANDLING_MODE | UCP_EP_PARAM_FIELD_ERR_HANDLER;
    parameters.err_mode = UCP_ERR_HANDLING_MODE_PEER;
    parameters.err_handler.cb = endpoint_failed;
    parameters.err_handler.arg = &peer;
  }
  ucp_ep_h endpoint = nullptr;
  const ucs_status_t status = ucp_ep_create(worker_, &parameters, &endpoint);
  if (status == UCS_OK) return endpoint;
  return make_error(ErrorCode::unreachable,
                    fmt::format("UCX finds no way to PE {}: {}; see UCX_TLS and UCX_NET_DEVICES",
                                number(peer.pe), ucs_status_string(status)));
}

void UcxPort::endpoint_failed(void* peer, ucp_ep_h /*endpoint*/, ucs_status_t status) {
  Peer& failed = *static_cast<Peer*>(peer);
  failed.port->lose(failed, ucs_status_string(status));
}

void UcxPort::lose(Peer& peer, std::string_view why) {
  if (peer.frames >= kLost || ending_) return;
  peer.frames += kLost;
  drop_waiting(peer);
  const std::string text = fmt::format("PE {} is lost: {}", number(peer.pe), why);
  if (context_->options.on_lost) {
    context_->options.on_lost(peer.pe, text);
  } else {
    log(Level::error, "{}", text);
  }
}

}  // namespace shoal::comm
