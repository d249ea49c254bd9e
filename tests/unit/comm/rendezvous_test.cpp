// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/bootstrap.hpp>
#include <shoal/comm/bootstrap/rendezvous.hpp>
#include <shoal/comm/bootstrap/socket.hpp>
#include <shoal/comm/log.hpp>
#include <shoal/comm/random.hpp>

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

using namespace shoal::comm;

namespace {

using Bytes = std::vector<std::byte>;

constexpr Nanoseconds kPatience = 20 * kSecond;

std::unique_ptr<Rendezvous> listen_for(std::uint32_t processes, const Secret& secret) {
  Rendezvous::Options options;
  options.job.processes = processes;
  auto rendezvous = Rendezvous::listen(std::move(options), secret);
  REQUIRE(rendezvous);
  return std::move(*rendezvous);
}

/// Steps until `done`, asleep in between.
void serve(Rendezvous& rendezvous, const std::function<bool()>& done) {
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

Identity small_identity() {
  Identity identity;
  identity.ucx = "1.13.1";
  return identity;
}

std::unique_ptr<Member> start_member(const Rendezvous& rendezvous, const Secret& secret,
                                     std::uint32_t rank, std::uint32_t processes, const Body& body,
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

void wait_for_stop(Bootstrap&, Member& member) {
  while (member.stop_code < 0) std::this_thread::yield();
}

Descriptor connect_raw(const Rendezvous& rendezvous) {
  auto socket = connect_to(rendezvous.address(), kPatience);
  REQUIRE(socket);
  return std::move(*socket);
}

/// True once the other side has closed; what it sent before is dropped.
bool closed(const Descriptor& socket) {
  std::array<std::byte, 4096> room;
  while (true) {
    const auto got = read_some(socket.get(), room);
    if (got.state != ReadEnd::more) return got.state == ReadEnd::closed;
  }
}

void send_raw(const Descriptor& socket, std::span<const std::byte> bytes) {
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

}  // namespace

TEST_CASE("processes meet, trade addresses, pass a barrier and hear the exit code") {
  const Secret secret = Secret::make().value();
  auto rendezvous = listen_for(4, secret);
  CHECK(rendezvous->address().starts_with("127.0.0.1:"));
  std::atomic<int> exchanged = 0;
  std::atomic<int> closed_together = 0;
  const Body body = [&](Bootstrap& bootstrap, Member& member) {
    const auto rank = number(bootstrap.process());
    const Bytes mine(rank + 1, static_cast<std::byte>(rank));
    if (bootstrap.layout().total_pes() == 4 && bootstrap.publish(PeId{rank}, mine)) {
      for (std::uint32_t k = 0; k < 4; ++k) {
        auto found = bootstrap.lookup(PeId{k});
        if (found && *found == Bytes(k + 1, static_cast<std::byte>(k))) ++exchanged;
      }
    }
    const bool passed(bootstrap.barrier("all", steady_clock().now() + kPatience));
    if (passed && rank == 2) bootstrap.exit(3);
    wait_for_stop(bootstrap, member);
    if (bootstrap.barrier("closing", steady_clock().now() + kPatience)) ++closed_together;
  };
  std::vector<std::unique_ptr<Member>> members;
  members.reserve(4);
  for (std::uint32_t k = 0; k < 4; ++k) {
    members.push_back(start_member(*rendezvous, secret, k, 4, body));
  }
  serve(*rendezvous, [&] { return rendezvous->job().verdict().has_value(); });
  CHECK(rendezvous->job().verdict()->code == 3);
  CHECK(rendezvous->job().verdict()->process == ProcessId{2});
  rendezvous->stop(3, "");
  serve(*rendezvous, [&] {
    return std::all_of(members.begin(), members.end(),
                       [](auto& member) { return member->done.load(); });
  });
  CHECK(exchanged == 16);
  CHECK(closed_together == 4);
  for (const auto& member : members) CHECK(member->stop_code == 3);
}

TEST_CASE("threads of one process look up the same address together") {
  const Secret secret = Secret::make().value();
  auto rendezvous = listen_for(1, secret);
  std::atomic<int> found = 0;
  auto member = start_member(*rendezvous, secret, 0, 1, [&](Bootstrap& bootstrap, Member&) {
    std::vector<std::thread> threads;
    threads.reserve(8);
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] {
        auto address = bootstrap.lookup(PeId{0});
        if (address && address->size() == 5) ++found;
      });
    }
    (void)bootstrap.publish(PeId{0}, Bytes(5));
    for (auto& thread : threads) thread.join();
  });
  serve(*rendezvous, [&] { return member->done.load(); });
  CHECK(found == 8);
}

