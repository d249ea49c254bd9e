// SPDX-License-Identifier: Apache-2.0
#include "simulated_program.hpp"

#include <doctest/doctest.h>

#include <numeric>

namespace bulk_test {
using namespace simulated_program;  // NOLINT(google-build-using-namespace)

using Numbers = std::vector<std::uint32_t>;

// Bytes; those around 8192 lie around the threshold above which an array travels beside the frame.
constexpr std::size_t kSizes[] = {0, 4, 8188, 8192, 8196, 1U << 20U};

Numbers numbers(std::size_t bytes, std::uint32_t seed = 1) {
  Numbers made(bytes / sizeof(std::uint32_t));
  std::iota(made.begin(), made.end(), seed);
  return made;
}

std::uint64_t sum(std::span<const std::uint32_t> values) {
  std::uint64_t total = values.size();
  for (const std::uint32_t value : values) total = total * 31 + value;
  return total;
}

struct Reader : Actor<Reader, Index1> {
  std::uint64_t value(const Numbers& data) { return sum(data); }
  std::uint64_t view(const View<std::uint32_t>& data) { return sum(data.span()); }
  Task<std::uint64_t> incoming(Incoming<std::uint32_t> data) {
    Numbers target(data.count());
    co_await data.into(target);
    co_return sum(target);
  }
  std::uint64_t incoming_in_fiber(Fiber& fiber, Incoming<std::uint32_t> data) {
    Numbers target(data.count() + 3);
    fiber.await(data.into(target));
    return sum(std::span(target).first(data.count()));
  }
  std::uint64_t changes(Numbers data) {
    for (auto& value : data) value = 0;
    return data.size();
  }
  void ignores(Incoming<std::uint32_t>) { ++ignored; }
  void ignores_view(View<std::uint32_t>) { ++ignored; }
  void keeps(View<std::uint32_t> data) { kept.push_back(std::move(data)); }
  void keeps_incoming(Incoming<std::uint32_t> data) { announced.push_back(std::move(data)); }
  Task<std::uint64_t> let_go() {
    std::uint64_t total = 0;
    for (auto& data : kept) total += sum(data.span());
    kept.clear();
    for (auto& data : announced) {
      Numbers target(data.count());
      co_await data.into(target);
      total += sum(target);
    }
    announced.clear();
    co_return total;
  }
  std::uint64_t mixed(int before, Incoming<std::uint32_t> data, const std::string& after) {
    return data.count() + static_cast<std::uint64_t>(before) + after.size();
  }
  int count_ignored() const { return ignored; }

  int ignored = 0;
  std::vector<View<std::uint32_t>> kept;
  std::vector<Incoming<std::uint32_t>> announced;
};

/// Runs `body(element, bytes)` for the elements of an array over each shape, with each size.
template <class Body>
void on_all(Body body) {
  for (const Shape& shape : kShapes) {
    CAPTURE(shape.processes);
    CAPTURE(shape.pes_per_process);
    const auto result = run_on(shape, [&](World& world) -> Task<> {
      const auto array = world.create<Reader>(shape.pes());
      for (std::int64_t i = 0; i < array.size(); ++i) {
        for (const std::size_t bytes : kSizes) co_await body(array[i], bytes);
      }
    });
    REQUIRE(trouble(result) == "");
  }
}
}  // namespace bulk_test

using namespace bulk_test;  // NOLINT(google-build-using-namespace)

TEST_CASE("a vector arrives whole as a value, a view and an incoming array, of any size") {
  on_all([](auto reader, std::size_t bytes) -> Task<> {
    const Numbers data = numbers(bytes);
    REQUIRE(co_await reader.template call<&Reader::value>(numbers(bytes)) == sum(data));
    REQUIRE(co_await reader.template call<&Reader::value>(data) == sum(data));
    REQUIRE(co_await reader.template call<&Reader::view>(numbers(bytes)) == sum(data));
    REQUIRE(co_await reader.template call<&Reader::incoming>(numbers(bytes)) == sum(data));
    REQUIRE(co_await reader.template call<&Reader::incoming_in_fiber>(numbers(bytes)) == sum(data));
  });
}

TEST_CASE("an incoming array lies between other arguments") {
  on_all([](auto reader, std::size_t bytes) -> Task<> {
    const std::uint64_t got =
        co_await reader.template call<&Reader::mixed>(10, numbers(bytes), "four");
    REQUIRE(got == bytes / 4 + 14);
  });
}

TEST_CASE("what a receiver does to a value does not show at the sender") {
  on_all([](auto reader, std::size_t bytes) -> Task<> {
    const Numbers data = numbers(bytes);
    REQUIRE(co_await reader.template call<&Reader::changes>(data) == data.size());
    REQUIRE(data == numbers(bytes));
  });
}

