// SPDX-License-Identifier: Apache-2.0
// An actor program for the tests that run real processes: its first argument says what it does.
#include <shoal/comm/clock.hpp>
#include <shoal/shoal.hpp>

#include <fmt/core.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <numeric>
#include <optional>

#include "../sim/mixture.hpp"

namespace actor_program {
using namespace shoal;  // NOLINT(google-build-using-namespace): a program's vocabulary

using Numbers = std::vector<std::uint32_t>;

Numbers numbers(std::size_t count, std::uint32_t seed) {
  Numbers made(count);
  std::iota(made.begin(), made.end(), seed * 7919U);
  return made;
}

std::uint64_t sum(std::span<const std::uint32_t> values) {
  std::uint64_t total = values.size();
  for (const std::uint32_t value : values) total = total * 31 + value;
  return total;
}

void expect(bool truth, const char* what) {
  if (!truth) throw std::logic_error(what);
}

void spin(int ms) {
  const auto until = comm::steady_clock().now() + static_cast<std::uint64_t>(ms) * 1'000'000;
  while (comm::steady_clock().now() < until) {
  }
}

struct Element : Actor<Element, Index1> {
  // --- large arrays
  std::uint64_t value(const Numbers& data) { return sum(data); }
  std::uint64_t view(const View<std::uint32_t>& data) { return sum(data.span()); }
  Task<std::uint64_t> incoming(Incoming<std::uint32_t> data) {
    Numbers target(data.count());
    co_await data.into(target);
    co_return sum(target);
  }
  std::uint64_t incoming_in_fiber(Fiber& fiber, Incoming<std::uint32_t> data) {
    Numbers target(data.count());
    fiber.await(data.into(target));
    return sum(target);
  }
  void ignore(Incoming<std::uint32_t>) {}
  Numbers echo(Numbers data) { return data; }

  // --- calls
  int twice(int number) { return 2 * number; }
  int refuse(int number) { throw std::out_of_range(fmt::format("{} is too far", number)); }
  Task<int> refuse_later() {
    co_await Yield{};
    throw std::domain_error("later");
  }
  Task<std::uint32_t> where() {
    co_await sleep_for(std::chrono::microseconds(10));
    co_return pe();
  }
  std::uint32_t where_in_fiber(Fiber& fiber) {
    return fiber.await(array()[(index()[0] + 1) % array().size()].call<&Element::where>());
  }

  // --- ends
  void abort() { std::abort(); }
  void start(const std::string& command) {
    expect(std::system(command.c_str()) == 0, "the command fails");  // NOLINT: the test's own
  }
  // Memory, until there is no more.
  void eat() {
    constexpr std::size_t kBite = std::size_t{4} << 20U;
    while (true) eaten.emplace_back(kBite, 'x');
  }
  std::vector<std::string> eaten;
  void fail_when_sent() { throw std::range_error("out of tune"); }
  void leave(int code) { world().exit(code); }
  Task<> ask_an_absent_one() { (void)co_await array()[1000].call<&Element::twice>(1); }
  Task<int> never() {
    co_await promise.emplace().future();
    co_return 1;
  }
  void chat(std::uint64_t count, const Numbers& load) {
    if (index()[0] == 0 && count > 100) world().exit(5);
    array()[(index()[0] + 1) % array().size()].send<&Element::chat>(count + 1, load);
  }
  void overflow(Fiber&) {
    char array_on_stack[65536];
    for (std::size_t i = 0; i < sizeof array_on_stack; i += 512) array_on_stack[i] = 1;
    asm volatile("" : : "r"(array_on_stack) : "memory");
  }
  void ready() {
    fmt::print("ready {} {}\n", pe() / (world().pes() / world().processes()), ::getpid());
    std::fflush(stdout);
  }

  void be_busy(int ms) { spin(ms); }

  // --- the very first traffic
  void send_large(std::size_t count) { array()[2].send<&Element::take_large>(numbers(count, 5)); }
  void take_large(const Numbers& data) {
    fmt::print("large {}\n", data == numbers(data.size(), 5));
  }

