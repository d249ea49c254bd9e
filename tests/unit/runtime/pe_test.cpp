// SPDX-License-Identifier: Apache-2.0
#include "bare_job.hpp"

#include <doctest/doctest.h>

using bare::Action;
using bare::Job;
using bare::Pe;

namespace {

/// Sends itself a message for ever.
void spin(Job& job, std::uint64_t& count) {
  ++count;
  job.send(0, [&job, &count] { spin(job, count); });
}

/// One message of this is always in the inbox of PE 0, so that each poll finds something.
void flood_inbox(Job& job) {
  job.pe().send_to(job.pe(), Job::make([&job] { flood_inbox(job); }));
}

/// A port whose progress does what it is told, once.
struct ScriptedPort final : shoal::comm::Port {
  using Completion = shoal::comm::Completion;
  void send(bare::PeId, shoal::comm::Frame*, shoal::comm::OutgoingBulk) override {}
  bool progress(shoal::comm::Receiver&) override {
    auto now = std::exchange(script, nullptr);
    if (now) now();
    return now != nullptr;
  }
  void receive(shoal::comm::BulkHandle, std::span<std::byte>, Completion&) override {}
  void release(shoal::comm::BulkHandle) override {}
  bool arm() override { return true; }
  int event_fd() const noexcept override { return -1; }
  shoal::comm::Expected<void> close(shoal::comm::Receiver&, bare::Nanoseconds) override {
    return {};
  }
  std::function<void()> script;
};

bare::Task<> tick(Job& job, bare::Nanoseconds pause, std::vector<bare::Nanoseconds>& times) {
  for (;;) {
    co_await bare::sleep_for(std::chrono::nanoseconds(pause));
    times.push_back(job.now());
  }
}

}  // namespace

TEST_CASE("messages run in the order in which they were sent") {
  Job job;
  std::vector<int> seen;
  for (int i = 0; i < 1000; ++i) job.send(0, [&seen, i] { seen.push_back(i); });
  job.run();
  REQUIRE(seen.size() == 1000);
  CHECK(std::is_sorted(seen.begin(), seen.end()));
}

TEST_CASE("a step runs a bounded number of messages") {
  Job job;
  std::uint64_t count = 0;
  job.send(0, [&] { spin(job, count); });
  CHECK(job.pe().step());
  CHECK(count == Pe::kBatch);
}

TEST_CASE("what a port hands over runs at once if nothing was before it, and never nested") {
  auto owned = std::make_unique<ScriptedPort>();
  ScriptedPort& port = *owned;
  Job job(1, std::move(owned));
  Pe& pe = job.pe();
  std::string seen;
  const auto hand_over = [&](Action::Body body) {
    pe.at_once([&] { pe.send_here(Job::make(std::move(body))); });
  };
  port.script = [&] {
    hand_over([&] {
      seen += "1(";
      hand_over([&] { seen += "3"; });  // as a send may that makes progress
      seen += ")";
    });
    seen += "2";
    hand_over([&] { seen += "4"; });  // 3 is before it
    seen += " ";
  };
  job.run();
  CHECK(seen == "1()2 34");
  hand_over([&] { seen += "6"; });  // not from the port's progress
  seen += "5";
  job.run();
  CHECK(seen == "1()2 3456");
  port.script = [&] {
    hand_over([&] { pe.exit(0); });
    hand_over([&] { seen += "too late"; });
  };
  job.send_and_run([] {});
  CHECK(seen == "1()2 3456");
  CHECK(job.stopped());
}

TEST_CASE("SCHED-02 a message from another PE is served beside endless self-sends") {
  Job job(2);
  std::uint64_t count = 0;
  std::uint64_t served_at = 0;
  job.send(0, [&] { spin(job, count); });
  for (int i = 0; i < 10; ++i) job.pe().step();
  const std::uint64_t posted_at = count;
  job.pe().post(Job::make([&] { served_at = count; }));
  ++job.pe(1).counters.created;
  for (int i = 0; i < 10; ++i) job.pe().step();
  CHECK(served_at > posted_at);
  CHECK(served_at - posted_at <= 4 * Pe::kBatch);
}

