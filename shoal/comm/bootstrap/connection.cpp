// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/connection.hpp>

#include <shoal/comm/bootstrap/handshake.hpp>
#include <shoal/comm/bootstrap/socket.hpp>

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <system_error>

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

Expected<void> prove(int socket, const Launch& launch) {
  ClientHandshake handshake(launch.secret, launch.process);
  const Nanoseconds deadline = steady_clock().now() + kProofLimit;
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

Bootstrap::Connection::Connection(ProcessId process, Identity identity, StopHandler on_stop)
    : process_(process), identity_(std::move(identity)), on_stop_(std::move(on_stop)) {}

Bootstrap::Connection::~Connection() {
  if (!thread_.joinable()) return;
  const std::uint64_t one = 1;
  while (::write(wake_.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
  thread_.join();
}

Expected<void> Bootstrap::Connection::open(const Launch& launch) {
  auto socket = authenticate(launch);
  if (!socket) return socket.error();
  socket_ = std::move(*socket);
  wake_.reset(::eventfd(0, EFD_CLOEXEC));
  if (!wake_) return system_error("cannot make an eventfd", errno);
  if (auto sent = send(encode_hello(identity_)); !sent) return sent.error();
  if (auto started = start_thread(); !started) return started.error();
  std::unique_lock lock(mutex_);
  // No limit of its own: the rendezvous limits the start, and a lost connection ends the wait.
  changed_.wait(lock, [&] { return welcomed_ || stop_; });
  if (!welcomed_) return make_error(ErrorCode::mismatch, stop_->reason);
  return {};
}

Expected<Descriptor> Bootstrap::Connection::authenticate(const Launch& launch) {
  for (int attempt = 1;; ++attempt) {
    auto socket = connect_to(launch.rendezvous, kProofLimit);
    if (!socket) return socket.error();
    auto proved = prove(socket->get(), launch);
    if (proved) return socket;
    if (attempt == kAttempts) return proved.error();
  }
}

Expected<void> Bootstrap::Connection::start_thread() {
  // Signals are for the program's own threads.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Expected<void> result;
  try {
    thread_ = std::thread([this] { read_until_the_end(); });
    pthread_setname_np(thread_.native_handle(), "shoal-bootstrap");
  } catch (const std::system_error& error) {
    result = make_error(ErrorCode::no_memory, fmt::format("no thread: {}", error.what()));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

void Bootstrap::Connection::read_until_the_end() {
  FrameReader frames;
  std::array<pollfd, 2> polled{pollfd{socket_.get(), POLLIN, 0}, pollfd{wake_.get(), POLLIN, 0}};
  while (true) {
    if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return;
    if (polled[1].revents != 0) return;
    if (polled[0].revents != 0 && !read_frames(frames)) return;
  }
}

bool Bootstrap::Connection::read_frames(FrameReader& frames) {
  std::array<std::byte, 1U << 14U> room;
  const auto got = read_some(socket_.get(), room);
  if (got.state == ReadEnd::blocked) return true;
  if (got.state == ReadEnd::closed) {
    end({kLauncherGone, "the launcher is gone"});
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
  if (first && welcomed && on_stop_) on_stop_(stop.code, stop.reason);
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
