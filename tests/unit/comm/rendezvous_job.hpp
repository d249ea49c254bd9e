// SPDX-License-Identifier: Apache-2.0
// The problem: the rendezvous is to be tested over real sockets, with processes that are threads of
// the test, with strangers, and with what it says. Offered: these, and the loop that serves them.
#pragma once

#include <shoal/comm/bootstrap/bootstrap.hpp>
#include <shoal/comm/bootstrap/rendezvous.hpp>
#include <shoal/comm/bootstrap/socket.hpp>
#include <shoal/comm/log.hpp>

#include <doctest/doctest.h>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

namespace rendezvous_job {

using namespace shoal::comm;  // NOLINT(google-build-using-namespace): a test's vocabulary

using Bytes = std::vector<std::byte>;

inline constexpr Nanoseconds kPatience = 20 * kSecond;

inline std::unique_ptr<Rendezvous> listen_for(std::uint32_t processes, const Secret& secret) {
  Rendezvous::Options options;
  options.job.processes = processes;
  auto rendezvous = Rendezvous::listen(std::move(options), secret);
  REQUIRE(rendezvous);
  return std::move(*rendezvous);
}

/// Steps until `done`, asleep in between.
inline void serve(Rendezvous& rendezvous, const std::function<bool()>& done) {
  const Nanoseconds limit = steady_clock().now() + kPatience;
  while (!done()) {
    REQUIRE(steady_clock().now() < limit);
    wait_for(rendezvous.fd(), POLLIN, steady_clock().now() + 2 * kMillisecond);
    rendezvous.step();
  }
}

/// A process of the job, as a thread of this one.
struct Member {
  std::atomic<bool> done = false;
  std::atomic<int> stop_code = -1;
  std::thread thread;
  ~Member() { thread.join(); }
};

using Body = std::function<void(Bootstrap&, Member&)>;

inline Identity small_identity() {
  Identity identity;
  identity.ucx = "1.13.1";
  return identity;
}

inline std::unique_ptr<Member> start_member(const Rendezvous& rendezvous, const Secret& secret,
                                            std::uint32_t rank, std::uint32_t processes,
                                            const Body& body,
                                            const Identity& identity = small_identity()) {
  auto member = std::make_unique<Member>();
  Launch launch{rendezvous.address(), ProcessId{rank}, processes, 1, secret};
  member->thread = std::thread([self = member.get(), launch, body, identity] {
    auto bootstrap = Bootstrap::connect(
        launch, identity, [self](int code, const std::string&) { self->stop_code = code; });
    if (bootstrap) body(**bootstrap, *self);
    self->done = true;
  });
  return member;
}

inline void wait_for_stop(Bootstrap&, Member& member) {
  while (member.stop_code < 0) std::this_thread::yield();
}

inline Descriptor connect_raw(const Rendezvous& rendezvous) {
  auto socket = connect_to(rendezvous.address(), kPatience);
  REQUIRE(socket);
  return std::move(*socket);
}

/// True once the other side has closed; what it sent before is dropped.
inline bool closed(const Descriptor& socket) {
  std::array<std::byte, 4096> room;
  while (true) {
    const auto got = read_some(socket.get(), room);
    if (got.state != ReadEnd::more) return got.state == ReadEnd::closed;
  }
}

inline void send_raw(const Descriptor& socket, std::span<const std::byte> bytes) {
  ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// Where stderr goes while it lives.
struct CapturedErrors {
  CapturedErrors() : file(std::tmpfile()), before(::dup(STDERR_FILENO)) {
    ::dup2(::fileno(file), STDERR_FILENO);
  }
  ~CapturedErrors() {
    ::dup2(before.get(), STDERR_FILENO);
    std::fclose(file);
  }
  long lines() const {
    std::fseek(file, 0, SEEK_SET);
    long count = 0;
    for (int c; (c = std::fgetc(file)) != EOF;) count += c == '\n' ? 1 : 0;
    return count;
  }
  std::FILE* file;
  Descriptor before;
};

/// Silences the refusals that these tests provoke.
struct Quiet {
  Quiet() { set_log_level(Level::error); }
  ~Quiet() { set_log_level(Level::warning); }
};

}  // namespace rendezvous_job
