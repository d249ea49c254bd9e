// SPDX-License-Identifier: Apache-2.0
#include "rendezvous_job.hpp"

using namespace rendezvous_job;  // NOLINT(google-build-using-namespace)

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
