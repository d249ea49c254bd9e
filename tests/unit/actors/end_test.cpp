// SPDX-License-Identifier: Apache-2.0
// How programs end: by exit, by an exception, stuck, or with a message that nobody can take.
#include "simulated_program.hpp"

#include <doctest/doctest.h>

#include "../../in_child.hpp"

namespace end_test {
using namespace simulated_program;  // NOLINT(google-build-using-namespace)

struct Log {
  bool exit_called_here[64] = {};
  int started_after_exit = 0;
  int destroyed = 0;
  int heard = 0;
};
Log log_of_run;

struct Chatter : Actor<Chatter, Index1> {
  ~Chatter() { ++log_of_run.destroyed; }
  Chatter() = default;
  void chat(int count) {
    ++log_of_run.heard;
    if (log_of_run.exit_called_here[pe()]) ++log_of_run.started_after_exit;
    if (index()[0] == 0 && count == 100) {
      world().exit(7);
      log_of_run.exit_called_here[pe()] = true;
    }
    const auto next = array()[(index()[0] * 5 + count) % array().size()];
    next.send<&Chatter::chat>(count + 1);
  }
  void hear() { ++log_of_run.heard; }
  void fails(int number) { throw std::out_of_range(fmt::format("no number {}", number)); }
  Task<> fails_later() {
    co_await Yield{};
    throw std::logic_error("later");
  }
  void fails_in_fiber(Fiber& fiber) {
    fiber.yield();
    throw std::range_error("in a fiber");
  }
  Task<> asks_an_absent_one() { (void)co_await array()[1000].call<&Chatter::answer>(); }
  void asks_in_fiber(Fiber& fiber) { (void)fiber.await(array()[1000].call<&Chatter::answer>()); }
  int answer() { return 1; }
  Task<int> never_answers() {
    Promise<int> promise;
    const auto future = promise.future();
    kept.push_back(std::move(promise));
    co_return co_await future;
  }
  std::vector<Promise<int>> kept;
};

struct Throws : Actor<Throws> {
  explicit Throws(int value) {
    if (value != 0) throw std::invalid_argument("cannot be made");
  }
  void hear() {}
};

SimulationResult ends_with(const Shape& shape, std::function<Task<>(World&)> program,
                           RunSettings settings = {}) {
  log_of_run = {};
  return run_on(shape, std::move(program), std::move(settings));
}
}  // namespace end_test

using namespace end_test;  // NOLINT(google-build-using-namespace)

TEST_CASE(
    "SCHED-13 no entry starts after exit where it was called, and the code is the one given") {
  for (std::uint64_t seed = 1; seed <= 500; ++seed) {
    CAPTURE(seed);
    log_of_run = {};
    const auto result = simulate(rough({2, 4}, seed), [](World& world) {
      const auto array = world.create<Chatter>(16);
      for (int i = 0; i < 16; ++i) array[i].send<&Chatter::chat>(i);
    });
    REQUIRE(result.exit_code == 7);
    REQUIRE(log_of_run.started_after_exit == 0);
    REQUIRE(log_of_run.destroyed == 16);
  }
}

TEST_CASE("SCHED-13 exit from the program itself ends it with its code") {
  for (const Shape& shape : kShapes) {
    const auto result = ends_with(shape, [](World& world) -> Task<> {
      const auto array = world.create<Chatter>(8);
      array[0].send<&Chatter::chat>(1000);
      co_await sleep_for(std::chrono::microseconds(200));
      world.exit(255);
      co_await world.quiescence();
    });
    CAPTURE(text_of(result));
    CHECK(result.exit_code == 255);
  }
}

