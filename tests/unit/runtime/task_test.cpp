// SPDX-License-Identifier: Apache-2.0
#include "bare_job.hpp"

#include <doctest/doctest.h>

using bare::Future;
using bare::Job;
using bare::Promise;
using bare::Task;

namespace {

Task<int> give(int value) { co_return value; }

Task<int> give_later(int value) {
  co_await bare::Yield{};
  co_return value;
}

Task<int> throw_now() {
  throw std::runtime_error("at once");
  co_return 0;
}

Task<int> throw_later() {
  co_await bare::Yield{};
  throw std::runtime_error("later");
}

Task<std::unique_ptr<int>> give_ownership(Future<void> when) {
  co_await when;
  co_return std::make_unique<int>(9);
}

Task<> set(int& target, int value) {
  target = value;
  co_return;
}

}  // namespace

TEST_CASE("a task runs up to its first wait within the call that starts it") {
  Job job;
  int seen = 0;
  job.send_and_run([&] {
    const Task<> task = set(seen, 5);
    CHECK(seen == 5);
    CHECK(task.ready());
  });
}

TEST_CASE("awaiting a task gives its result, whether it waited or not") {
  Job job;
  int sum = 0;
  const auto add = [](int& to) -> Task<> {
    to += co_await give(1);
    to += co_await give_later(10);
  };
  job.send_and_run([&] { (void)add(sum); });
  CHECK(sum == 11);
}

TEST_CASE("tasks await tasks await tasks") {
  struct Nest {
    static Task<int> down(int depth) {
      if (depth == 0) co_return co_await give_later(1);
      co_return 1 + co_await down(depth - 1);
    }
    static Task<> start(int& result) { result = co_await down(100); }
  };
  Job job;
  int result = 0;
  job.send_and_run([&] { (void)Nest::start(result); });
  CHECK(result == 101);
}

TEST_CASE("an exception goes to whoever awaits, before and after the task's first wait") {
  struct Catch {
    static Task<> both(std::vector<std::string>& texts) {
      try {
        (void)co_await throw_now();
      } catch (const std::runtime_error& error) {
        texts.emplace_back(error.what());
      }
      try {
        (void)co_await throw_later();
      } catch (const std::runtime_error& error) {
        texts.emplace_back(error.what());
      }
    }
  };
  Job job;
  std::vector<std::string> texts;
  job.send_and_run([&] { (void)Catch::both(texts); });
  CHECK(texts == std::vector<std::string>{"at once", "later"});
  CHECK(job.layer.unhandled_texts.empty());
}

TEST_CASE("an exception that leaves a discarded task is told") {
  Job job;
  job.send_and_run([] { (void)throw_now(); });
  job.send_and_run([] { (void)throw_later(); });
  CHECK(job.layer.unhandled_texts == std::vector<std::string>{"at once", "later"});
}

TEST_CASE("an exception that was awaited is not told a second time") {
  struct Catch {
    static Task<> once(int& caught) {
      Task<int> task = throw_later();
      try {
        (void)co_await task;
      } catch (const std::runtime_error&) {
        ++caught;
      }
    }
  };
  Job job;
  int caught = 0;
  job.send_and_run([&] { (void)Catch::once(caught); });
  CHECK(caught == 1);
  CHECK(job.layer.unhandled_texts.empty());
}

TEST_CASE("a result that can only be moved is moved out") {
  struct Owner {
    static Task<> take(Future<void> when, std::unique_ptr<int>& target) {
      target = co_await give_ownership(when);
    }
  };
  Job job;
  std::unique_ptr<int> target;
  Promise<void> promise;
  job.send_and_run([&] { (void)Owner::take(promise.future(), target); });
  CHECK(target == nullptr);
  job.send_and_run([&] { promise.set(); });
  REQUIRE(target != nullptr);
  CHECK(*target == 9);
}

TEST_CASE("a discarded task goes on to its end") {
  struct Slow {
    static Task<> count(int& steps) {
      for (int i = 0; i < 3; ++i) {
        co_await bare::Yield{};
        ++steps;
      }
    }
  };
  Job job;
  int steps = 0;
  job.send_and_run([&] { (void)Slow::count(steps); });
  CHECK(steps == 3);
}

TEST_CASE("a task that still waits at the end is destroyed with what it holds") {
  struct Holder {
    static Task<> wait(Future<void> future, std::shared_ptr<int> held) {
      co_await future;
      *held = 1;
    }
    static Task<> outer(Future<void> future, std::shared_ptr<int> held) {
      co_await wait(future, held);
    }
  };
  auto held = std::make_shared<int>(0);
  {
    Job job;
    Promise<void> promise;
    job.send_and_run([&] {
      (void)Holder::wait(promise.future(), held);
      (void)Holder::outer(promise.future(), held);
    });
    CHECK(held.use_count() > 2);
    promise.set();
  }
  CHECK(held.use_count() == 1);
}