TEST_CASE("a wait ends with the job, and so does the process when the rendezvous is gone") {
  const Secret secret = Secret::make().value();
  auto rendezvous = listen_for(2, secret);
  std::atomic<int> waits_ended = 0;
  const Body body = [&](Bootstrap& bootstrap, Member& member) {
    if (!bootstrap.lookup(PeId{1})) ++waits_ended;
    if (!bootstrap.barrier("never", steady_clock().now() + kPatience)) ++waits_ended;
    wait_for_stop(bootstrap, member);
  };
  auto first = start_member(*rendezvous, secret, 0, 2, body);
  auto second = start_member(*rendezvous, secret, 1, 2, body);
  serve(*rendezvous, [&] { return rendezvous->job().complete(); });
  serve(*rendezvous, [&, steps = 0]() mutable { return ++steps > 3; });
  rendezvous.reset();
  while (!first->done || !second->done) std::this_thread::yield();
  CHECK(waits_ended == 4);
  CHECK(first->stop_code == Bootstrap::kLauncherGone);
}

TEST_CASE("LCH-11: a process of another build learns from connect that the job is refused") {
  const Secret secret = Secret::make().value();
  auto rendezvous = listen_for(2, secret);
  std::atomic<int> joined = 0;
  const Body body = [&](Bootstrap&, Member&) { ++joined; };
  Identity other = small_identity();
  other.entry_digest[0] = std::byte{1};
  other.entries = "void Late::entry()";
  auto first = start_member(*rendezvous, secret, 0, 2, body);
  auto second = start_member(*rendezvous, secret, 1, 2, body, other);
  serve(*rendezvous, [&] { return rendezvous->job().verdict().has_value(); });
  const std::string& reason = rendezvous->job().verdict()->reason;
  CHECK(reason.find("only in process 1: void Late::entry()") != std::string::npos);
  rendezvous->stop(1, reason);
  serve(*rendezvous, [&] { return first->done && second->done; });
  CHECK(joined == 0);
}

TEST_CASE("once the job is complete nothing listens any more") {
  const Secret secret = Secret::make().value();
  auto rendezvous = listen_for(1, secret);
  auto member = start_member(*rendezvous, secret, 0, 1, wait_for_stop);
  serve(*rendezvous, [&] { return rendezvous->job().complete(); });
  CHECK_FALSE(connect_to(rendezvous->address(), kPatience));
  rendezvous->stop(0, "");
  serve(*rendezvous, [&] { return member->done.load(); });
}

TEST_CASE("SEC-01: ten thousand strangers and their garbage leave a job unharmed") {
  const Quiet quiet;
  const Secret secret = Secret::make().value();
  auto rendezvous = listen_for(2, secret);
  auto first = start_member(*rendezvous, secret, 0, 2, wait_for_stop);
  serve(*rendezvous, [&] { return rendezvous->job().joined(ProcessId{0}); });
  Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    const Descriptor stranger = connect_raw(*rendezvous);
    Bytes garbage(random.below(200));
    for (std::byte& byte : garbage) byte = static_cast<std::byte>(random());
    send_raw(stranger, garbage);
    rendezvous->step();
  }
  CHECK_FALSE(rendezvous->job().verdict());
  auto second = start_member(*rendezvous, secret, 1, 2, wait_for_stop);
  serve(*rendezvous, [&] { return rendezvous->job().complete(); });
  rendezvous->stop(0, "");
  serve(*rendezvous, [&] { return first->done && second->done; });
}