TEST_CASE("SCHED-14 timers of an hour are dropped at exit, with what waits for them") {
  auto held = std::make_shared<int>(1);
  struct Sleeper {
    static Task<> sleep(std::shared_ptr<int>) { co_await sleep_for(std::chrono::hours(1)); }
  };
  const auto result = ends_with({2, 2}, [held](World& world) -> Task<> {
    (void)Sleeper::sleep(held);
    co_await sleep_for(std::chrono::milliseconds(1));
    world.exit(0);
  });
  CHECK(trouble(result) == "");
  CHECK(result.time < 1'000'000'000);
  CHECK(held.use_count() == 1);
}

TEST_CASE("an exception that leaves a sent entry ends the job and is told by name") {
  for (const Shape& shape : kShapes) {
    const std::uint32_t last = shape.pes() - 1;
    const auto result = ends_with(shape, [last](World& world) -> Task<> {
      world.create<Chatter>(world.pes())[last].send<&Chatter::fails>(3);
      co_await world.quiescence();
    });
    CHECK(result.exit_code == 1);
    CHECK(text_of(result) == fmt::format("end_test::Chatter::fails of element {0} on PE {0} threw "
                                         "std::out_of_range: no number 3\n",
                                         last));
  }
}

TEST_CASE("an exception that leaves a task or a fiber after a wait ends the job the same way") {
  const auto by_task = ends_with({2, 1}, [](World& world) -> Task<> {
    world.create<Chatter>(2)[1].send<&Chatter::fails_later>();
    co_await world.quiescence();
  });
  CHECK(by_task.exit_code == 1);
  CHECK(says(text_of(by_task), "Chatter::fails_later of element 1 on PE 1 threw std::logic_error"));
  const auto by_fiber = ends_with({2, 1}, [](World& world) -> Task<> {
    world.create<Chatter>(2)[1].send<&Chatter::fails_in_fiber>();
    co_await world.quiescence();
  });
  CHECK(by_fiber.exit_code == 1);
  CHECK(
      says(text_of(by_fiber), "Chatter::fails_in_fiber of element 1 on PE 1 threw std::range_er"));
}

TEST_CASE("an exception that leaves the program ends the job") {
  const auto result = ends_with({2, 1}, [](World&) -> Task<> {
    co_await Yield{};
    throw std::runtime_error("by the program");
  });
  CHECK(result.exit_code == 1);
  CHECK(text_of(result) == "the program on PE 0 threw std::runtime_error: by the program\n");
}

TEST_CASE("a handler sees the exception, and the job goes on if it says so") {
  std::vector<UnhandledException> seen;
  RunSettings settings;
  settings.on_exception = [&](const UnhandledException& what) {
    seen.push_back(what);
    return true;
  };
  const auto result = ends_with(
      {2, 1},
      [](World& world) -> Task<> {
        const auto array = world.create<Chatter>(2);
        array[1].send<&Chatter::fails>(4);
        co_await world.quiescence();
        array[1].send<&Chatter::hear>();
      },
      settings);
  CHECK(trouble(result) == "");
  CHECK(log_of_run.heard == 1);
  REQUIRE(seen.size() == 1);
  CHECK(seen[0].entry == "end_test::Chatter::fails of element 1");
  CHECK(seen[0].pe == 1);
  CHECK(seen[0].type == "std::out_of_range");
}

TEST_CASE("a constructor that throws ends the job and is told") {
  const auto result = ends_with({2, 1}, [](World& world) -> Task<> {
    world.create_on<Throws>(1, 5).send<&Throws::hear>();
    co_await world.quiescence();
  });
  CHECK(result.exit_code == 1);
  CHECK(says(text_of(result), "the constructor of end_test::Throws"));
  CHECK(says(text_of(result), "std::invalid_argument: cannot be made"));
}

TEST_CASE("ACT-01 a message for an element that is not there is reported by its index") {
  for (const Shape& shape : kShapes) {
    const auto result = ends_with(shape, [](World& world) -> Task<> {
      world.create<Chatter>(4)[1007].send<&Chatter::hear>();
      co_await world.quiescence();
    });
    CHECK(result.exit_code == 124);
    CHECK(says(text_of(result), "deadlock: nothing moves any more; 0 wait, 1 messages"));
    CHECK(
        says(text_of(result), "a message for end_test::Chatter::hear of element 1007 waits, for "));
    CHECK(says(text_of(result), "there is no such element, of 4"));
  }
}

TEST_CASE("ACT-01 an index that is one too small is reported as it was written") {
  const auto result = ends_with({2, 1}, [](World& world) -> Task<> {
    world.create<Chatter>(4)[-1].send<&Chatter::hear>();
    co_await world.quiescence();
  });
  CHECK(result.exit_code == 124);
  CHECK(says(text_of(result), "a message for end_test::Chatter::hear of element -1 waits, for "));
  CHECK(says(text_of(result), "there is no such element, of 4"));
}

TEST_CASE("a deadlock names who waits for which reply of whom") {
  const auto result = ends_with({2, 1}, [](World& world) -> Task<> {
    const auto array = world.create<Chatter>(2);
    array[1].send<&Chatter::asks_an_absent_one>();
    array[1].send<&Chatter::asks_in_fiber>();
    (void)co_await array[0].call<&Chatter::never_answers>();
  });
  const std::string text = text_of(result);
  CAPTURE(text);
  CHECK(result.exit_code == 124);
  CHECK(says(text,
             "PE 0: the program waits for a reply of end_test::Chatter::never_answers of "
             "element 0, for "));
  CHECK(says(text, "PE 0: end_test::Chatter::never_answers of element 0 waits for a promise, for"));
  CHECK(says(text,
             "PE 1: end_test::Chatter::asks_an_absent_one of element 1 waits for a reply of "
             "end_test::Chatter::answer of element 1000, for "));
  CHECK(says(text, "PE 1: end_test::Chatter::asks_in_fiber of element 1 waits for a reply of "));
  CHECK(says(text, "a message for end_test::Chatter::answer of element 1000 waits"));
}

TEST_CASE("a program that ends while a task still waits for a promise is a deadlock") {
  const auto result = ends_with({2, 1}, [](World& world) -> Task<> {
    (void)world.create<Chatter>(2)[1].call<&Chatter::never_answers>();
    co_return;
  });
  CHECK(result.exit_code == 124);
  CHECK(says(text_of(result), "never_answers of element 1 waits for a promise"));
}

TEST_CASE("at most twenty waiting messages are listed, and the rest counted") {
  const auto result = ends_with({1, 1}, [](World& world) -> Task<> {
    const auto array = world.create<Chatter>(1);
    for (int i = 0; i < 50; ++i) array[100 + i].send<&Chatter::hear>();
    co_await world.quiescence();
  });
  const std::string text = text_of(result);
  CHECK(says(text, "of element 119 waits"));
  CHECK_FALSE(says(text, "of element 120 waits"));
  CHECK(says(text, "and 30 more"));
}

TEST_CASE("the loss of a process ends the run with code 4 and names the process") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    log_of_run = {};
    SimulationOptions options = rough({4, 2}, seed);
    options.network.losses = {{shoal::comm::ProcessId{2}, 20'000 * seed}};
    const auto result = simulate(options, [](World& world) -> Task<> {
      const auto array = world.create<Chatter>(16);
      for (int i = 0; i < 16; ++i) array[i].send<&Chatter::chat>(1000 + i);
      co_await sleep_for(std::chrono::seconds(10));
    });
    REQUIRE(result.exit_code == 4);
    REQUIRE(says(text_of(result), "process 2 is lost"));
  }
}

TEST_CASE("a send from a thread that is no PE ends the job and says why") {
  const ChildEnd end = in_child([] {
    ElementProxy<Chatter>(1, 2).send<&Chatter::hear>();
    return 0;
  });
  CHECK(end.exit_code == shoal::comm::kCheckFailed);
  CHECK(says(end.said, "a send from a thread that is no PE"));
}

TEST_CASE("fibers and tasks that wait when the program ends are destroyed with what they hold") {
  struct Holding {
    static Task<> task(Future<int> future, std::shared_ptr<int>) { (void)co_await future; }
  };
  auto held = std::make_shared<int>(1);
  const auto result = ends_with({2, 2}, [held](World& world) -> Task<> {
    const auto array = world.create<Chatter>(4);
    for (int i = 0; i < 4; ++i) {
      (void)Holding::task(array[i].call<&Chatter::never_answers>(), held);
      array[i].send<&Chatter::asks_in_fiber>();
      array[i].send<&Chatter::asks_an_absent_one>();
    }
    co_await sleep_for(std::chrono::milliseconds(10));
    world.exit(3);
  });
  CHECK(result.exit_code == 3);
  CHECK(held.use_count() == 1);
  CHECK(log_of_run.destroyed == 4);
}
