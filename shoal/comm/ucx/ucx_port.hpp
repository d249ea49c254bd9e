// SPDX-License-Identifier: Apache-2.0
// The problem: the Port contract in terms of UCX active messages. Offered: the port of one PE, its
// worker and its peers. Private to shoal/comm/ucx.
//
// Three active messages: a frame alone is one contiguous payload (cheaper by a sixth than header
// and payload), a frame with a bulk is header and payload, and a frame too long to be a header is
// packed with its bulk.
#pragma once

#include <shoal/comm/id_map.hpp>
#include <shoal/comm/transport.hpp>
#include <shoal/comm/ucx/ucx_transport.hpp>

#include <ucp/api/ucp.h>

#include <memory>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

namespace shoal::comm {

/// What the ports of a process share: the context, and the lock for the calls that make and end
/// workers.
struct UcxContext {
  ~UcxContext();
  ucp_context_h handle = nullptr;
  UcxOptions options;
  std::mutex workers;
  bool receives_kept_data = false;  ///< see UcxPort::receive
};

class UcxPort final : public Port {
 public:
  /// Unfinished frames a peer that are with UCX: more fill its queue twice, fewer starve a fast
  /// receiver.
  static constexpr std::uint32_t kMostFrames = 128;

  static Expected<std::unique_ptr<Port>> open(std::shared_ptr<UcxContext> context, PeId pe,
                                              Pool& pool);
  ~UcxPort() override;

  void send(PeId to, Frame* frame, OutgoingBulk bulk) override;
  bool progress(Receiver& receiver) override;
  void receive(BulkHandle bulk, std::span<std::byte> target, Completion& completion) override;
  void release(BulkHandle bulk) override;
  bool arm() override;
  int event_fd() const noexcept override { return event_fd_; }
  std::vector<std::string> describe_unsent() const override;
  Expected<void> close(Receiver& receiver, Nanoseconds deadline) override;

 private:
  enum MessageId : unsigned { kFrame = 1, kFrameWithBulk = 2, kPacked = 3 };

  struct Peer {
    UcxPort* port = nullptr;
    PeId pe = kNoPe;
    // Frames with UCX. A peer that is lost, and the one that stands for "none yet", are always
    // full, so that the fast path asks one question.
    std::uint32_t frames = 0;
    ucp_ep_h endpoint = nullptr;
    Block* first = nullptr;  // what waits here for room
    Block* last = nullptr;
    Peer* next_waiting = nullptr;
    bool is_waiting = false;
  };
  static constexpr std::uint32_t kLost = 1U << 31U;  // added to Peer::frames

  /// What waits for room is a frame, or this; Block::flags tells which.
  struct WaitingBulk : Block {
    explicit WaitingBulk(Origin origin) noexcept : Block(origin) {}
    Frame* frame = nullptr;
    OutgoingBulk bulk;
  };
  enum WaitingKind : std::uint8_t { kWaitingFrame, kWaitingBulk };

  /// Lies in each UCX request (in its reserved space); written when UCX hands the request out.
  struct Request {
    UcxPort* port;
    Peer* peer;              // of a send
    Frame* frame;            // what is being sent, or received into; may be nullptr
    Completion* completion;  // may be nullptr
    bool counted;            // in Peer::frames
  };
  friend Expected<std::unique_ptr<Transport>> make_ucx_transport(UcxOptions options);

  UcxPort(std::shared_ptr<UcxContext> context, Pool& pool);
  Expected<void> start(PeId pe);
  Expected<void> publish(PeId pe);
  ucs_status_t on(MessageId id, ucp_am_recv_callback_t callback, unsigned flags);
  Expected<void> finish_transfers(Receiver& receiver, Nanoseconds deadline);
  Expected<void> flush(Receiver& receiver, Nanoseconds deadline);
  void check_owner() const;

  // ucx_send.cpp
  Peer& find_peer(PeId to);
  Expected<ucp_ep_h> connect(Peer& peer);
  void lose(Peer& peer, std::string_view why);
  static void endpoint_failed(void* peer, ucp_ep_h endpoint, ucs_status_t status);
  void send_slowly(Peer& peer, Frame* frame, OutgoingBulk bulk);
  void issue_frame(Peer& peer, Frame* frame, MessageId id);
  void issue_bulk(Peer& peer, Frame* frame, OutgoingBulk bulk);
  Frame* pack(Frame* frame, OutgoingBulk bulk);
  void issue(Peer& peer, Block* block);
  void issued(ucs_status_ptr_t result, const Request& request);
  void wait_for_room(Peer& peer, Block* block, WaitingKind kind);
  unsigned issue_waiting();
  void drop(Block* block);
  void drop_waiting(Peer& peer);
  static void sent(void* request, ucs_status_t status, void* user);
  void end_send(const Request& request, ucs_status_t status);

  // ucx_receive.cpp
  static ucs_status_t frame_arrived(void* self, const void* header, std::size_t header_size,
                                    void* data, std::size_t size, const ucp_am_recv_param_t* how);
  static ucs_status_t bulk_arrived(void* self, const void* header, std::size_t header_size,
                                   void* data, std::size_t size, const ucp_am_recv_param_t* how);
  static ucs_status_t packed_arrived(void* self, const void* header, std::size_t header_size,
                                     void* data, std::size_t size, const ucp_am_recv_param_t* how);
  using Deliver = void (UcxPort::*)(Frame*);
  ucs_status_t receive_whole(void* data, std::size_t size, ucp_am_recv_data_nbx_callback_t callback,
                             Deliver deliver);
  static void frame_received(void* request, ucs_status_t status, std::size_t size, void* user);
  static void packed_received(void* request, ucs_status_t status, std::size_t size, void* user);
  static void bulk_received(void* request, ucs_status_t status, std::size_t size, void* user);
  void end_receive_whole(const Request& request, ucs_status_t status, Deliver deliver);
  void receive_announced(BulkHandle bulk, std::span<std::byte> target, Completion& completion);
  void deliver_frame(Frame* frame);
  void deliver_packed(Frame* frame);
  void run(Completion* completion, bool succeeded);

  // What a small send touches comes first.
  Peer* last_peer_ = &none_;
  Pool& pool_;
  ucp_request_param_t frame_parameters_{};
  ucp_worker_h worker_ = nullptr;
  Receiver* receiver_ = nullptr;  // the last that progress was called with
  Peer* waiting_ = nullptr;       // peers with something waiting
  bool inside_ = false;           // within ucp_worker_progress, which must not be entered again
  bool quiet_ = false;   // the last progress found nothing, and nothing was left to it since
  bool ending_ = false;  // in the destructor: nobody is told of anything any more
  enum class Handed : std::uint8_t { kept, received, released };
  Handed handed_ = Handed::kept;  // what became of in_callback_ during its arrival
  void* in_callback_ = nullptr;   // the bulk whose arrival is being handed over
  std::uint64_t sends_ = 0;       // with UCX, unfinished
  std::uint64_t receives_ = 0;    // the same
  std::size_t longest_header_ = 0;
  int event_fd_ = -1;
  Peer none_;
  IdMap<std::unique_ptr<Peer>> peers_;
  std::shared_ptr<UcxContext> context_;
  std::thread::id owner_ = std::this_thread::get_id();
};

}  // namespace shoal::comm