TEST_CASE("a vector that is sent may change at once at the sender") {
  on_all([](auto reader, std::size_t bytes) -> Task<> {
    Numbers data = numbers(bytes);
    auto answer = reader.template call<&Reader::value>(data);
    for (auto& value : data) value = 9;
    REQUIRE(co_await answer == sum(numbers(bytes)));
  });
}

TEST_CASE("lent memory arrives, and its future resolves when it is no longer read") {
  on_all([](auto reader, std::size_t bytes) -> Task<> {
    Numbers data = numbers(bytes);
    auto released = reader.template send<&Reader::keeps_incoming>(lend(data));
    auto also = reader.template send<&Reader::keeps>(lend(data));
    co_await sleep_for(std::chrono::milliseconds(20));
    const std::uint64_t total = co_await reader.template call<&Reader::let_go>();
    co_await released;
    co_await also;
    REQUIRE(total == 2 * sum(data));
  });
}

TEST_CASE("lent memory is not released while a receiver in the process still reads it") {
  const auto result = run_on({1, 2}, [](World& world) -> Task<> {
    const auto array = world.create<Reader>(2);
    for (int i = 0; i < 2; ++i) {
      Numbers data = numbers(65'536);
      auto released = array[i].send<&Reader::keeps>(lend(data));
      co_await sleep_for(std::chrono::milliseconds(20));
      REQUIRE_FALSE(released.ready());
      (void)co_await array[i].call<&Reader::let_go>();
      co_await released;
    }
  });
  CHECK(trouble(result) == "");
}

TEST_CASE("COMM-02 an array that dies unread is released at the sender") {
  on_all([](auto reader, std::size_t bytes) -> Task<> {
    Numbers data = numbers(bytes);
    co_await reader.template send<&Reader::ignores>(lend(data));
    co_await reader.template send<&Reader::ignores_view>(lend(data));
    reader.template send<&Reader::ignores>(numbers(bytes));
  });
}

TEST_CASE("COMM-02 empty arrays arrive once each, a thousand of each kind") {
  int ignored = 0;
  const auto result = run_on({2, 2}, [&](World& world) -> Task<> {
    const auto array = world.create<Reader>(8);
    const Numbers none;
    for (int i = 0; i < 1000; ++i) {
      for (int k = 0; k < 8; ++k) {
        array[k].send<&Reader::ignores>(Numbers());
        array[k].send<&Reader::ignores_view>(Numbers());
        (void)array[k].send<&Reader::ignores>(lend(none));
      }
    }
    co_await world.quiescence();
    for (int k = 0; k < 8; ++k) ignored += co_await array[k].call<&Reader::count_ignored>();
  });
  CHECK(trouble(result) == "");
  CHECK(ignored == 8 * 3 * 1000);
}

TEST_CASE("an array that is kept unread is owed, so that the program is not quiet") {
  const auto result = run_on({2, 1}, [](World& world) -> Task<> {
    const auto array = world.create<Reader>(2);
    array[1].send<&Reader::keeps_incoming>(numbers(1U << 20U));
    co_await world.quiescence();
  });
  CHECK(result.exit_code == 124);
  CHECK(text_of(result).find("deadlock") != std::string::npos);
}

TEST_CASE("an array that is kept unread when the program ends is released") {
  const auto result = run_on({2, 1}, [](World& world) -> Task<> {
    const auto array = world.create<Reader>(2);
    array[1].send<&Reader::keeps_incoming>(numbers(1U << 20U));
    co_await sleep_for(std::chrono::milliseconds(50));
    world.exit(0);
  });
  CHECK(trouble(result) == "");
}

TEST_CASE("many arrays of many sizes cross each other and all arrive") {
  std::uint64_t expected = 0;
  std::uint64_t got = 0;
  const auto result = run_on({3, 2}, [&](World& world) -> Task<> {
    const auto array = world.create<Reader>(6);
    std::vector<Future<std::uint64_t>> answers;
    for (std::uint32_t i = 0; i < 300; ++i) {
      Numbers data = numbers((i * 997) % 40'000, i);
      expected += 3 * sum(data);
      answers.push_back(array[i % 6].call<&Reader::incoming>(data));
      answers.push_back(array[(i + 1) % 6].call<&Reader::view>(data));
      answers.push_back(array[(i + 2) % 6].call<&Reader::value>(std::move(data)));
    }
    for (auto& answer : answers) got += co_await answer;
  });
  CHECK(trouble(result) == "");
  CHECK(got == expected);
}
