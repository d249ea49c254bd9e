// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/rendezvous.hpp>

#include <shoal/comm/bootstrap/socket.hpp>
#include <shoal/comm/log.hpp>

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>

namespace shoal::comm {

namespace {
// Reads of one step, so that no connection holds up the launcher's loop.
constexpr int kReadsPerStep = 16;
constexpr int kAcceptsPerStep = 64;
}  // namespace

Rendezvous::Rendezvous(Key /*key*/, Options options, const Secret& secret, std::uint64_t job_id)
    : options_(std::move(options)), secret_(secret) {
  table_ = std::make_unique<JobTable>(
      options_.job, job_id,
      [this](ProcessId to, std::span<const std::byte> frame) { send(to, frame); });
}

Expected<std::unique_ptr<Rendezvous>> Rendezvous::listen(Options options, const Secret& secret) {
  std::array<std::byte, 8> id{};
  if (auto filled = fill_random(id); !filled) return filled.error();
  auto made = std::make_unique<Rendezvous>(Key{}, std::move(options), secret,
                                           std::bit_cast<std::uint64_t>(id));
  if (auto opened = made->open(); !opened) return opened.error();
  return made;
}

Expected<void> Rendezvous::open() {
  auto listener = listen_at(options_.host);
  if (!listener) return listener.error();
  listener_ = std::move(listener->socket);
  address_ = std::move(listener->address);
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  event.events = EPOLLIN;
  if (!epoll_ || ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), &event) != 0) {
    return system_error("cannot watch the rendezvous' port", errno);
  }
  return {};
}

std::optional<Nanoseconds> Rendezvous::deadline() const noexcept {
  auto due = table_->deadline();
  for (const auto& [id, connection] : connections_) {
    if (!connection.handshake) continue;
    due = std::min(due.value_or(connection.proof_deadline), connection.proof_deadline);
    break;  // the others are younger
  }
  return due;
}

bool Rendezvous::step() {
  std::array<epoll_event, 64> events;
  const int ready = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < ready; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const Id id = event.data.u64;
    if (id == 0) {
      accept_all();
      continue;
    }
    const auto found = connections_.find(id);
    if (found == connections_.end()) continue;  // dropped while an earlier event was served
    bool alive = true;
    if ((event.events & EPOLLOUT) != 0) alive = flush(id, found->second);
    if ((event.events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) {
      alive = read(found->second) && alive;
    }
    if (!alive) drop(id);
  }
  expire(options_.clock->now());
  if (table_->complete()) listener_.reset();
  return ready > 0;
}

void Rendezvous::drain(ProcessId process) {
  const auto found = proven_.find(process);
  if (found == proven_.end()) {
    // It may have proved itself and spoken since the last step.
    for (int i = 0; i < kReadsPerStep && step(); ++i) {
    }
  }
  const auto now_found = proven_.find(process);
  if (now_found == proven_.end()) return;
  const Id id = now_found->second;
  while (read(connections_.at(id))) {
    if (!wait_for(connections_.at(id).socket.get(), EPOLLIN, 0)) return;
  }
  drop(id);
}

void Rendezvous::stop(int code, const std::string& reason) {
  const auto frame = FrameWriter(FrameType::stop)
                         .u32(static_cast<std::uint32_t>(code))
                         .text(reason, kMaxReason)
                         .finish();
  std::vector<ProcessId> processes;
  processes.reserve(proven_.size());
  for (const auto& [process, id] : proven_) processes.push_back(process);
  for (const ProcessId process : processes) send(process, frame);
}

void Rendezvous::accept_all() {
  for (int i = 0; i < kAcceptsPerStep && listener_; ++i) {
    Descriptor socket = accept_next(listener_);
    if (!socket) {
      // Out of descriptors: give up the oldest stranger, or the loop would spin on the listener.
      if (errno == EMFILE || errno == ENFILE) evict_oldest_unproven();
      return;
    }
    admit(std::move(socket));
  }
}

void Rendezvous::admit(Descriptor socket) {
  const std::size_t unproven = connections_.size() - proven_.size();
  if (unproven >= kMaxUnproven + options_.job.processes) evict_oldest_unproven();
  const Id id = next_id_++;
  Connection& connection = connections_[id];
  connection.socket = std::move(socket);
  connection.proof_deadline = options_.clock->now() + kProofLimit;
  auto challenge = connection.handshake.emplace(secret_).challenge();
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = id;
  if (!challenge ||
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, connection.socket.get(), &event) != 0) {
    return drop(id);
  }
  connection.unsent = std::move(*challenge);
  if (!flush(id, connection)) drop(id);
}

