// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/log.hpp>
#include <shoal/comm/ucx/ucx_port.hpp>

namespace shoal::comm {

namespace {
/// Hears what arrives while a port ends.
class Nobody final : public Receiver {
 public:
  void arrived(const Arrival& /*arrival*/) override {}
};

Error ucx_error(const char* call, ucs_status_t status) {
  return make_error(ErrorCode::system, fmt::format("{}: {}", call, ucs_status_string(status)));
}
}  // namespace

UcxContext::~UcxContext() {
  if (handle != nullptr) ucp_cleanup(handle);
}

Expected<std::unique_ptr<Port>> UcxPort::open(std::shared_ptr<UcxContext> context, PeId pe,
                                              Pool& pool) {
  // lint: allow(new): make_unique has no access to the constructor
  std::unique_ptr<UcxPort> port(new UcxPort(std::move(context), pool));
  if (auto started = port->start(pe); !started) return started.error();
  if (auto published = port->publish(pe); !published) return published.error();
  return std::unique_ptr<Port>(std::move(port));
}

UcxPort::UcxPort(std::shared_ptr<UcxContext> context, Pool& pool)
    : pool_(pool), context_(std::move(context)) {
  none_.frames = kLost;
  frame_parameters_.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  frame_parameters_.cb.send = sent;
  frame_parameters_.memory_type = UCS_MEMORY_TYPE_HOST;
}

Expected<void> UcxPort::start(PeId pe) {
  const std::scoped_lock lock(context_->workers);
  ucp_worker_params_t parameters{};
  parameters.field_mask = UCP_WORKER_PARAM_FIELD_THREAD_MODE;
  parameters.thread_mode = UCS_THREAD_MODE_SINGLE;
  ucs_status_t status = ucp_worker_create(context_->handle, &parameters, &worker_);
  if (status != UCS_OK) {
    worker_ = nullptr;
    return make_error(ErrorCode::no_memory,
                      fmt::format("UCX made no worker for PE {}: {}; see the limits on descriptors "
                                  "(ulimit -n), memory and /dev/shm",
                                  number(pe), ucs_status_string(status)));
  }
  ucp_worker_attr_t attributes{};
  attributes.field_mask = UCP_WORKER_ATTR_FIELD_MAX_AM_HEADER;
  status = ucp_worker_query(worker_, &attributes);
  if (status != UCS_OK) return ucx_error("ucp_worker_query", status);
  longest_header_ = attributes.max_am_header;
  status = ucp_worker_get_efd(worker_, &event_fd_);
  if (status != UCS_OK) return ucx_error("ucp_worker_get_efd", status);

  status = on(kFrame, frame_arrived, 0);
  // Persistent: a bulk can be kept beyond the callback whatever way it came.
  if (status == UCS_OK) status = on(kFrameWithBulk, bulk_arrived, UCP_AM_FLAG_PERSISTENT_DATA);
  if (status == UCS_OK) status = on(kPacked, packed_arrived, 0);
  if (status != UCS_OK) return ucx_error("ucp_worker_set_am_recv_handler", status);
  return {};
}

ucs_status_t UcxPort::on(MessageId id, ucp_am_recv_callback_t callback, unsigned flags) {
  ucp_am_handler_param_t parameters{};
  parameters.field_mask = UCP_AM_HANDLER_PARAM_FIELD_ID | UCP_AM_HANDLER_PARAM_FIELD_CB |
                          UCP_AM_HANDLER_PARAM_FIELD_ARG | UCP_AM_HANDLER_PARAM_FIELD_FLAGS;
  parameters.id = id;
  parameters.cb = callback;
  parameters.arg = this;
  parameters.flags = UCP_AM_FLAG_WHOLE_MSG | flags;
  return ucp_worker_set_am_recv_handler(worker_, &parameters);
}

Expected<void> UcxPort::publish(PeId pe) {
  ucp_address_t* address = nullptr;
  std::size_t size = 0;
  const ucs_status_t status = ucp_worker_get_address(worker_, &address, &size);
  if (status != UCS_OK) return ucx_error("ucp_worker_get_address", status);
  auto published =
      context_->options.addresses->publish(pe, {reinterpret_cast<const std::byte*>(address), size});
  ucp_worker_release_address(worker_, address);
  return published;
}

UcxPort::~UcxPort() {
  Nobody nobody;
  receiver_ = &nobody;
  ending_ = true;
  inside_ = true;
  if (worker_ != nullptr) {
    const std::scoped_lock lock(context_->workers);
    ucp_worker_destroy(worker_);
  }
  peers_.for_each([this](std::uint64_t, std::unique_ptr<Peer>& peer) { drop_waiting(*peer); });
}

bool UcxPort::progress(Receiver& receiver) {
  check_owner();
  receiver_ = &receiver;
  inside_ = true;
  unsigned count = ucp_worker_progress(worker_);
  inside_ = false;
  if (waiting_ != nullptr) [[unlikely]] {
    count += issue_waiting();
  }
  quiet_ = count == 0;
  return count != 0;
}

bool UcxPort::arm() {
  check_owner();
  // UCX arms a worker although connections that are being made over TCP are not watched until a
  // progress has found nothing.
  if (waiting_ != nullptr || !quiet_) return false;
  const ucs_status_t status = ucp_worker_arm(worker_);
  if (status != UCS_OK && status != UCS_ERR_BUSY) [[unlikely]] {
    log(Level::error, "ucp_worker_arm: {}; this PE polls instead of sleeping",
        ucs_status_string(status));
  }
  return status == UCS_OK;
}

Expected<void> UcxPort::close(Receiver& receiver, Nanoseconds deadline) {
  if (auto finished = finish_transfers(receiver, deadline); !finished) return finished;
  return flush(receiver, deadline);
}

Expected<void> UcxPort::finish_transfers(Receiver& receiver, Nanoseconds deadline) {
  while (true) {
    while (progress(receiver)) {
    }
    if (sends_ == 0 && receives_ == 0 && waiting_ == nullptr) return {};
    if (steady_clock().now() < deadline) continue;
    return make_error(ErrorCode::timed_out,
                      fmt::format("{} sends and {} receives were unfinished when the port's time "
                                  "to close was up",
                                  sends_, receives_));
  }
}

Expected<void> UcxPort::flush(Receiver& receiver, Nanoseconds deadline) {
  ucp_request_param_t parameters{};
  const ucs_status_ptr_t request = ucp_worker_flush_nbx(worker_, &parameters);
  if (!UCS_PTR_IS_PTR(request)) {
    const ucs_status_t status = UCS_PTR_STATUS(request);
    return status == UCS_OK ? Expected<void>() : ucx_error("ucp_worker_flush_nbx", status);
  }
  ucs_status_t status = UCS_INPROGRESS;
  while ((status = ucp_request_check_status(request)) == UCS_INPROGRESS &&
         steady_clock().now() < deadline) {
    progress(receiver);
  }
  ucp_request_free(request);
  if (status == UCS_OK) return {};
  if (status != UCS_INPROGRESS) return ucx_error("ucp_worker_flush_nbx", status);
  return make_error(ErrorCode::timed_out, "UCX was still flushing when the port's time was up");
}

void UcxPort::check_owner() const {
#ifndef NDEBUG
  SHOAL_CHECK(owner_ == std::this_thread::get_id(),
              "a port is used by a thread that is not its PE's");
#endif
}

}  // namespace shoal::comm
