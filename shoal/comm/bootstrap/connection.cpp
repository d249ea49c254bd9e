// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/connection.hpp>

#include <shoal/comm/bootstrap/handshake.hpp>
#include <shoal/comm/bootstrap/socket.hpp>
#include <shoal/comm/log.hpp>
#include <shoal/comm/quiet_thread.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

namespace shoal::comm {

namespace {

constexpr Nanoseconds kProofLimit = 5 * kSecond;
constexpr Nanoseconds kSendLimit = 10 * kSecond;
// A rendezvous under a flood of strangers may drop an honest one: it tries again.
constexpr int kAttempts = 5;

Expected<void> write_all(int socket, std::span<const std::byte> bytes) {
  const Nanoseconds deadline = steady_clock().now() + kSendLimit;
  while (!bytes.empty()) {
    const ssize_t size = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (size >= 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(size));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(socket, POLLOUT, deadline)) {
        return make_error(ErrorCode::timed_out, "the rendezvous reads nothing");
      }
    } else if (errno != EINTR) {
      return system_error("cannot send to the rendezvous", errno);
    }
  }
  return {};
}

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    parts.emplace_back(list.substr(0, list.find(',')));
    list.remove_prefix(std::min(list.size(), parts.back().size() + 1));
  }
  return parts;
}

Expected<void> prove(int socket, const Launch& launch, Nanoseconds limit) {
  ClientHandshake handshake(launch.secret, launch.process);
  const Nanoseconds deadline = steady_clock().now() + limit;
  std::array<std::byte, kChallengeSize> room;
  while (!handshake.done()) {
    const auto got = read_some(socket, std::span(room).first(handshake.missing()));
    if (got.state == ReadEnd::closed) {
      return make_error(ErrorCode::refused, "the rendezvous refused this process");
    }
    if (got.state == ReadEnd::blocked) {
      if (wait_for(socket, POLLIN, deadline)) continue;
      return make_error(ErrorCode::timed_out, "the rendezvous does not answer");
    }
    auto reply = handshake.receive(std::span(room).first(got.size));
    if (!reply) return reply.error();
    if (auto sent = write_all(socket, *reply); !sent) return sent.error();
  }
  return {};
}

std::chrono::steady_clock::time_point time_point(Nanoseconds deadline) {
  return std::chrono::steady_clock::time_point(
      std::chrono::nanoseconds(static_cast<std::int64_t>(deadline)));
}

}  // namespace

Bootstrap::Connection::Connection(const Launch& launch, Identity identity, StopHandler on_stop)
    : process_(launch.process),
      hosted_(launch.hosted),
      identity_(std::move(identity)),
      on_stop_(std::move(on_stop)) {}

Bootstrap::Connection::~Connection() {
  if (!thread_.joinable()) return;
  ending_.store(true, std::memory_order_release);
  signal_eventfd(wake_);
  thread_.join();
}

Expected<void> Bootstrap::Connection::open(const Launch& launch) {
  auto socket = authenticate(launch);
  if (!socket) return socket.error();
  socket_ = std::move(*socket);
  wake_.reset(::eventfd(0, EFD_CLOEXEC));
  if (!wake_) return system_error("cannot make an eventfd", errno);
  if (auto sent = send(encode_hello(identity_)); !sent) return sent.error();
  auto thread = start_quiet_thread("shoal-bootstrap", [this] { read_until_the_end(); });
  if (!thread) return thread.error();
  thread_ = std::move(*thread);
  std::unique_lock lock(mutex_);
  // No limit of its own: the rendezvous limits the start, and a lost connection ends the wait.
  changed_.wait(lock, [&] { return welcomed_ || stop_; });
  if (!welcomed_) return make_error(ErrorCode::mismatch, stop_->reason);
  return {};
}

