// SPDX-License-Identifier: Apache-2.0
#include "mixture.hpp"

#include <shoal/comm/random.hpp>
#include <shoal/shoal.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

namespace mixture {

using namespace shoal;  // NOLINT(google-build-using-namespace): a program's vocabulary

using Numbers = std::vector<std::uint32_t>;

enum class Kind : std::uint64_t {
  send,
  call,
  call_task,
  call_fiber,
  value,
  view,
  incoming,
  lent,
  broadcast,
  array,
  single,
  timer,
  throws,
  relay,
  last = relay,
};

/// What one worker does at one step.
struct Step {
  Kind kind;
  std::int64_t target;
  std::uint64_t value;
  std::size_t count;
};

Step step_of(const Plan& plan, std::int64_t worker, int number) {
  comm::Random random(plan.seed ^ comm::mix(static_cast<std::uint64_t>(worker) << 20U |
                                            static_cast<std::uint64_t>(number)));
  Step step{};
  step.kind = static_cast<Kind>(random.below(static_cast<std::uint64_t>(Kind::last) + 1));
  step.target = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(plan.workers)));
  step.value = random.below(1'000'000);
  // Mostly small, some around the threshold of what travels beside a frame, few large.
  const std::uint64_t draw = random.below(10);
  step.count = random.below(draw < 6 ? 100 : draw < 9 ? 4'000 : 60'000);
  return step;
}

Numbers numbers_of(const Step& step) {
  Numbers numbers(step.count);
  std::iota(numbers.begin(), numbers.end(), static_cast<std::uint32_t>(step.value));
  return numbers;
}

std::uint64_t sum_of(std::span<const std::uint32_t> numbers) {
  std::uint64_t sum = numbers.size();
  for (const std::uint32_t number : numbers) sum = sum * 31 + number;
  return sum;
}

std::string complaint(std::uint64_t value) { return std::string(value % 50, '?'); }

struct Worker;

/// Made at run time; tells the worker that made it.
struct Leaf : Actor<Leaf, Index1> {
  Leaf(const ElementProxy<Worker>& to, std::uint64_t worth) : owner(to), value(worth) {}
  void report();
  ElementProxy<Worker> owner;
  std::uint64_t value;
};
struct Loner : Actor<Loner> {
  explicit Loner(const ElementProxy<Worker>& to) : owner(to) {}
  void report(std::uint64_t value);
  ElementProxy<Worker> owner;
};

struct Worker : Actor<Worker, Index1> {
  explicit Worker(const Plan& what) : plan(what) {}

  void add(std::uint64_t value) { total += value; }
  std::uint64_t twice(std::uint64_t value) const { return 2 * value; }
  Task<std::uint64_t> twice_later(std::uint64_t value) {
    co_await sleep_for(std::chrono::microseconds(value % 100));
    co_return 2 * value;
  }
  std::uint64_t twice_by_another(Fiber& fiber, std::uint64_t value) {
    fiber.yield();
    return fiber.await(neighbour().call<&Worker::twice>(value));
  }
  void take_value(Numbers numbers) { total += sum_of(numbers); }
  void take_view(const View<std::uint32_t>& numbers) { total += sum_of(numbers.span()); }
  Task<> take_incoming(Incoming<std::uint32_t> numbers) {
    Numbers target(numbers.count());
    co_await numbers.into(target);
    total += sum_of(target);
  }
  void refuse(std::uint64_t value) { throw std::invalid_argument(complaint(value)); }
  int refuse_a_call(std::uint64_t value) { throw std::invalid_argument(complaint(value)); }
  void relay(int hops, std::uint64_t value) {
    total += value;
    if (hops != 0) neighbour().send<&Worker::relay>(hops - 1, value);
  }
  std::uint64_t tell() const { return total; }

  Task<> work() {
    for (int i = 0; i < plan.steps; ++i) co_await act(step_of(plan, index()[0], i));
  }
  Task<> act(Step step) {
    switch (step.kind) {
      case Kind::call:
        total += co_await array()[step.target].call<&Worker::twice>(step.value);
        break;
      case Kind::call_task:
        total += co_await array()[step.target].call<&Worker::twice_later>(step.value);
        break;
      case Kind::call_fiber:
        total += co_await array()[step.target].call<&Worker::twice_by_another>(step.value);
        break;
      case Kind::timer:
        co_await sleep_for(std::chrono::microseconds(step.value % 500));
        total += step.value;
        break;
      case Kind::lent: {
        const Numbers numbers = numbers_of(step);
        co_await array()[step.target].send<&Worker::take_incoming>(lend(numbers));
        break;
      }
      case Kind::throws:
        co_await ask_in_vain(step);
        break;
      default:
        start(step);
    }
  }
  Task<> ask_in_vain(Step step) {
    try {
      (void)co_await array()[step.target].call<&Worker::refuse_a_call>(step.value);
    } catch (const RemoteError& error) {
      if (error.type() == "std::invalid_argument") total += std::string(error.what()).size();
    }
  }
  /// What need not be waited for.
  void start(const Step& step) {
    const auto target = array()[step.target];
    switch (step.kind) {
      case Kind::send:
        return target.send<&Worker::add>(step.value);
      case Kind::value:
        return target.send<&Worker::take_value>(numbers_of(step));
      case Kind::view:
        return target.send<&Worker::take_view>(numbers_of(step));
      case Kind::incoming:
        return target.send<&Worker::take_incoming>(numbers_of(step));
      case Kind::broadcast:
        return array().broadcast<&Worker::add>(step.value);
      case Kind::array:
        return world().create<Leaf>(leaves(step), self(), step.value).broadcast<&Leaf::report>();
      case Kind::single:
        return world()
            .create_on<Loner>(static_cast<std::uint32_t>(step.value % world().pes()), self())
            .send<&Loner::report>(step.value);
      default:
        return target.send<&Worker::relay>(static_cast<int>(step.count % 20), step.value);
    }
  }
  static std::int64_t leaves(const Step& step) { return static_cast<std::int64_t>(step.count % 9); }
  ElementProxy<Worker> neighbour() const { return array()[(index()[0] + 1) % array().size()]; }

