// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/bootstrap.hpp>
#include <shoal/comm/bootstrap/hosted_rendezvous.hpp>
#include <shoal/comm/bootstrap/socket.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <future>
#include <string>
#include <vector>

using namespace shoal::comm;

namespace {

struct Meeting {
  explicit Meeting(std::uint32_t processes, const char* host = "127.0.0.1") : count(processes) {
    Rendezvous::Options options;
    options.job.processes = processes;
    options.host = host;
    auto started = HostedRendezvous::start(std::move(options), secret);
    REQUIRE(started);
    rendezvous = std::move(*started);
  }
  Launch launch(std::uint32_t rank, const std::string& address) const {
    return {address, ProcessId{rank}, count, 1, secret, true};
  }
  std::uint32_t count;
  Secret secret = Secret::make().value();
  std::unique_ptr<HostedRendezvous> rendezvous;
};

struct Stopped {
  int code;
  std::string reason;
};

/// Joins, does `body`, leaves; what it was told of the job's end.
template <class Body>
std::future<Stopped> member(const Launch& launch, Body body) {
  return std::async(std::launch::async, [launch, body] {
    std::promise<Stopped> stop;
    auto stopped = stop.get_future();
    Identity identity;
    identity.ucx = "none";
    auto bootstrap =
        Bootstrap::connect(launch, identity, [&stop](int code, const std::string& reason) {
          stop.set_value({code, reason});
        });
    REQUIRE(bootstrap);
    if (!body(**bootstrap)) return Stopped{-1, "left"};
    return stopped.get();
  });
}

}  // namespace

TEST_CASE("a hosted job hears of its exit, and the host waits for all to leave") {
  Meeting meeting(3);
  std::vector<std::future<Stopped>> all;
  all.reserve(3);
  for (std::uint32_t k = 0; k < 3; ++k) {
    all.push_back(member(meeting.launch(k, meeting.rendezvous->address()), [k](Bootstrap& job) {
      if (k == 2) job.exit(7);
      return true;
    }));
  }
  all[0].wait();               // it has left as process 0 does, which then
  meeting.rendezvous.reset();  // serves on until the others have
  for (auto& one : all) CHECK(one.get().code == 7);
}

TEST_CASE("a hosted job ends when a process leaves it without a word, or is interrupted") {
  for (const bool leaves : {true, false}) {
    CAPTURE(leaves);
    Meeting meeting(2);
    auto stays =
        member(meeting.launch(0, meeting.rendezvous->address()), [](Bootstrap&) { return true; });
    auto goes = member(meeting.launch(1, meeting.rendezvous->address()), [&](Bootstrap& job) {
      if (!leaves) job.interrupted(SIGTERM);
      return !leaves;
    });
    goes.wait();
    const Stopped told = stays.get();
    CHECK(told.code == (leaves ? JobTable::kLostCode : 128 + SIGTERM));
    CHECK(told.reason.find(leaves ? "its connection ended" : "it got SIGTERM") !=
          std::string::npos);
  }
}

TEST_CASE("of several addresses the first that leads to the job is taken") {
  Meeting meeting(1, kAnyHost);
  const std::string& address = meeting.rendezvous->address();
  CHECK(address.find("127.0.0.1:") != std::string::npos);
  // One where nobody listens, and one where somebody else does: a rendezvous with another secret.
  auto closed = listen_at("127.0.0.1");
  REQUIRE(closed);
  closed->socket.reset();
  const Meeting other(1);
  const std::string list = closed->address + "," + other.rendezvous->address() + "," + address;
  auto joined = member(meeting.launch(0, list), [](Bootstrap& job) {
    job.exit(5);
    return true;
  });
  CHECK(joined.get().code == 5);
}
