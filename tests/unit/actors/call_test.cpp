// SPDX-License-Identifier: Apache-2.0
#include "simulated_program.hpp"

#include <shoal/actors/serialize/std.hpp>

#include <doctest/doctest.h>

#include <map>
#include <numeric>

namespace call_test {
using namespace simulated_program;  // NOLINT(google-build-using-namespace)

struct Odd : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Callee : Actor<Callee, Index1> {
  int twice(int value) const { return 2 * value; }
  void nothing() { ++calls; }
  int count() const { return calls; }
  int refuses(int value) {
    if (value != 0) throw Odd(fmt::format("{} is not 0", value));
    return value;
  }
  int throws_a_number() { throw 7; }
  Task<int> later(int value) {
    co_await sleep_for(std::chrono::microseconds(50));
    co_return value + 1;
  }
  Task<> later_nothing() {
    co_await Yield{};
    ++calls;
  }
  Task<int> later_throws() {
    co_await Yield{};
    throw std::out_of_range("past the end");
  }
  int in_fiber(Fiber& fiber, int value) {
    fiber.sleep_for(std::chrono::microseconds(20));
    const auto next = array()[(index()[0] + 1) % array().size()];
    return fiber.await(next.call<&Callee::twice>(value)) + 1;
  }
  int fiber_throws(Fiber& fiber) {
    fiber.yield();
    throw std::length_error("too long");
  }
  Task<int> through(int hops) {  // NOLINT(misc-no-recursion): it goes round
    if (hops == 0) co_return static_cast<int>(index()[0]);
    const auto next = array()[(index()[0] + 1) % array().size()];
    co_return co_await next.call<&Callee::through>(hops - 1);
  }
  Task<int> calls_itself(int value) { co_return co_await self().call<&Callee::twice>(value); }
  std::vector<double> numbers(std::size_t count) const {
    std::vector<double> made(count);
    std::iota(made.begin(), made.end(), 0.5);
    return made;
  }
  std::string text(const std::string& what) const { return what + "!"; }
  std::map<std::string, std::vector<int>> table() const { return {{"a", {1, 2}}, {"b", {}}}; }
  std::pair<bool, std::optional<int>> pair() const { return {true, 5}; }
  std::unique_ptr<int> owned() const { return std::make_unique<int>(8); }
  const std::string& name() const { return name_; }

  int calls = 0;
  std::string name_ = "by reference";
};

/// Calls every element of an array on all shapes.
template <class Body>
void on_all(Body body) {
  for (const Shape& shape : kShapes) {
    CAPTURE(shape.processes);
    CAPTURE(shape.pes_per_process);
    const auto result = run_on(shape, [&](World& world) -> Task<> {
      const auto array = world.create<Callee>(shape.pes() + 2);
      for (std::int64_t i = 0; i < array.size(); ++i) co_await body(array[i]);
    });
    REQUIRE(trouble(result) == "");
  }
}

/// The type and text that awaiting `future` throws; "" for none.
template <class R>
Task<std::string> error_of(Future<R> future) {
  try {
    (void)co_await future;
  } catch (const RemoteError& error) {
    co_return error.type() + ": " + error.what();
  }
  co_return "";
}
}  // namespace call_test

using namespace call_test;  // NOLINT(google-build-using-namespace)

TEST_CASE("a call gives the result of a plain entry") {
  on_all([](auto callee) -> Task<> {
    REQUIRE(co_await callee.template call<&Callee::twice>(21) == 42);
  });
}

TEST_CASE("a call of an entry that returns a task gives the task's result") {
  on_all([](auto callee) -> Task<> {
    REQUIRE(co_await callee.template call<&Callee::later>(1) == 2);
    co_await callee.template call<&Callee::later_nothing>();
    REQUIRE(co_await callee.template call<&Callee::count>() == 1);
  });
}