void Rendezvous::evict_oldest_unproven() {
  const auto oldest = std::find_if(connections_.begin(), connections_.end(), [](const auto& entry) {
    return entry.second.handshake.has_value();
  });
  if (oldest == connections_.end()) return;
  const Id id = oldest->first;
  // A last look: under a flood, an honest one's proof has often come since.
  const bool alive = read(oldest->second);
  if (alive && !oldest->second.handshake) return;
  if (alive) refuse("too many connections without a proof");
  drop(id);
}

bool Rendezvous::read(Connection& connection) {
  return connection.handshake ? read_proof(connection) : read_frames(connection);
}

bool Rendezvous::read_proof(Connection& connection) {
  std::array<std::byte, kProofSize> room;
  ServerHandshake& handshake = *connection.handshake;
  const auto got = read_some(connection.socket.get(), std::span(room).first(handshake.missing()));
  if (got.state == ReadEnd::closed) refuse("closed before its proof");
  if (got.state != ReadEnd::more) return got.state == ReadEnd::blocked;
  auto answer = handshake.receive(std::span(room).first(got.size));
  if (!answer) {
    refuse(answer.error().text.c_str());
    return false;
  }
  if (answer->empty()) return true;
  const ProcessId process = handshake.peer();
  if (!table_->arrive(process)) {
    refuse("proved, but its rank is taken or unknown");
    return false;
  }
  connection.handshake.reset();
  connection.process = process;
  const auto entry = std::find_if(connections_.begin(), connections_.end(),
                                  [&](const auto& other) { return &other.second == &connection; });
  proven_[process] = entry->first;
  send(process, *answer);
  return read_frames(connection);
}

bool Rendezvous::read_frames(Connection& connection) {
  std::array<std::byte, 1U << 16U> room;
  for (int i = 0; i < kReadsPerStep; ++i) {
    const auto got = read_some(connection.socket.get(), room);
    if (got.state != ReadEnd::more) return got.state == ReadEnd::blocked;
    connection.frames.append(std::span(room).first(got.size));
    while (true) {
      auto frame = connection.frames.next();
      if (!frame) {
        table_->corrupt(connection.process, frame.error());
        return false;
      }
      if (!frame->has_value()) break;
      table_->receive(connection.process, **frame, options_.clock->now());
    }
  }
  return true;
}

void Rendezvous::send(ProcessId process, std::span<const std::byte> frame) {
  const auto found = proven_.find(process);
  if (found == proven_.end()) return;
  Connection& connection = connections_.at(found->second);
  // One that does not read is cut off by closing its socket; its drop follows from epoll's report.
  if (connection.unsent.size() + frame.size() > kMaxUnsent) {
    ::shutdown(connection.socket.get(), SHUT_RDWR);
    return;
  }
  connection.unsent.insert(connection.unsent.end(), frame.begin(), frame.end());
  if (!connection.wants_to_write) flush(found->second, connection);
}

bool Rendezvous::flush(Id id, Connection& connection) {
  std::size_t sent = 0;
  while (sent < connection.unsent.size()) {
    const ssize_t size = ::send(connection.socket.get(), connection.unsent.data() + sent,
                                connection.unsent.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno != EAGAIN && errno != EWOULDBLOCK) {
      connection.unsent.clear();
      return false;
    }
    if (size < 0) break;
    sent += static_cast<std::size_t>(size);
  }
  connection.unsent.erase(connection.unsent.begin(),
                          connection.unsent.begin() + static_cast<std::ptrdiff_t>(sent));
  const bool wants_to_write = !connection.unsent.empty();
  if (connection.wants_to_write == wants_to_write) return true;
  connection.wants_to_write = wants_to_write;
  epoll_event event{};
  event.events = EPOLLIN;
  if (wants_to_write) event.events |= EPOLLOUT;
  event.data.u64 = id;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.socket.get(), &event) == 0;
}

void Rendezvous::drop(Id id) {
  const auto found = connections_.find(id);
  if (found == connections_.end()) return;
  if (!found->second.handshake) {
    table_->leave(found->second.process);
    proven_.erase(found->second.process);
  }
  connections_.erase(found);  // closing the socket takes it out of epoll
}

void Rendezvous::refuse(const char* reason) {
  ++refused_;
  const Nanoseconds now = options_.clock->now();
  if (now < next_refusal_line_) return;
  next_refusal_line_ = now + kSecond;
  log(Level::warning, "the rendezvous refused {} connection{}; the last one: {}", refused_,
      refused_ == 1 ? "" : "s", reason);
  refused_ = 0;
}

void Rendezvous::expire(Nanoseconds now) {
  table_->tick(now);
  std::vector<Id> late;
  for (const auto& [id, connection] : connections_) {
    if (!connection.handshake) continue;
    if (connection.proof_deadline > now) break;
    late.push_back(id);
  }
  for (const Id id : late) {
    refuse("no proof in time");
    drop(id);
  }
}

}  // namespace shoal::comm