Expected<Descriptor> Bootstrap::Connection::authenticate(const Launch& launch) {
  const std::vector<std::string> addresses = split(launch.rendezvous);
  // Of several addresses some may lead nowhere: a network of containers, another host's loopback.
  const Nanoseconds limit = addresses.size() == 1 ? kProofLimit : kProofLimit / 4;
  ErrorCode code = ErrorCode::unreachable;
  std::string reasons;
  for (int attempt = 1; attempt <= kAttempts; ++attempt) {
    reasons.clear();
    for (const std::string& address : addresses) {
      auto socket = connect_to(address, limit);
      const auto proved =
          socket ? prove(socket->get(), launch, limit) : Expected<void>(socket.error());
      if (proved) return socket;
      code = proved.error().code;
      reasons += (reasons.empty() ? "" : "; ") + proved.error().text;
    }
  }
  return make_error(code, reasons);
}

void Bootstrap::Connection::read_until_the_end() {
  FrameReader frames;
  std::array<pollfd, 2> polled{pollfd{socket_.get(), POLLIN, 0}, pollfd{wake_.get(), POLLIN, 0}};
  while (true) {
    const int limit = ends_by_ ? milliseconds_until(ends_by_->time) : -1;
    if (::poll(polled.data(), polled.size(), limit) < 0 && errno != EINTR) return;
    if (ending_.load(std::memory_order_acquire)) return;
    if (polled[1].revents != 0) {
      clear_eventfd(wake_);
      tell_of_interrupt(signal_.exchange(0, std::memory_order_acq_rel));
    }
    if (polled[0].revents != 0 && !read_frames(frames)) polled[0].fd = -1;
    if (ends_by_ && steady_clock().now() >= ends_by_->time) end_by_force();
  }
}

bool Bootstrap::Connection::ending() {
  const std::lock_guard lock(mutex_);
  return stop_.has_value();
}

void Bootstrap::Connection::on_report(std::function<void()> ask) {
  const std::lock_guard lock(mutex_);
  ask_report_ = std::move(ask);
}

void Bootstrap::Connection::interrupted(int signal_number) noexcept {
  signal_.store(signal_number, std::memory_order_release);
  signal_eventfd(wake_);
}

// The others hear of it now, whatever entry runs here.
void Bootstrap::Connection::tell_of_interrupt(int signal_number) {
  if (signal_number == 0) return;
  const int code = 128 + signal_number;
  if (hosted_) ends_by_ = {steady_clock().now() + kForceLimit, code};
  failed(fmt::format("it got SIG{}", ::sigabbrev_np(signal_number)), code);
}

void Bootstrap::Connection::failed(std::string_view text, int code) {
  // If it cannot be sent, the connection is lost and the stop handler says so.
  (void)send(FrameWriter(FrameType::failed)
                 .u32(static_cast<std::uint32_t>(code))
                 .text(text, kMaxReason)
                 .finish());
}

// Where no launcher of ours looks after a process that does not end, it does itself.
void Bootstrap::Connection::end_by_force() {
  log_line(Level::error, fmt::format("this process did not end within {} s of the job's end; it "
                                     "is ended",
                                     kForceLimit / kSecond));
  ::_exit(ends_by_->code != 0 ? ends_by_->code : kLauncherGone);
}

bool Bootstrap::Connection::read_frames(FrameReader& frames) {
  std::array<std::byte, 1U << 14U> room;
  const auto got = read_some(socket_.get(), room);
  if (got.state == ReadEnd::blocked) return true;
  if (got.state == ReadEnd::closed) {
    lost_.store(true, std::memory_order_release);
    end({kLauncherGone,
         hosted_ ? "process 0, which kept the job together, is gone" : "the launcher is gone"});
    return false;
  }
  frames.append(std::span(room).first(got.size));
  while (true) {
    auto frame = frames.next();
    Expected<void> received;
    if (frame && !frame->has_value()) return true;
    if (frame) received = receive(**frame);
    if (frame && received) continue;
    const Error& error = frame ? received.error() : frame.error();
    end({kLauncherGone, fmt::format("the launcher's messages do not parse: {}", error.text)});
    return false;
  }
}