  std::optional<Promise<void>> promise;
};

/// Is busy for a while before it can receive anything.
struct Late : Actor<Late, Index1> {
  explicit Late(int ms) {
    if (index()[0] == 2) spin(ms);
  }
};

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

struct Meter : Actor<Meter, PeIndex> {
  void begin() { before = cpu_seconds(); }
  double used() { return cpu_seconds() - before; }
  double before = 0;
};

Task<> bulk(World& world) {
  const auto array = world.create<Element>(world.pes());
  std::uint32_t seed = 0;
  for (std::int64_t i = 0; i < array.size(); ++i) {
    for (const std::size_t bytes :
         {0UL, 4UL, 1000UL, 8188UL, 8192UL, 8196UL, 65536UL, 1UL << 20U, 1500000UL, 4UL << 20U}) {
      const Numbers data = numbers(bytes / 4, ++seed);
      const std::uint64_t expected = sum(data);
      const auto to = array[i];
      expect(co_await to.call<&Element::value>(data) == expected, "a value");
      expect(co_await to.call<&Element::view>(data) == expected, "a view");
      expect(co_await to.call<&Element::incoming>(data) == expected, "an incoming");
      expect(co_await to.call<&Element::incoming_in_fiber>(data) == expected, "in a fiber");
      expect(co_await to.call<&Element::echo>(data) == data, "an echo");
      co_await to.send<&Element::ignore>(lend(data));
    }
  }
  fmt::print("bulk {}\n", seed);
}

/// "TYPE: TEXT" of what the call throws.
template <class R>
Task<std::string> error_of(Future<R> future) {
  try {
    (void)co_await future;
  } catch (const RemoteError& error) {
    co_return error.type() + ": " + error.what();
  }
  co_return "nothing";
}

Task<> calls(World& world) {
  const auto array = world.create<Element>(std::int64_t{2} * world.pes());
  std::vector<Future<int>> open;
  open.reserve(10'000);
  for (int i = 0; i < 10'000; ++i) {
    open.push_back(array[i % array.size()].call<&Element::twice>(i));
  }
  std::int64_t total = 0;
  for (auto& future : open) total += co_await future;
  expect(total == 99'990'000, "ten thousand calls");
  for (std::int64_t i = 0; i < array.size(); ++i) {
    const auto pe = static_cast<std::uint32_t>(i / 2);
    expect(co_await array[i].call<&Element::where>() == pe, "where");
    expect(co_await array[i].call<&Element::where_in_fiber>() ==
               static_cast<std::uint32_t>((i + 1) % array.size() / 2),
           "where the next is");
    expect(
        co_await error_of(array[i].call<&Element::refuse>(7)) == "std::out_of_range: 7 is too far",
        "an exception");
    expect(co_await error_of(array[i].call<&Element::refuse_later>()) == "std::domain_error: later",
           "an exception of a task");
  }
  fmt::print("calls {}\n", total);
}

Task<> idle(World& world) {
  const auto meters = world.create_group<Meter>();
  co_await world.quiescence();
  meters.broadcast<&Meter::begin>();
  co_await sleep_for(std::chrono::seconds(2));
  for (std::uint32_t pe = 0; pe < world.pes(); pe += world.pes() / world.processes()) {
    fmt::print("used {:.4f}\n", co_await meters[pe].call<&Meter::used>());
  }
}

Task<> mix(World& world, std::uint64_t seed) {
  for (std::uint64_t i = seed; i < seed + 20; ++i) {
    mixture::Plan plan;
    plan.seed = i;
    plan.workers = 2 * world.pes() + 1;
    std::vector<std::uint64_t> totals;
    co_await mixture::program(world, plan, totals);
    if (totals != mixture::expected_totals(plan)) {
      throw std::logic_error(fmt::format("the mixture of seed {} is wrong", i));
    }
  }
  fmt::print("mixture {}\n", seed);
}

Task<> first_large(World& world) {
  (void)world.create<Late>(world.pes(), 500);
  world.create<Element>(world.pes())[1].send<&Element::send_large>(std::size_t{375'000});
  co_await world.quiescence();
}

Task<> stuck(World& world) {
  const auto array = world.create<Element>(world.pes());
  array[array.size() - 1].send<&Element::ask_an_absent_one>();
  (void)co_await array[0].call<&Element::never>();
}

Task<> program(World& world) {
  const auto args = world.args();
  const std::string what = args.size() > 1 ? args[1] : "";
  const int number = args.size() > 2 ? std::atoi(args[2].c_str()) : 0;
  if (what == "bulk") co_return co_await bulk(world);
  if (what == "calls") co_return co_await calls(world);
  if (what == "idle") co_return co_await idle(world);
  if (what == "mixture") co_return co_await mix(world, static_cast<std::uint64_t>(number));
  if (what == "first-large") co_return co_await first_large(world);
  if (what == "stuck") co_return co_await stuck(world);
  const auto array = world.create<Element>(world.pes());
  const auto last = array[array.size() - 1];
  if (what == "all-stuck") array.broadcast<&Element::ask_an_absent_one>();
  if (what == "exit") last.send<&Element::leave>(number);
  if (what == "throw") last.send<&Element::fail_when_sent>();
  if (what == "starts") array.broadcast<&Element::start>(args[2] + " --shoal-pes=1");
  if (what == "eat") last.send<&Element::eat>();
  if (what == "abort") last.send<&Element::abort>();
  if (what == "flooded") {
    for (std::uint32_t p = 0; p < world.pes(); ++p) array[p].send<&Element::ready>();
    co_await world.quiescence();
    last.send<&Element::be_busy>(1000 * number);
    for (int i = 0; i < 1000; ++i) last.send<&Element::twice>(i);
  }
  if (what == "busy") last.send<&Element::be_busy>(number);
  if (what == "overflow") last.send<&Element::overflow>();
  if (what == "in-flight") {
    for (std::uint32_t i = 0; i < 8; ++i) {
      array[i % array.size()].send<&Element::chat>(i, numbers(i % 2 == 0 ? 2 : 262'144, i));
    }
    co_await sleep_for(std::chrono::hours(1));
  }
  if (what == "wait") {
    for (std::uint32_t p = 0; p < world.processes(); ++p) {
      const std::uint32_t first = p * (world.pes() / world.processes());
      array[first].send<&Element::ready>();
    }
    co_await sleep_for(std::chrono::hours(1));
  }
  co_await world.quiescence();
}
}  // namespace actor_program

int main(int argc, char** argv) { return shoal::run(argc, argv, actor_program::program); }