TEST_CASE("a task that waits for a promise of another task ends with it") {
  struct Pair {
    static Task<> keeps(Promise<void> mine, Future<void> other) {
      co_await other;
      mine.set();
    }
    static Task<> waits(Future<void> of, std::shared_ptr<int>) { co_await of; }
  };
  auto held = std::make_shared<int>(0);
  {
    Job job;
    Promise<void> never;
    job.send_and_run([&] {
      // Whichever of the two is destroyed first, the other must not be resumed.
      Promise<void> first;
      (void)Pair::waits(first.future(), held);
      const Future<void> of_first = first.future();
      (void)Pair::keeps(std::move(first), never.future());
      (void)Pair::waits(of_first, held);
    });
  }
  CHECK(held.use_count() == 1);
}

TEST_CASE("SCHED-04 a million awaits of ready tasks need no stack") {
  struct Chain {
    static Task<> ready(std::uint64_t& sum) {
      for (int i = 0; i < 1'000'000; ++i) sum += static_cast<std::uint64_t>(co_await give(1));
    }
  };
  Job job;
  std::uint64_t sum = 0;
  job.send_and_run([&] { (void)Chain::ready(sum); });
  CHECK(sum == 1'000'000);
}

TEST_CASE("SCHED-04 a chain of a million tasks, each awaiting the one before, ends") {
  struct Chain {
    static Task<std::uint64_t> link(Task<std::uint64_t> before) {
      const std::uint64_t value = co_await before;
      co_return value + 1;
    }
    static Task<std::uint64_t> first(Future<void> start) {
      co_await start;
      co_return 1;
    }
    static Task<> last(Task<std::uint64_t> before, std::uint64_t& result) {
      result = co_await before;
    }
  };
  Job job;
  std::uint64_t result = 0;
  Promise<void> start;
  job.send_and_run([&] {
    Task<std::uint64_t> task = Chain::first(start.future());
    for (int i = 1; i < 1'000'000; ++i) task = Chain::link(std::move(task));
    (void)Chain::last(std::move(task), result);
  });
  CHECK(result == 0);
  job.send_and_run([&] { start.set(); });
  CHECK(result == 1'000'000);
}

TEST_CASE("SCHED-04 a recursion of a million tasks, none of which waits before, ends") {
  struct Nest {
    static Task<std::uint64_t> down(int depth) {  // NOLINT(misc-no-recursion): the point
      if (depth == 0) co_return 0;
      co_return 1 + co_await down(depth - 1);
    }
    static Task<> start(std::uint64_t& result) { result = co_await down(1'000'000); }
  };
  Job job;
  std::uint64_t result = 0;
  job.send_and_run([&] { (void)Nest::start(result); });
  CHECK(result == 1'000'000);
}

TEST_CASE("SCHED-04 a recursion of tasks within a fiber does not overflow its stack") {
  struct Nest {
    static Task<int> down(int depth) {  // NOLINT(misc-no-recursion): the point
      if (depth == 0) co_return 0;
      co_return 1 + co_await down(depth - 1);
    }
    static void run(bare::Fiber& fiber, void* result) {
      *static_cast<int*>(result) = fiber.await(down(100'000));
    }
  };
  Job job;
  int result = 0;
  job.send_and_run([&] { bare::start_fiber(job.pe(), {}, &Nest::run, &result); });
  CHECK(result == 100'000);
}

TEST_CASE("SCHED-04 a million tasks that await one future all go on") {
  struct Many {
    static Task<> wait(Future<void> future, std::uint64_t& count) {
      co_await future;
      ++count;
    }
  };
  Job job;
  std::uint64_t count = 0;
  Promise<void> promise;
  job.send_and_run([&] {
    for (int i = 0; i < 1'000'000; ++i) (void)Many::wait(promise.future(), count);
  });
  job.send_and_run([&] { promise.set(); });
  CHECK(count == 1'000'000);
}

TEST_CASE("a task sleeps at least as long as it asked") {
  struct Sleeper {
    static Task<> sleep(Job& job, bare::Nanoseconds& woke) {
      co_await bare::sleep_for(std::chrono::milliseconds(5));
      woke = job.now();
    }
  };
  Job job;
  bare::Nanoseconds woke = 0;
  job.send_and_run([&] { (void)Sleeper::sleep(job, woke); });
  job.advance(5 * bare::kMillisecond - 1);
  CHECK(woke == 0);
  job.advance(1);
  CHECK(woke == 5 * bare::kMillisecond);
}

TEST_CASE("those that yield take turns") {
  struct Turns {
    static Task<> take(int who, std::vector<int>& turns) {
      for (int i = 0; i < 3; ++i) {
        turns.push_back(who);
        co_await bare::Yield{};
      }
    }
  };
  Job job;
  std::vector<int> turns;
  job.send_and_run([&] {
    (void)Turns::take(1, turns);
    (void)Turns::take(2, turns);
  });
  CHECK(turns == std::vector<int>{1, 2, 1, 2, 1, 2});
}
