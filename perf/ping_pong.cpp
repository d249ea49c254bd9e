// SPDX-License-Identifier: Apache-2.0
//
// Two actors and a ball: what a message costs between two PEs, or between two actors of one.
//
//   ping_pong                                     within a process, on one PE or two
//   shoal run -n 2 -p 1 ping_pong                 between two processes
//
// How an array is handed over is the case. Messages below kLarge bytes are plain arguments of the
// entry in all of them but the last two; from there on:
//   one_pe, two_pes        a std::vector, moved along: a pointer goes to and fro
//   two_processes          lent by the sender, Incoming at the receiver, which names the memory
//   two_processes_view     lent by the sender, read in place by the receiver, at any size
//   two_processes_value    a std::vector by value, at any size
// `..._tcp` is two_processes where the driver has told UCX to use TCP.

#include "measure.hpp"

#include <shoal/shoal.hpp>

#include <array>
#include <bit>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ping_pong {

using shoal::Incoming;
using shoal::Task;
using shoal::View;
using Bytes = std::vector<std::byte>;

// From here on the runtime, too, sends an array from where it lies instead of copying it.
constexpr std::size_t kLarge = 8192;

enum class Way : std::uint8_t { argument, moved, incoming, view, value };

// One repetition, as both players know it.
struct Game {
  Way way = Way::argument;
  std::uint64_t size = 8;
  std::int64_t window = 0;     // messages a window; 0: a ball goes to and fro
  bool bidirectional = false;  // windows go both ways at the same time
  void serialize(auto& ar) { ar(way, size, window, bidirectional); }
};

Way way_of(const perf::Run& run) {
  if (run.name == "two_processes_view") return Way::view;
  if (run.name == "two_processes_value") return Way::value;
  if (run.size < kLarge && std::has_single_bit(run.size)) return Way::argument;
  return run.name.starts_with("two_processes") ? Way::incoming : Way::moved;
}

class Player : public shoal::Actor<Player, shoal::Index1> {
 public:
  // --- the two ends of a repetition ------------------------------------------

  // Returns when it is done: the other player waits for that.
  bool prepare(Game game) {
    game_ = game;
    left_ = 0;
    if (game.way == Way::argument) choose_argument(std::make_index_sequence<kSmallSizes>{});
    if (source_.size() != game.size) {
      source_.assign(game.size, std::byte{1});
      lent_memory_.assign(game.size + kPage, std::byte{1});
      target_memory_.assign(game.size + kPage, std::byte{2});
      lent_ = whole_pages(lent_memory_, game.size);
      target_ = whole_pages(target_memory_, game.size);
      spare_.clear();
    }
    taken_.clear();
    return true;
  }

  // Nanoseconds of `iterations` round trips, or of as many messages in windows.
  Task<double> play(Game game, std::int64_t warmup, std::int64_t iterations) {
    prepare(game);
    co_await other().call<&Player::prepare>(game);
    co_await other().call<&Player::expect>(warmup);
    co_await start(warmup);
    co_await other().call<&Player::expect>(iterations);
    const double before = perf::now_ns();
    co_await start(iterations);
    co_return perf::now_ns() - before;
  }

  // So many messages will come, or round trips be made, and what has to be sent is sent in windows.
  bool expect(std::int64_t count) {
    left_ = count;
    windows_left_ = game_.window == 0 ? 0 : count / game_.window;
    return true;
  }

  // --- what arrives ----------------------------------------------------------

  template <std::size_t N>
  void argument(const std::array<std::byte, N>&) {
    arrived();
  }
  void moved(Bytes bytes) {
    if (game_.window == 0) {
      ball_ = std::move(bytes);
    } else {
      (game_.bidirectional ? spare_ : taken_).push_back(std::move(bytes));
    }
    arrived();
  }
  Task<> incoming(Incoming<std::byte> bytes) {
    co_await bytes.into(target_);
    arrived();
  }
  void view(View<std::byte>) { arrived(); }
  void value(Bytes bytes) {
    ball_ = std::move(bytes);
    arrived();
  }
  // A window has been taken; what was moved there comes back to be sent again.
  void acknowledge(std::vector<Bytes> back) {
    for (Bytes& bytes : back) spare_.push_back(std::move(bytes));
    --windows_out_;
    next_window();
  }
  // Windows both ways: the first is sent, and then one for each that has come.
  void begin() {
    if (windows_left_ > 0) send_window();
  }
  // One of the two has received all windows.
  void ended() {
    if (--receiving_ == 0) done_->set();
  }

 private:
  shoal::ElementProxy<Player> other() const { return array()[1 - index()[0]]; }
  bool serves() const { return index()[0] == 0; }