Expected<void> Bootstrap::Connection::receive(const WireFrame& frame) {
  PayloadReader reader(frame.payload);
  std::unique_lock lock(mutex_);
  switch (frame.type) {
    case FrameType::welcome: {
      share_.before = reader.u32();
      share_.total = reader.u32();
      auto layout = JobLayout::read(reader);
      if (!layout) return layout.error();
      layout_ = std::move(*layout);
      welcomed_ = true;
      break;
    }
    case FrameType::list_entries:
      lock.unlock();
      return send(FrameWriter(FrameType::entry_list)
                      .text(identity_.entries, kMaxBootstrapFrame - kFrameHeader)
                      .finish());
    case FrameType::address: {
      const auto waiting = lookups_.find(PeId{reader.u32()});
      const auto address = reader.bytes(kMaxAddress);
      if (waiting != lookups_.end())
        waiting->second.address.emplace(address.begin(), address.end());
      break;
    }
    case FrameType::released: {
      const auto waiting = barriers_.find(reader.text(kMaxName));
      if (waiting != barriers_.end()) waiting->second = true;
      break;
    }
    case FrameType::ask_report:
      if (ask_report_) ask_report_();
      break;
    case FrameType::stop: {
      const auto code = static_cast<int>(reader.u32());
      std::string reason = reader.text(kMaxReason);
      lock.unlock();
      end({code, std::move(reason)});
      lock.lock();
      break;
    }
    default:
      return make_error(ErrorCode::bad_data, "a frame that only a process sends");
  }
  if (!reader.finished()) return make_error(ErrorCode::bad_data, "a frame is cut or too long");
  changed_.notify_all();
  return {};
}

void Bootstrap::Connection::end(const Stop& stop) {
  std::unique_lock lock(mutex_);
  const bool first = !stop_;
  stop_ = stop;
  const bool welcomed = welcomed_;
  changed_.notify_all();
  lock.unlock();
  if (!first || !welcomed) return;
  if (hosted_) ends_by_ = {steady_clock().now() + kForceLimit, stop.code};
  if (on_stop_) on_stop_(stop.code, stop.reason);
}

Error Bootstrap::Connection::ended_error() const {
  return make_error(ErrorCode::unreachable, fmt::format("the job is ending: {}", stop_->reason));
}

Expected<void> Bootstrap::Connection::send(std::span<const std::byte> frame) {
  const std::lock_guard lock(send_mutex_);
  return write_all(socket_.get(), frame);
}

Expected<std::vector<std::byte>> Bootstrap::Connection::lookup(PeId pe, Nanoseconds deadline) {
  std::unique_lock lock(mutex_);
  Lookup& mine = lookups_[pe];  // a map's element stays where it is
  if (++mine.waiters == 1) {
    lock.unlock();
    auto sent = send(FrameWriter(FrameType::get_address).u32(number(pe)).finish());
    lock.lock();
    if (!sent) {
      if (--mine.waiters == 0) lookups_.erase(pe);
      return sent.error();
    }
  }
  changed_.wait_until(lock, time_point(deadline), [&] { return mine.address || cut(); });
  Expected<std::vector<std::byte>> result =
      make_error(ErrorCode::timed_out, fmt::format("process {} published no address for PE {}",
                                                   number(layout_.process_of(pe)), number(pe)));
  if (mine.address) {
    result = *mine.address;
  } else if (cut()) {
    result = ended_error();
  }
  if (--mine.waiters == 0) lookups_.erase(pe);
  return result;
}

Expected<void> Bootstrap::Connection::barrier(std::string_view name, Nanoseconds deadline) {
  if (name.size() > kMaxName) return make_error(ErrorCode::bad_argument, "too long a barrier name");
  std::unique_lock lock(mutex_);
  const auto entry = barriers_.try_emplace(std::string(name), false);
  const auto mine = entry.first;
  if (!entry.second) {
    return make_error(ErrorCode::bad_argument,
                      fmt::format("this process waits at the barrier '{}' already", name));
  }
  lock.unlock();
  auto sent = send(FrameWriter(FrameType::barrier).text(name, kMaxName).finish());
  lock.lock();
  if (sent) changed_.wait_until(lock, time_point(deadline), [&] { return mine->second || cut(); });
  const bool released = mine->second;
  barriers_.erase(mine);
  if (released) return {};
  if (!sent) return sent.error();
  if (cut()) return ended_error();
  return make_error(ErrorCode::timed_out,
                    fmt::format("not all processes reached the barrier '{}'", name));
}

}  // namespace shoal::comm
