// SPDX-License-Identifier: Apache-2.0
// The receiving half of UcxPort. A BulkHandle's descriptor is UCX's own (or a Frame, when packed),
// its detail the size with the kind above it.
#include <shoal/comm/log.hpp>
#include <shoal/comm/ucx/packed.hpp>
#include <shoal/comm/ucx/ucx_port.hpp>

#include <cstring>

namespace shoal::comm {

namespace {
constexpr std::uint64_t kRendezvous = std::uint64_t{1} << 63U;
constexpr std::uint64_t kInFrame = std::uint64_t{1} << 62U;

std::size_t size_of(BulkHandle bulk) noexcept { return bulk.detail & (kInFrame - 1); }
bool is_rendezvous(const ucp_am_recv_param_t* how) noexcept {
  return (how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV) != 0;
}
}  // namespace

void UcxPort::run(Completion* completion, bool succeeded) {
  if (completion != nullptr && !ending_) completion->run(*completion, succeeded);
}

ucs_status_t UcxPort::frame_arrived(void* self, const void* /*header*/, std::size_t /*none*/,
                                    void* data, std::size_t size, const ucp_am_recv_param_t* how) {
  auto& port = *static_cast<UcxPort*>(self);
  if (is_rendezvous(how)) [[unlikely]] {
    return port.receive_whole(data, size, frame_received, &UcxPort::deliver_frame);
  }
  port.receiver_->arrived({{static_cast<const std::byte*>(data), size}, 0, {}});
  return UCS_OK;
}

ucs_status_t UcxPort::bulk_arrived(void* self, const void* header, std::size_t header_size,
                                   void* data, std::size_t size, const ucp_am_recv_param_t* how) {
  auto& port = *static_cast<UcxPort*>(self);
  port.in_callback_ = data;
  port.handed_ = Handed::kept;
  const std::uint64_t detail = is_rendezvous(how) ? size | kRendezvous : size;
  port.receiver_->arrived(
      {{static_cast<const std::byte*>(header), header_size}, size, {data, detail}});
  port.in_callback_ = nullptr;
  // UCX keeps what is kept or being received, and ends what is released: only here may it not be
  // told by ucp_am_data_release.
  return port.handed_ == Handed::released ? UCS_OK : UCS_INPROGRESS;
}

ucs_status_t UcxPort::packed_arrived(void* self, const void* /*header*/, std::size_t /*none*/,
                                     void* data, std::size_t size, const ucp_am_recv_param_t* how) {
  auto& port = *static_cast<UcxPort*>(self);
  if (is_rendezvous(how)) {
    return port.receive_whole(data, size, packed_received, &UcxPort::deliver_packed);
  }
  Frame* frame = take_frame(port.pool_, size);
  std::memcpy(frame->data(), data, size);
  port.deliver_packed(frame);
  return UCS_OK;
}

ucs_status_t UcxPort::receive_whole(void* data, std::size_t size,
                                    ucp_am_recv_data_nbx_callback_t callback, Deliver deliver) {
  SHOAL_CHECK(size <= kMaxFrame, "a peer announces a message of {} bytes", size);
  Frame* frame = take_frame(pool_, size);
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  parameters.cb.recv_am = callback;
  parameters.memory_type = UCS_MEMORY_TYPE_HOST;
  const Request request{this, nullptr, frame, nullptr, false};
  const ucs_status_ptr_t result =
      ucp_am_recv_data_nbx(worker_, data, frame->data(), size, &parameters);
  if (UCS_PTR_IS_PTR(result)) {
    *static_cast<Request*>(result) = request;
    ++receives_;
  } else {
    end_receive_whole(request, UCS_PTR_STATUS(result), deliver);
  }
  return UCS_INPROGRESS;
}

void UcxPort::frame_received(void* request, ucs_status_t status, std::size_t /*size*/,
                             void* /*user*/) {
  const Request copy = *static_cast<Request*>(request);
  ucp_request_free(request);
  --copy.port->receives_;
  copy.port->end_receive_whole(copy, status, &UcxPort::deliver_frame);
}

void UcxPort::packed_received(void* request, ucs_status_t status, std::size_t /*size*/,
                              void* /*user*/) {
  const Request copy = *static_cast<Request*>(request);
  ucp_request_free(request);
  --copy.port->receives_;
  copy.port->end_receive_whole(copy, status, &UcxPort::deliver_packed);
}

void UcxPort::end_receive_whole(const Request& request, ucs_status_t status, Deliver deliver) {
  if (status == UCS_OK) [[likely]] {
    return (this->*deliver)(request.frame);
  }
  if (!ending_) {
    log(Level::error, "a message of {} bytes was announced and could not be fetched: {}",
        request.frame->size, ucs_status_string(status));
  }
  pool_.release(request.frame);
}

void UcxPort::deliver_frame(Frame* frame) {
  receiver_->arrived({frame->bytes(), 0, {}});
  pool_.release(frame);
}

void UcxPort::deliver_packed(Frame* frame) {
  const auto layout = detail::PackedLayout::read(frame->bytes(), frame->size);
  if (!layout) {
    log(Level::error, "a packed message of {} bytes contradicts itself; it is dropped",
        frame->size);
    return pool_.release(frame);
  }
  receiver_->arrived({frame->bytes().subspan(layout->frame_at(), layout->frame_size),
                      layout->bulk_size,
                      {frame, layout->bulk_size | kInFrame}});
}

void UcxPort::receive(BulkHandle bulk, std::span<std::byte> target, Completion& completion) {
  check_owner();
  const std::size_t size = size_of(bulk);
  SHOAL_CHECK(target.size() >= size, "{} bytes are to be received into {}", size, target.size());
  if ((bulk.detail & kInFrame) != 0) {
    auto* frame = static_cast<Frame*>(bulk.descriptor);
    std::memcpy(target.data(), frame->data() + (frame->size - size), size);
    pool_.release(frame);
    return run(&completion, true);
  }
  const bool in_callback = bulk.descriptor == in_callback_;
  if (in_callback) handed_ = Handed::received;
  // Data that came eagerly and was kept: ucp_am_recv_data_nbx forgets it before UCX 1.14 and frees
  // it wrongly before 1.22 (when it came in several pieces). Later ones can fill device memory from
  // it.
  if ((bulk.detail & kRendezvous) == 0 && !in_callback && !context_->receives_kept_data) {
    std::memcpy(target.data(), bulk.descriptor, size);
    ucp_am_data_release(worker_, bulk.descriptor);
    return run(&completion, true);
  }
  receive_announced(bulk, target, completion);
}

void UcxPort::receive_announced(BulkHandle bulk, std::span<std::byte> target,
                                Completion& completion) {
  ucp_request_param_t parameters{};
  parameters.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK;
  parameters.cb.recv_am = bulk_received;
  const ucs_status_ptr_t result =
      ucp_am_recv_data_nbx(worker_, bulk.descriptor, target.data(), size_of(bulk), &parameters);
  if (UCS_PTR_IS_PTR(result)) {
    *static_cast<Request*>(result) = {this, nullptr, nullptr, &completion, false};
    ++receives_;
    return;
  }
  if (UCS_PTR_IS_ERR(result)) {
    log(Level::error, "a bulk of {} bytes could not be fetched: {}", size_of(bulk),
        ucs_status_string(UCS_PTR_STATUS(result)));
  }
  run(&completion, result == nullptr);
}

void UcxPort::bulk_received(void* request, ucs_status_t status, std::size_t /*size*/,
                            void* /*user*/) {
  const Request copy = *static_cast<Request*>(request);
  ucp_request_free(request);
  --copy.port->receives_;
  if (status != UCS_OK && !copy.port->ending_) {
    log(Level::error, "a bulk could not be fetched: {}", ucs_status_string(status));
  }
  copy.port->run(copy.completion, status == UCS_OK);
}

void UcxPort::release(BulkHandle bulk) {
  check_owner();
  if ((bulk.detail & kInFrame) != 0) {
    pool_.release(static_cast<Frame*>(bulk.descriptor));
  } else if (bulk.descriptor == in_callback_) {
    handed_ = Handed::released;
  } else {
    ucp_am_data_release(worker_, bulk.descriptor);
  }
}

}  // namespace shoal::comm
