// SPDX-License-Identifier: Apache-2.0
#include "bare_job.hpp"

#include <doctest/doctest.h>

#include "../../in_child.hpp"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SHOAL_SANITIZED 1
#endif

using bare::Fiber;
using bare::Future;
using bare::Job;
using bare::Promise;

namespace {

using Body = std::function<void(Fiber&)>;

void run_body(Fiber& fiber, void* argument) {
  const std::unique_ptr<Body> body(static_cast<Body*>(argument));
  (*body)(fiber);
}

/// Within a message of `job`.
void start(Job& job, Body body) {
  bare::start_fiber(job.pe(), {&bare::Action::kType, 1, 7}, &run_body, new Body(std::move(body)));
}

void start_and_run(Job& job, const Body& body) {
  job.send_and_run([&job, body] { start(job, body); });
}

// Each level keeps 256 bytes in use; the return value keeps it from being a loop.
[[gnu::noinline]] int recurse(int depth) {  // NOLINT(misc-no-recursion): the point
  char kept[256];
  for (std::size_t i = 0; i < sizeof kept; ++i) kept[i] = static_cast<char>(depth + int(i));
  asm volatile("" : : "r"(kept) : "memory");
  return depth == 0 ? kept[0] : recurse(depth - 1) + kept[5];
}

template <std::size_t kKib>
[[gnu::noinline]] int use_array() {
  char array[kKib * 1024];
  for (std::size_t i = 0; i < sizeof array; i += 512) array[i] = 1;
  asm volatile("" : : "r"(array) : "memory");
  return array[512];
}

Promise<void>* unwound_while = nullptr;

}  // namespace

TEST_CASE("a fiber runs up to its first wait within the call that starts it") {
  Job job;
  std::vector<int> order;
  Promise<int> promise;
  job.send_and_run([&] {
    start(job, [&](Fiber& fiber) {
      order.push_back(1);
      order.push_back(fiber.await(promise.future()));
    });
    order.push_back(2);
  });
  CHECK(order == std::vector<int>{1, 2});
  job.send_and_run([&] { promise.set(3); });
  CHECK(order == std::vector<int>{1, 2, 3});
}

TEST_CASE("a fiber does not wait for what is ready") {
  Job job;
  int seen = 0;
  job.send_and_run([&] {
    Promise<int> promise;
    promise.set(4);
    start(job, [&, future = promise.future()](Fiber& fiber) { seen = fiber.await(future); });
    CHECK(seen == 4);
  });
}

TEST_CASE("a fiber awaits a task") {
  struct Giver {
    static bare::Task<int> give() {
      co_await bare::Yield{};
      co_return 6;
    }
  };
  Job job;
  int seen = 0;
  start_and_run(job, [&](Fiber& fiber) { seen = fiber.await(Giver::give()); });
  CHECK(seen == 6);
}

TEST_CASE("a fiber sleeps and yields") {
  Job job;
  std::vector<int> order;
  job.send_and_run([&] {
    start(job, [&](Fiber& fiber) {
      fiber.yield();
      order.push_back(2);
      fiber.sleep_for(std::chrono::microseconds(10));
      order.push_back(3);
    });
    job.send(0, [&] { order.push_back(1 + static_cast<int>(order.size()) * 10); });
  });
  CHECK(order.size() == 2);
  job.advance(10 * bare::kMicrosecond);
  CHECK(order.back() == 3);
}

TEST_CASE("what is thrown in a fiber is caught there, and what it awaits throws there") {
  Job job;
  std::vector<std::string> texts;
  Promise<int> promise;
  job.send_and_run([&] {
    start(job, [&](Fiber& fiber) {
      try {
        (void)fiber.await(promise.future());
      } catch (const std::exception& error) {
        texts.emplace_back(error.what());
      }
      try {
        throw std::runtime_error("own");
      } catch (const std::exception& error) {
        texts.emplace_back(error.what());
      }
    });
  });
  job.send_and_run([&] { promise.fail(std::make_exception_ptr(std::runtime_error("awaited"))); });
  CHECK(texts == std::vector<std::string>{"awaited", "own"});
}

TEST_CASE("a fiber that waits while it handles an exception still has it afterwards") {
  Job job;
  std::vector<std::string> texts;
  Promise<void> first;
  Promise<void> second;
  const auto handle = [&texts](const char* text, const Future<void>& future) {
    return [&texts, text, future](Fiber& fiber) {
      try {
        try {
          throw std::runtime_error(text);
        } catch (...) {
          fiber.await(future);
          throw;
        }
      } catch (const std::exception& error) {
        texts.emplace_back(error.what());
      }
    };
  };
  job.send_and_run([&] { start(job, handle("one", first.future())); });
  job.send_and_run([&] { start(job, handle("two", second.future())); });
  CHECK(std::current_exception() == nullptr);
  job.send_and_run([&] { first.set(); });  // not in the order in which they began to wait
  job.send_and_run([&] { second.set(); });
  CHECK(texts == std::vector<std::string>{"one", "two"});
}

