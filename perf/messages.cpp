// SPDX-License-Identifier: Apache-2.0
//
// Four small programs that do nothing but send, as other actor runtimes are measured by (Imam and
// Sarkar, "Savina: an actor benchmark suite", AGERE 2014): messages.hpp tells what they do.
//
//   messages --shoal-pes 2 --case ring/2     by hand
//
// Actors lie over the PEs as `create` puts them, in blocks; the counter is on the last PE. So of
// two PEs' messages a ring's stay on the PE but for two in a hundred, half of many_to_many's do,
// and none of ping_pong's and counting's.

#include "messages.hpp"

#include "finish.hpp"

#include <shoal/shoal.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace messages {

using perf::Finish, perf::FinishProxy;
using shoal::Task;

// Of a ring; ping_pong is one of two, with one token.
class Runner : public shoal::Actor<Runner, shoal::Index1> {
 public:
  explicit Runner(FinishProxy finish)
      : next_(array()[(index()[0] + 1) % array().size()]), finish_(finish) {}

  void pass(std::int64_t left) {
    ++received_;
    if (left > 1) {
      next_.send<&Runner::pass>(left - 1);
    } else {
      finish_.send<&Finish::one>();
    }
  }
  std::int64_t take_count() { return std::exchange(received_, 0); }

 private:
  shoal::ElementProxy<Runner> next_;
  FinishProxy finish_;
  std::int64_t received_ = 0;
};

class Counter : public shoal::Actor<Counter> {
 public:
  void increment() {
    if (++count_ == wanted_ && reached_) reached_->set();
  }
  // The question may overtake increments, so it says how many were sent.
  Task<std::int64_t> take_count(std::int64_t sent) {
    if (count_ < sent) {
      wanted_ = sent;
      reached_.emplace();
      co_await reached_->future();
      reached_.reset();
    }
    co_return std::exchange(count_, 0);
  }

 private:
  std::int64_t count_ = 0, wanted_ = 0;
  std::optional<shoal::Promise<void>> reached_;
};

class Producer : public shoal::Actor<Producer> {
 public:
  Producer(shoal::ElementProxy<Counter> counter, FinishProxy finish)
      : counter_(counter), finish_(finish) {}

  Task<> produce(std::int64_t messages) {
    for (std::int64_t i = 0; i < messages; ++i) counter_.send<&Counter::increment>();
    counted_ += co_await counter_.call<&Counter::take_count>(messages);
    finish_.send<&Finish::one>();
  }
  std::int64_t take_count() { return std::exchange(counted_, 0); }

 private:
  shoal::ElementProxy<Counter> counter_;
  FinishProxy finish_;
  std::int64_t counted_ = 0;
};

class Member : public shoal::Actor<Member, shoal::Index1> {
 public:
  explicit Member(FinishProxy finish) : finish_(finish) {}

  void begin(std::int64_t rounds) {
    rounds_ = rounds;
    go_on();
  }
  void greet() {  // may come before begin
    ++received_;
    go_on();
  }
  std::int64_t take_count() { return std::exchange(counted_, 0); }

 private:
  void go_on() {
    while (sent_ < rounds_ && received_ >= sent_ * perf::many_others) {
      ++sent_;
      for (std::int64_t i = 1; i < perf::many_actors; ++i) {
        array()[(index()[0] + i) % perf::many_actors].send<&Member::greet>();
      }
    }
    if (rounds_ > 0 && received_ == rounds_ * perf::many_others) {
      counted_ += received_;
      rounds_ = sent_ = received_ = 0;
      finish_.send<&Finish::one>();
    }
  }

  FinishProxy finish_;
  std::int64_t rounds_ = 0, sent_ = 0, received_ = 0, counted_ = 0;
};

// The actors of all programs, made once.
class Stage {
 public:
  explicit Stage(const shoal::World& world)
      : finish_(world.create_on<Finish>(0)),
        pair_(world.create<Runner>(2, finish_)),
        ring_(world.create<Runner>(perf::ring_actors, finish_)),
        producer_(world.create_on<Producer>(0, world.create_on<Counter>(world.pes() - 1), finish_)),
        members_(world.create<Member>(perf::many_actors, finish_)) {}

  // Sends so many messages and returns when the last has been received.
  Task<> play(std::string program, std::int64_t messages) {
    const std::int64_t each = messages / perf::parts_of(program);
    std::int64_t reports = 1;
    if (messages == 0) co_return;
    if (program == "ping_pong") {
      pair_[0].send<&Runner::pass>(each);
    } else if (program == "ring") {
      reports = perf::ring_tokens;
      for (std::int64_t i = 0; i < perf::ring_tokens; ++i) {
        ring_[i * perf::ring_actors / perf::ring_tokens].send<&Runner::pass>(each);
      }
    } else if (program == "counting") {
      producer_.send<&Producer::produce>(each);
    } else {
      reports = perf::many_actors;
      members_.broadcast<&Member::begin>(each);
    }
    co_await finish_.call<&Finish::all>(reports);
  }

  // The messages received since this was asked for last.
  Task<std::int64_t> take_count(std::string program) {
    if (program == "ping_pong") co_return co_await sum(pair_);
    if (program == "ring") co_return co_await sum(ring_);
    if (program == "counting") co_return co_await producer_.call<&Producer::take_count>();
    co_return co_await sum(members_);
  }

 private:
  template <class T>
  static Task<std::int64_t> sum(shoal::ArrayProxy<T> actors) {
    std::int64_t result = 0;
    for (std::int64_t i = 0; i < actors.size(); ++i) {
      result += co_await actors[i].template call<&T::take_count>();
    }
    co_return result;
  }

  FinishProxy finish_;
  shoal::ArrayProxy<Runner> pair_, ring_;
  shoal::ElementProxy<Producer> producer_;
  shoal::ArrayProxy<Member> members_;
};

Task<> program(shoal::World& world) {
  perf::Schedule schedule(world.args(), perf::message_cases(world.pes()), {"time"});
  schedule.open();
  Stage stage(world);
  while (auto run = schedule.next()) {
    perf::make_whole(*run);
    const std::string name = perf::program_of(run->name);
    co_await stage.play(name, run->warmup);
    const double start = perf::now_ns();
    co_await stage.play(name, run->iterations);
    const double ns = perf::now_ns() - start;
    perf::check_count(*run, co_await stage.take_count(name));
    schedule.report(*run, perf::value_of(*run, ns));
  }
  world.exit(schedule.exit_code());
}

}  // namespace messages

int main(int argc, char** argv) { return shoal::run(argc, argv, messages::program); }