TEST_CASE("SCHED-02 another actor's message is served beside endless self-sends") {
  Job job;
  std::uint64_t count = 0;
  std::uint64_t served_at = 0;
  job.send(0, [&] { spin(job, count); });
  job.pe().step();
  const std::uint64_t sent_at = count;
  job.send(0, [&] { served_at = count; });
  job.pe().step();
  CHECK(served_at == sent_at + 1);
}

TEST_CASE("SCHED-02 a timer fires beside endless self-sends") {
  Job job;
  std::uint64_t count = 0;
  std::vector<bare::Nanoseconds> times;
  job.send(0, [&] { (void)tick(job, bare::kMillisecond, times); });
  job.send(0, [&] { spin(job, count); });
  for (int i = 0; i < 1000; ++i) {
    job.pe().step();
    job.process().clock->now();
  }
  CHECK(times.empty());
}

TEST_CASE("SCHED-10 timers fire while queue and inbox never run empty") {
  Job job;
  std::uint64_t count = 0;
  bool fired = false;
  struct Sleeper {
    static bare::Task<> sleep(bool& woke) {
      co_await bare::sleep_for(std::chrono::nanoseconds(0));
      woke = true;
    }
  };
  job.send(0, [&] { spin(job, count); });
  job.send(0, [&] { flood_inbox(job); });
  job.send(0, [&] { (void)Sleeper::sleep(fired); });
  for (int i = 0; i < 64 && !fired; ++i) job.pe().step();
  CHECK(fired);
}

