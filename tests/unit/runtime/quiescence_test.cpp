// SPDX-License-Identifier: Apache-2.0
#include "bare_job.hpp"

#include <doctest/doctest.h>

#include "../../in_child.hpp"

using bare::Job;
using bare::Promise;
using bare::Task;

namespace {

Task<> note_quiet(Job& job, std::vector<bare::Nanoseconds>& when) {
  co_await bare::QuiescenceWait{};
  when.push_back(job.now());
}

void send_chain(Job& job, int left, int& done) {
  ++done;
  if (left != 0) job.send(0, [&job, left, &done] { send_chain(job, left - 1, done); });
}

Task<> timer_chain(int generations, int& done) {
  for (int i = 0; i < generations; ++i) {
    co_await bare::sleep_for(std::chrono::milliseconds(20));
    ++done;
  }
}

void end_program(Job& job) {
  job.send_and_run([&] { job.pe().quiescence().program_ended(); });
}

}  // namespace

TEST_CASE("RED-04a quiescence does not come before ten thousand self-sends have run") {
  Job job(8);
  std::vector<bare::Nanoseconds> quiet;
  int done = 0;
  int done_when_quiet = 0;
  struct Watch {
    static Task<> wait(int& now, int& seen) {
      co_await bare::QuiescenceWait{};
      seen = now;
    }
  };
  job.send(0, [&] { (void)Watch::wait(done, done_when_quiet); });
  job.send_and_run([&] { send_chain(job, 10'000, done); });
  job.advance(bare::kSecond);
  CHECK(done_when_quiet == 10'001);
}

TEST_CASE("RED-04b quiescence does not come while timers that may send are set") {
  Job job(4);
  std::vector<bare::Nanoseconds> quiet;
  int done = 0;
  job.send(1, [&] { (void)timer_chain(50, done); });
  job.send_and_run([&] { (void)note_quiet(job, quiet); });
  CHECK_FALSE(job.run_to_end(10 * bare::kSecond));
  REQUIRE(quiet.size() == 1);
  CHECK(done == 50);
  CHECK(quiet[0] >= 1000 * bare::kMillisecond);
}

TEST_CASE("RED-04c quiescence does not come while something is held back") {
  Job job(2);
  std::vector<bare::Nanoseconds> quiet;
  job.send(1, [&] { job.pe(1).hold(false); });
  job.send_and_run([&] { (void)note_quiet(job, quiet); });
  for (int i = 0; i < 100; ++i) job.advance(bare::kMillisecond);
  CHECK(quiet.empty());
  job.send(1, [&] { job.pe(1).release_hold(false); });
  job.run();
  for (int i = 0; i < 100; ++i) job.advance(bare::kMillisecond);
  CHECK(quiet.size() == 1);
}

TEST_CASE("RED-05 quiescence is told to each that asked, wherever and whenever it did") {
  Job job(3);
  std::vector<bare::Nanoseconds> quiet;
  struct InFiber {
    static void wait(bare::Fiber& fiber, void* times) {
      fiber.await(bare::QuiescenceWait{});
      static_cast<std::vector<bare::Nanoseconds>*>(times)->push_back(0);
    }
  };
  job.send(0, [&] { (void)note_quiet(job, quiet); });
  job.send(2, [&] { (void)note_quiet(job, quiet); });
  job.send(2, [&] { (void)note_quiet(job, quiet); });
  job.send(1, [&] { bare::start_fiber(job.pe(1), {}, &InFiber::wait, &quiet); });
  job.run();
  for (int i = 0; i < 10; ++i) job.advance(bare::kMillisecond);
  CHECK(quiet.size() == 4);
}

TEST_CASE("RED-05 quiescence can be asked for again and again") {
  struct Rounds {
    static Task<> go(Job& job, int& rounds) {
      for (int i = 0; i < 100; ++i) {
        job.send(1, [] {});
        co_await bare::QuiescenceWait{};
        ++rounds;
      }
    }
  };
  Job job(2);
  int rounds = 0;
  job.send_and_run([&] { (void)Rounds::go(job, rounds); });
  for (int i = 0; i < 200; ++i) job.advance(bare::kMillisecond);
  CHECK(rounds == 100);
}

TEST_CASE("a program whose task has ended ends when it is quiet") {
  Job job(5);
  int done = 0;
  job.send_and_run([&] { send_chain(job, 100, done); });
  end_program(job);
  CHECK(job.run_to_end(bare::kSecond));
  CHECK(job.pe(4).exit_code() == 0);
}

TEST_CASE("a future that nobody can resolve any more is reported as a deadlock") {
  struct Waits {
    static Task<> go(bare::Future<void> future) { co_await future; }
  };
  Job job(3);
  Promise<void> never;
  job.send(0, [&] { (void)Waits::go(never.future()); });
  CHECK(job.run_to_end(10 * bare::kSecond));
  CHECK(job.pe(0).exit_code() == 124);
  REQUIRE(job.said.size() == 2);
  CHECK(says(job.said[0], "deadlock: nothing moves any more; 1 wait, 1 messages"));
  CHECK(says(job.said[1], "PE 0: the action waits for a promise, for "));
}

TEST_CASE("a PE that does not answer for the time allowed is named, once") {
  Job job(2);
  const auto step_pe_0 = [&] {
    bare::current_pe = &job.pe(0);
    while (job.pe(0).step() || job.pe(0).settle()) {
    }
  };
  const auto seconds_pass = [&](unsigned seconds) {
    for (unsigned i = 0; i < 10 * seconds; ++i) {
      step_pe_0();
      job.take(bare::kSecond / 10);
    }
  };
  seconds_pass(50);
  CHECK(job.said.empty());
  seconds_pass(100);
  REQUIRE(job.said.size() == 1);
  CHECK(says(job.said[0], "PE 1 or one below it has not answered for 60 s"));
}

TEST_CASE("a service that waits for a future is idle, not dead") {
  struct Serves {
    static Task<> go(bare::Future<void> future, int& served) {
      co_await bare::service(future);
      ++served;
    }
  };
  Job job;
  int served = 0;
  Promise<void> request;
  job.send(0, [&] { (void)Serves::go(request.future(), served); });
  CHECK_FALSE(job.run_to_end(10 * bare::kSecond));
  CHECK(job.said.empty());
  job.send_and_run([&] { request.set(); });
  CHECK(served == 1);
}

TEST_CASE("a program may end while a service waits") {
  struct Serves {
    static Task<> go(bare::Future<void> future) { co_await bare::service(future); }
  };
  Job job;
  Promise<void> request;
  job.send_and_run([&] { (void)Serves::go(request.future()); });
  end_program(job);
  CHECK(job.run_to_end(bare::kSecond));
  CHECK(job.pe().exit_code() == 0);
}

TEST_CASE("work that is lost without a trace is reported after the time allowed") {
  Job job(2);
  job.process().hang_timeout = 30 * bare::kSecond;
  job.send(1, [&] { job.pe(1).hold(false); });
  end_program(job);
  CHECK(job.run_to_end(100 * bare::kSecond));
  CHECK(job.pe(0).exit_code() == 124);
  REQUIRE_FALSE(job.said.empty());
  CHECK(says(job.said[0], "no progress"));
  CHECK(job.now() >= 30 * bare::kSecond);
}

TEST_CASE("a set timer is no deadlock, however long nothing else happens") {
  struct Sleeper {
    static Task<> sleep(Promise<void> promise) {
      co_await bare::sleep_for(std::chrono::hours(1));
      promise.set();
    }
    static Task<> wait(bare::Future<void> future, bool& woke) {
      co_await future;
      woke = true;
    }
  };
  Job job(2);
  bool woke = false;
  job.send_and_run([&] {
    Promise<void> promise;
    (void)Sleeper::wait(promise.future(), woke);
    (void)Sleeper::sleep(std::move(promise));
  });
  end_program(job);
  CHECK(job.run_to_end(7200 * bare::kSecond));
  CHECK(woke);
  CHECK(job.pe().exit_code() == 0);
}

TEST_CASE("COMM-13 quiescence comes when the counters pass 2^31 and 2^32") {
  for (const std::uint64_t start : {(1ULL << 31U) - 5, (1ULL << 32U) - 5}) {
    Job job(3);
    for (std::uint32_t i = 0; i < 3; ++i) {
      job.pe(i).counters.created = job.pe(i).counters.processed = start;
    }
    int done = 0;
    std::vector<bare::Nanoseconds> quiet;
    job.send(0, [&] { (void)note_quiet(job, quiet); });
    job.send_and_run([&] { send_chain(job, 20, done); });
    for (int i = 0; i < 10; ++i) job.advance(bare::kMillisecond);
    CHECK(done == 21);
    CHECK(quiet.size() == 1);
    end_program(job);
    CHECK(job.run_to_end());
  }
}