TEST_CASE("the PE handles no exception while a fiber that does waits") {
  Job job;
  Promise<void> promise;
  job.send_and_run([&] {
    start(job, [future = promise.future()](Fiber& fiber) {
      try {
        throw std::runtime_error("handled");
      } catch (...) {
        fiber.await(future);
      }
    });
    CHECK(std::current_exception() == nullptr);
  });
  job.send_and_run([&] { promise.set(); });
}

TEST_CASE("fibers start fibers") {
  Job job;
  std::vector<int> order;
  start_and_run(job, [&](Fiber& outer) {
    start(job, [&](Fiber& inner) {
      order.push_back(1);
      inner.yield();
      order.push_back(3);
    });
    order.push_back(2);
    outer.yield();
    order.push_back(4);
  });
  CHECK(order == std::vector<int>{1, 2, 3, 4});
}

TEST_CASE("five thousand fibers wait at once and all go on") {
  Job job;
  int count = 0;
  Promise<void> promise;
  job.send_and_run([&] {
    for (int i = 0; i < 5'000; ++i) {
      start(job, [&count, future = promise.future()](Fiber& fiber) {
        fiber.await(future);
        ++count;
      });
    }
  });
  job.send_and_run([&] { promise.set(); });
  CHECK(count == 5'000);
}

TEST_CASE("a fiber that still waits at the end is unwound") {
  auto held = std::make_shared<int>(0);
  {
    Job job;
    Promise<void> promise;
    unwound_while = &promise;
    start_and_run(job, [held](Fiber& fiber) { fiber.await(unwound_while->future()); });
    CHECK(held.use_count() > 1);
  }
  CHECK(held.use_count() == 1);
}

TEST_CASE("a fiber has the stack that was asked for") {
  Job job;
  job.process().fiber_stack = std::size_t{4} << 20U;
  int seen = 0;
  start_and_run(job, [&](Fiber&) { seen = recurse(2'000) + use_array<64>(); });
  CHECK(seen != 0);
}

#ifndef SHOAL_SANITIZED
TEST_CASE("SCHED-05 an array as large as the stack is told with entry, size and option") {
  const ChildEnd end = in_child([] {
    Job job;
    bare::watch_stack_overflow();
    int seen = 0;
    start_and_run(job, [&](Fiber&) { seen = use_array<64>(); });
    return seen;
  });
  CHECK(end.signal == SIGSEGV);
  CHECK(says(end.said, "stack overflow in fiber of the action (size 64 KiB)"));
  CHECK(says(end.said, "--shoal-fiber-stack"));
}

TEST_CASE(
    "SCHED-05 an array much larger than the stack is told, and no other fiber's stack is touched") {
  const ChildEnd end = in_child([] {
    Job job;
    bare::watch_stack_overflow();
    int seen = 0;
    start_and_run(job, [&](Fiber&) { seen = use_array<900>(); });
    return seen;
  });
  CHECK(end.signal == SIGSEGV);
  CHECK(says(end.said, "stack overflow in fiber of the action (size 64 KiB)"));
  CHECK(says(end.said, "--shoal-fiber-stack"));
}

TEST_CASE("SCHED-05 a recursion that is too deep is told with entry, size and option") {
  const ChildEnd end = in_child([] {
    Job job;
    job.process().fiber_stack = std::size_t{128} << 10U;
    bare::watch_stack_overflow();
    int seen = 0;
    start_and_run(job, [&](Fiber&) { seen = recurse(10'000); });
    return seen;
  });
  CHECK(end.signal == SIGSEGV);
  CHECK(says(end.said, "stack overflow in fiber of the action (size 128 KiB)"));
}

TEST_CASE("a fault that is no stack overflow is not taken for one") {
  const ChildEnd end = in_child([] {
    Job job;
    bare::watch_stack_overflow();
    start_and_run(job, [](Fiber&) {
      int* nowhere = nullptr;
      asm("" : "+r"(nowhere));
      *nowhere = 1;
    });
    return 0;
  });
  CHECK(end.signal == SIGSEGV);
  CHECK_FALSE(says(end.said, "stack overflow"));
}
#endif