TEST_CASE("SEC-01: refusals cost at most one log line a second") {
  VirtualClock clock;
  Rendezvous::Options options;
  options.clock = &clock;
  auto rendezvous = Rendezvous::listen(std::move(options), Secret::make().value()).value();
  const CapturedErrors errors;
  for (Nanoseconds i = 1; i <= 300; ++i) {
    clock.set(i * 10 * kMillisecond);
    const Descriptor stranger = connect_raw(*rendezvous);
    send_raw(stranger, Bytes(kProofSize));
    serve(*rendezvous, [&] { return closed(stranger); });
  }
  CHECK(errors.lines() >= 2);
  CHECK(errors.lines() <= 4);
}

TEST_CASE("SEC-01: a megabyte of random bytes is cut off after the size of a proof") {
  const Quiet quiet;
  auto rendezvous = listen_for(1, Secret::make().value());
  const Descriptor stranger = connect_raw(*rendezvous);
  Bytes garbage(std::size_t{1} << 20U);
  Random random(2);
  for (std::byte& byte : garbage) byte = static_cast<std::byte>(random());
  send_raw(stranger, garbage);
  serve(*rendezvous, [&] { return closed(stranger); });
  CHECK_FALSE(rendezvous->job().verdict());
}

TEST_CASE("SEC-01: who sends one byte at a time is cut off at the limit, by the clock") {
  const Quiet quiet;
  VirtualClock clock;
  Rendezvous::Options options;
  options.clock = &clock;
  auto rendezvous = Rendezvous::listen(std::move(options), Secret::make().value()).value();
  const Descriptor stranger = connect_raw(*rendezvous);
  serve(*rendezvous, [&] { return rendezvous->deadline().has_value(); });
  CHECK(*rendezvous->deadline() == Rendezvous::kProofLimit);
  for (Nanoseconds second = 1; second < 5; ++second) {
    clock.set(second * kSecond);
    send_raw(stranger, Bytes(1));
    rendezvous->step();
    CHECK_FALSE(closed(stranger));
  }
  clock.set(Rendezvous::kProofLimit);
  serve(*rendezvous, [&] { return closed(stranger); });
  CHECK_FALSE(rendezvous->deadline());
}

TEST_CASE("SEC-01: silent strangers beyond the limit make the oldest of them give way") {
  const Quiet quiet;
  auto rendezvous = listen_for(1, Secret::make().value());
  std::vector<Descriptor> strangers;
  for (std::size_t i = 0; i < Rendezvous::kMaxUnproven + 1; ++i) {
    strangers.push_back(connect_raw(*rendezvous));
    rendezvous->step();
  }
  CHECK_FALSE(closed(strangers.front()));
  strangers.push_back(connect_raw(*rendezvous));
  serve(*rendezvous, [&] { return closed(strangers.front()); });
  CHECK_FALSE(closed(strangers[1]));
}

TEST_CASE("a second process that claims a taken rank is refused, and the first is not harmed") {
  const Quiet quiet;
  const Secret secret = Secret::make().value();
  auto rendezvous = listen_for(2, secret);
  auto first = start_member(*rendezvous, secret, 0, 2, wait_for_stop);
  serve(*rendezvous, [&] { return rendezvous->job().joined(ProcessId{0}); });
  auto twin = start_member(*rendezvous, secret, 0, 2, wait_for_stop);
  serve(*rendezvous, [&] { return twin->done.load(); });
  CHECK(twin->stop_code == -1);
  auto second = start_member(*rendezvous, secret, 1, 2, wait_for_stop);
  serve(*rendezvous, [&] { return rendezvous->job().complete(); });
  rendezvous->stop(0, "");
  serve(*rendezvous, [&] { return first->done && second->done; });
  CHECK(first->stop_code == 0);
}

TEST_CASE("LCH-08: a process that was started alone is a job of its own") {
  Identity identity;
  identity.pes = 3;
  auto bootstrap = Bootstrap::connect(identity, nullptr);
  REQUIRE(bootstrap);
  CHECK((*bootstrap)->alone());
  CHECK((*bootstrap)->layout().total_pes() == 3);
  CHECK((*bootstrap)->process() == ProcessId{0});
  REQUIRE((*bootstrap)->publish(PeId{2}, Bytes(4)));
  CHECK((*bootstrap)->lookup(PeId{2}).value().size() == 4);
  CHECK_FALSE((*bootstrap)->lookup(PeId{1}));
  CHECK((*bootstrap)->barrier("alone", 0));
}