  shoal::Future<void> start(std::int64_t count) {
    done_.emplace();
    expect(count);
    if (game_.window == 0) {
      throw_ball();
    } else if (windows_left_ == 0) {
      done_->set();
    } else if (game_.bidirectional) {
      receiving_ = 2;
      other().send<&Player::begin>();
      begin();
    } else {
      windows_out_ = 0;
      next_window();
      next_window();
    }
    return done_->future();
  }

  void arrived() {
    if (game_.bidirectional) {
      if (--left_ == 0) array()[0].send<&Player::ended>();
      if (left_ % game_.window == 0) begin();
    } else if (game_.window != 0) {
      if (++counted_ < game_.window) return;
      counted_ = 0;
      other().send<&Player::acknowledge>(std::exchange(taken_, {}));
    } else if (!serves() || --left_ > 0) {
      throw_ball();
    } else {
      done_->set();
    }
  }

  void next_window() {
    if (windows_left_ > 0) {
      ++windows_out_;
      send_window();
    } else if (windows_out_ == 0) {
      done_->set();
    }
  }

  void send_window() {
    --windows_left_;
    for (std::int64_t i = 0; i < game_.window; ++i) throw_ball();
  }

  void throw_ball() {
    switch (game_.way) {
      case Way::argument:
        return (this->*throw_argument_)();
      case Way::moved:
        return other().send<&Player::moved>(take_ball());
      // Lent memory is never written to, and a repetition ends after all of it has been received:
      // nothing waits for its release.
      case Way::incoming:
        (void)other().send<&Player::incoming>(shoal::lend(lent_));
        return;
      case Way::view:
        (void)other().send<&Player::view>(shoal::lend(lent_));
        return;
      case Way::value:
        if (game_.window != 0) return other().send<&Player::value>(source_);
        return other().send<&Player::value>(take_ball());
    }
  }

  // An array of 1, 2, 4, … kLarge / 2 bytes as an argument.
  static constexpr std::size_t kSmallSizes = std::bit_width(kLarge) - 1;
  template <std::size_t... Log>
  void choose_argument(std::index_sequence<Log...>) {
    constexpr std::array<void (Player::*)(), kSmallSizes> kThrow{
        &Player::throw_argument<std::size_t{1} << Log>...};
    throw_argument_ = kThrow.at(static_cast<std::size_t>(std::countr_zero(game_.size)));
  }
  template <std::size_t N>
  void throw_argument() {
    other().template send<&Player::argument<N>>(std::array<std::byte, N>{});
  }

  // The array that came last, or one that came back, or, at first, a new one.
  Bytes take_ball() {
    if (game_.window == 0 && ball_.size() == game_.size) return std::move(ball_);
    if (spare_.empty()) return source_;
    Bytes bytes = std::move(spare_.back());
    spare_.pop_back();
    return bytes;
  }

  // Memory as ucx_perftest has it: from the start of a page, which the kernel copies faster.
  static constexpr std::size_t kPage = 4096;
  static std::span<std::byte> whole_pages(Bytes& memory, std::size_t size) {
    const auto offset = reinterpret_cast<std::uintptr_t>(memory.data()) % kPage;
    return std::span(memory).subspan((kPage - offset) % kPage, size);
  }

  Game game_;
  void (Player::*throw_argument_)() = nullptr;  // of the game's size
  std::int64_t left_ = 0;          // round trips that are not begun, or messages that are to come
  std::int64_t counted_ = 0;       // messages of the window that arrives
  std::int64_t windows_left_ = 0;  // not sent
  std::int64_t windows_out_ = 0;   // not acknowledged
  std::int64_t receiving_ = 0;     // players that have not received all
  Bytes source_, ball_;
  Bytes lent_memory_, target_memory_;
  std::span<std::byte> lent_, target_;
  std::vector<Bytes> taken_, spare_;
  std::optional<shoal::Promise<void>> done_;
};

// The first is the default.
std::vector<std::string> cases_of(const shoal::World& world) {
  if (world.processes() > 1) {
    return {"two_processes", "two_processes_view", "two_processes_value", "two_processes_tcp"};
  }
  return {world.pes() > 1 ? "two_pes" : "one_pe"};
}

Task<> program(shoal::World& world) {
  perf::Schedule schedule(world.args(), cases_of(world),
                          {"latency", "bandwidth", "rate", "bidirectional_bandwidth"});
  schedule.open();
  const auto players = world.create<Player>(2);
  while (auto run = schedule.next()) {
    const Game game{way_of(*run), run->size, run->metric == "latency" ? 0 : perf::window(run->size),
                    run->metric == "bidirectional_bandwidth"};
    const double ns = co_await players[0].call<&Player::play>(game, std::int64_t{run->warmup},
                                                              std::int64_t{run->iterations});
    schedule.report(*run, perf::value_of(*run, ns));
  }
  world.exit(schedule.exit_code());
}

}  // namespace ping_pong

int main(int argc, char** argv) { return shoal::run(argc, argv, ping_pong::program); }