TEST_CASE("SCHED-10 timers and messages of others are late by few entries where entries are long") {
  Job job(2);
  struct Long {
    static void run(Job& in, int left) {
      in.take(500 * bare::kMicrosecond);
      if (left != 0) in.send(0, [&in, left] { run(in, left - 1); });
    }
  };
  std::vector<bare::Nanoseconds> times;
  job.send(0, [&] { (void)tick(job, bare::kMillisecond, times); });
  job.send(0, [&] { Long::run(job, 20'000); });  // ten seconds
  bare::Nanoseconds longest = 0;
  while (job.now() < 10 * bare::kSecond) {
    const bare::Nanoseconds posted = job.now();
    bool served = false;
    bare::current_pe = &job.pe(1);
    job.pe(1).send_to(job.pe(0), Job::make([&served] { served = true; }));
    bare::current_pe = &job.pe(0);
    while (!served) job.pe().step();
    if (job.now() > bare::kSecond) longest = std::max(longest, job.now() - posted);
  }
  CHECK(longest <= 3 * bare::kMillisecond);
  CHECK(times.size() >= 3'000);
}

TEST_CASE("a negative priority runs before, a positive after what has none") {
  Job job;
  std::vector<int> seen;
  const auto send = [&](std::int32_t priority) {
    Action* action = Job::make([&seen, priority] { seen.push_back(priority); });
    action->priority = priority;
    job.pe().send_here(action);
  };
  for (const std::int32_t priority : {0, 5, -1, 0, -7, 2}) send(priority);
  job.run();
  CHECK(seen == std::vector<int>{-7, -1, 0, 0, 2, 5});
}

TEST_CASE("the first message to a PE that sleeps wakes it, the second does not") {
  Job job(2);
  REQUIRE(job.pe(1).inbox().prepare_sleep());
  bare::current_pe = &job.pe(0);
  job.pe(0).send_to(job.pe(1), Job::make([] {}));
  job.pe(0).send_to(job.pe(1), Job::make([] {}));
  CHECK(job.wakes == 1);
  CHECK_FALSE(job.pe(1).inbox().prepare_sleep());
}

TEST_CASE("SCHED-13 no message of the program runs after exit, on whichever PE it was called") {
  for (const std::uint32_t caller : {0U, 1U, 5U}) {
    Job job(6);
    bool exited = false;
    bool ran = false;
    job.send(caller, [&] {
      job.pe(caller).exit(3);
      exited = true;
      job.pe(caller).send_here(Job::make([&ran] { ran = true; }));
    });
    job.run();
    CHECK(exited);
    CHECK_FALSE(ran);
    CHECK(job.stopped());
    for (std::uint32_t i = 0; i < 6; ++i) CHECK(job.pe(i).exit_code() == 3);
  }
}

TEST_CASE("the first exit decides the code") {
  Job job(2);
  job.send(0, [&] {
    job.pe().exit(3);
    job.pe().exit(4);
  });
  job.send(1, [&] { job.pe(1).exit(5); });
  job.run();
  CHECK(job.pe(0).exit_code() == 3);
  CHECK(job.pe(1).exit_code() == 3);
}

TEST_CASE("SCHED-14 a timer of an hour does not keep the program alive after exit") {
  struct Sleeper {
    static bare::Task<> sleep(std::shared_ptr<int> held) {
      co_await bare::sleep_for(std::chrono::hours(1));
      *held = 1;
    }
  };
  auto held = std::make_shared<int>(0);
  {
    Job job;
    job.send(0, [&] { (void)Sleeper::sleep(held); });
    job.send(0, [&] { job.pe().exit(0); });
    CHECK(job.run_to_end(bare::kSecond));
  }
  CHECK(*held == 0);
  CHECK(held.use_count() == 1);
}

TEST_CASE("a timer can be cancelled, and is not owed then") {
  Job job;
  bool fired = false;
  Action* action = Job::make([&fired] { fired = true; });
  job.pe().set_timer(10, action);
  CHECK(job.pe().counters.timers == 1);
  CHECK(job.pe().cancel_timer(action));
  CHECK(job.pe().counters.timers == 0);
  CHECK(job.pe().counters.created == job.pe().counters.processed);
  Action::drop(job.pe(), action);
  job.advance(100);
  CHECK_FALSE(fired);
}

TEST_CASE("a message that runs is named") {
  Job job;
  std::string name;
  job.send_and_run([&] { name = job.pe().describe_current(); });
  CHECK(name == "the action");
  CHECK(job.pe().current() == nullptr);
}

TEST_CASE("messages that were never run are dropped with what they hold") {
  auto held = std::make_shared<int>(0);
  {
    Job job(2);
    job.pe(0).send_to(job.pe(1), Job::make([held] {}));
    job.send(0, [held] {});
    job.pe(0).set_timer(5, Job::make([held] {}));
  }
  CHECK(held.use_count() == 1);
}

TEST_CASE("the pool of a PE stops growing while messages go round") {
  Job job(2);
  int left = 100'000;
  struct Ping {
    static void go(Job& in, int& more, std::uint32_t to) {
      if (--more == 0) return;
      Pe& here = bare::this_pe();
      auto* action = Job::make([&in, &more, to] { go(in, more, 1 - to); });
      if (&here == &in.pe(to)) {
        here.send_here(action);
      } else {
        here.send_to(in.pe(to), action);
      }
    }
  };
  std::size_t after_warm_up = 0;
  for (int i = 0; i < 50; ++i) job.send(0, [&] { Ping::go(job, left, 1); });
  for (bool worked = true; worked;) {
    worked = false;
    for (std::uint32_t i = 0; i < 2; ++i) {
      bare::current_pe = &job.pe(i);
      worked |= job.pe(i).step();
    }
    if (after_warm_up == 0 && left < 90'000) {
      after_warm_up = job.pe(0).pool().reserved_bytes() + job.pe(1).pool().reserved_bytes();
    }
    if (left <= 0) break;
  }
  CHECK(job.pe(0).pool().reserved_bytes() + job.pe(1).pool().reserved_bytes() == after_warm_up);
}