  Plan plan;
  std::uint64_t total = 0;
};

void Leaf::report() { owner.send<&Worker::add>(value + static_cast<std::uint64_t>(index()[0])); }
void Loner::report(std::uint64_t value) { owner.send<&Worker::add>(value); }

namespace {
void expect(const Plan& plan, std::int64_t worker, const Step& step,
            std::vector<std::uint64_t>& totals) {
  const auto at = [&](std::int64_t of) -> std::uint64_t& {
    return totals[static_cast<std::size_t>(of % plan.workers)];
  };
  switch (step.kind) {
    case Kind::send:
      at(step.target) += step.value;
      break;
    case Kind::call:
    case Kind::call_task:
    case Kind::call_fiber:
      at(worker) += 2 * step.value;
      break;
    case Kind::value:
    case Kind::view:
    case Kind::incoming:
    case Kind::lent:
      at(step.target) += sum_of(numbers_of(step));
      break;
    case Kind::broadcast:
      for (std::uint64_t& total : totals) total += step.value;
      break;
    case Kind::array:
      for (std::int64_t i = 0; i < Worker::leaves(step); ++i) {
        at(worker) += step.value + static_cast<std::uint64_t>(i);
      }
      break;
    case Kind::single:
    case Kind::timer:
      at(worker) += step.value;
      break;
    case Kind::throws:
      at(worker) += complaint(step.value).size();
      break;
    case Kind::relay:
      for (std::size_t i = 0; i <= step.count % 20; ++i) {
        at(step.target + static_cast<std::int64_t>(i)) += step.value;
      }
      break;
  }
}
}  // namespace

std::vector<std::uint64_t> expected_totals(const Plan& plan) {
  std::vector<std::uint64_t> totals(static_cast<std::size_t>(plan.workers));
  for (std::int64_t worker = 0; worker < plan.workers; ++worker) {
    for (int i = 0; i < plan.steps; ++i) expect(plan, worker, step_of(plan, worker, i), totals);
  }
  return totals;
}

SimulationOptions options_of(std::uint64_t seed) {
  constexpr std::uint32_t kShapes[][2] = {{1, 1}, {2, 1}, {3, 2}, {4, 4}};
  const auto& shape = kShapes[seed / 50 % 4];  // each slice of the seeds has all shapes
  comm::Random random(comm::mix(seed));
  SimulationOptions options;
  options.network.seed = seed;
  options.network.processes = shape[0];
  options.network.pes_per_process = shape[1];
  options.network.max_delay = 2'000 + random.below(200'000);
  options.network.reorder = random.chance(0.5) ? 0.2 : 0;
  options.network.stall = random.chance(0.5) ? 0.02 : 0;
  options.network.stall_ns = 500'000;
  options.network.step_cost = random.below(2'000);
  options.most_events = 5'000'000;
  return options;
}

Task<> program(World& world, Plan plan, std::vector<std::uint64_t>& totals) {
  const auto workers = world.create<Worker>(plan.workers, plan);
  workers.broadcast<&Worker::work>();
  co_await world.quiescence();
  for (std::int64_t i = 0; i < workers.size(); ++i) {
    totals.push_back(co_await workers[i].call<&Worker::tell>());
  }
}

Outcome run(const Plan& plan, const SimulationOptions& options) {
  Outcome outcome;
  outcome.result =
      simulate(options, [&](World& world) { return program(world, plan, outcome.totals); });
  return outcome;
}

std::string trouble_with(std::uint64_t seed) {
  Plan plan;
  plan.seed = seed;
  plan.workers = 1 + static_cast<std::int64_t>(comm::mix(seed) % 20);
  const Outcome outcome = run(plan, options_of(seed));
  if (outcome.result.exit_code != 0) {
    return fmt::format("exit code {}: {}", outcome.result.exit_code,
                       fmt::join(outcome.result.said, "\n"));
  }
  const auto expected = expected_totals(plan);
  if (outcome.totals == expected) return "";
  return fmt::format("the totals are {} instead of {}", outcome.totals, expected);
}

std::string command_for(std::uint64_t seed) {
  return fmt::format("SHOAL_SEED={} shoal_sim --test-case='the seed of SHOAL_SEED*'", seed);
}

}  // namespace mixture