TEST_CASE("a call of a fiber entry gives its result, and a fiber can call") {
  on_all([](auto callee) -> Task<> {
    REQUIRE(co_await callee.template call<&Callee::in_fiber>(10) == 21);
  });
}

TEST_CASE("calls within calls round an array come back") {
  on_all([](auto callee) -> Task<> { (void)co_await callee.template call<&Callee::through>(20); });
}

TEST_CASE("an element can call itself") {
  on_all([](auto callee) -> Task<> {
    REQUIRE(co_await callee.template call<&Callee::calls_itself>(4) == 8);
  });
}

TEST_CASE("an exception comes back with its type and text, from each kind of entry") {
  on_all([](auto callee) -> Task<> {
    REQUIRE(co_await error_of(callee.template call<&Callee::refuses>(3)) ==
            "call_test::Odd: 3 is not 0");
    REQUIRE(co_await error_of(callee.template call<&Callee::later_throws>()) ==
            "std::out_of_range: past the end");
    REQUIRE(co_await error_of(callee.template call<&Callee::fiber_throws>()) ==
            "std::length_error: too long");
    REQUIRE(co_await error_of(callee.template call<&Callee::throws_a_number>()) ==
            "int: (not a std::exception)");
    REQUIRE(co_await error_of(callee.template call<&Callee::refuses>(0)) == "");
  });
}

TEST_CASE("results of many types come back whole") {
  on_all([](auto callee) -> Task<> {
    REQUIRE(co_await callee.template call<&Callee::text>("hey") == "hey!");
    const auto table = co_await callee.template call<&Callee::table>();
    REQUIRE(table.at("a") == std::vector<int>{1, 2});
    REQUIRE(co_await callee.template call<&Callee::pair>() ==
            std::pair<bool, std::optional<int>>(true, 5));
    REQUIRE(co_await callee.template call<&Callee::name>() == "by reference");
  });
}

TEST_CASE("a result of a megabyte comes back whole") {
  on_all([](auto callee) -> Task<> {
    const auto numbers = co_await callee.template call<&Callee::numbers>(std::size_t{131'072});
    REQUIRE(numbers.size() == 131'072);
    REQUIRE(numbers.back() == 131'071.5);
  });
}

TEST_CASE("ten thousand calls can be open at once") {
  for (const Shape& shape : {Shape{1, 1}, Shape{2, 2}}) {
    std::int64_t sum = 0;
    const auto result = run_on(shape, [&](World& world) -> Task<> {
      const auto array = world.create<Callee>(shape.pes());
      std::vector<Future<int>> open;
      open.reserve(10'000);
      for (int i = 0; i < 10'000; ++i) {
        open.push_back(array[i % array.size()].template call<&Callee::twice>(i));
      }
      for (auto& future : open) sum += co_await future;
    });
    CHECK(trouble(result) == "");
    CHECK(sum == 2LL * 9'999 * 10'000 / 2);
  }
}

TEST_CASE("a call whose future is dropped still runs") {
  int count = 0;
  const auto result = run_on({2, 2}, [&](World& world) -> Task<> {
    const auto array = world.create<Callee>(4);
    for (int i = 0; i < 100; ++i) (void)array[3].template call<&Callee::later_nothing>();
    co_await world.quiescence();
    count = co_await array[3].template call<&Callee::count>();
  });
  CHECK(trouble(result) == "");
  CHECK(count == 100);
}

TEST_CASE("a call of an entry without a result can be made where it is a task") {
  const auto result = run_on({2, 1}, [&](World& world) -> Task<> {
    const auto array = world.create<Callee>(2);
    co_await array[1].template call<&Callee::later_nothing>();
  });
  CHECK(trouble(result) == "");
}

TEST_CASE("an exception in a call that nobody awaits does not end the job") {
  const auto result = run_on({2, 1}, [&](World& world) -> Task<> {
    const auto array = world.create<Callee>(2);
    (void)array[1].template call<&Callee::refuses>(1);
    co_await world.quiescence();
  });
  CHECK(trouble(result) == "");
}
