// SPDX-License-Identifier: Apache-2.0
//
// The peer of `messages`: the same four programs with CAF, the C++ Actor Framework 0.17, as actors
// with a state and dynamically typed messages. Its scheduler, the default one, has as many threads
// as the case says and steals work: an actor runs on the thread that woke it, unless another that
// has nothing to do takes it away. So two that only wake each other mostly share a thread.
//
//   caf --case ring/2     by hand; one run has one number of threads

#include "../messages.hpp"

#include <caf/all.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using caf::actor, caf::behavior, caf::stateful_actor;
using StartAtom = caf::atom_constant<caf::atom("start")>;
using DoneAtom = caf::atom_constant<caf::atom("done")>;
using IncrementAtom = caf::atom_constant<caf::atom("increment")>;
using GreetAtom = caf::atom_constant<caf::atom("greet")>;
using CountAtom = caf::atom_constant<caf::atom("count")>;  // answered with messages received

struct Referee {
  std::int64_t reports = 0;  // that are missing
  double start = 0;
  caf::response_promise promise;
};

// Sends `each` to all that begin, and answers with the nanoseconds until all of them have reported.
behavior referee(stateful_actor<Referee>* self) {
  return {[=](DoneAtom) {
            Referee& state = self->state;
            if (--state.reports == 0) state.promise.deliver(perf::now_ns() - state.start);
          },
          [=](StartAtom, const std::vector<actor>& beginners, std::int64_t each) {
            Referee& state = self->state;
            state.promise = self->make_response_promise();
            state.reports = static_cast<std::int64_t>(beginners.size());
            state.start = perf::now_ns();
            for (const actor& beginner : beginners) self->send(beginner, each);
            return state.promise;
          }};
}

struct Runner {
  actor next;
  std::int64_t received = 0;
};

behavior runner(stateful_actor<Runner>* self, const actor& finish) {
  return {[=](std::int64_t left) {
            ++self->state.received;
            if (left > 1) {
              self->send(self->state.next, left - 1);
            } else {
              self->send(finish, DoneAtom::value);
            }
          },
          [=](const actor& next) { self->state.next = next; },
          [=](CountAtom) { return std::exchange(self->state.received, std::int64_t{0}); }};
}

struct Count {
  std::int64_t value = 0;
};

behavior counter(stateful_actor<Count>* self) {
  return {[=](IncrementAtom) { ++self->state.value; },
          [=](CountAtom) { return std::exchange(self->state.value, std::int64_t{0}); }};
}

behavior producer(stateful_actor<Count>* self, const actor& counter, const actor& finish) {
  return {[=](std::int64_t messages) {
            for (std::int64_t i = 0; i < messages; ++i) self->send(counter, IncrementAtom::value);
            self->request(counter, caf::infinite, CountAtom::value).then([=](std::int64_t counted) {
              self->state.value += counted;
              self->send(finish, DoneAtom::value);
            });
          },
          [=](CountAtom) { return std::exchange(self->state.value, std::int64_t{0}); }};
}

struct Member {
  std::vector<actor> others;
  std::int64_t rounds = 0, sent = 0, received = 0, counted = 0;
};

void go_on(stateful_actor<Member>* self, const actor& finish) {
  Member& state = self->state;
  while (state.sent < state.rounds && state.received >= state.sent * perf::many_others) {
    ++state.sent;
    for (const actor& other : state.others) self->send(other, GreetAtom::value);
  }
  if (state.rounds > 0 && state.received == state.rounds * perf::many_others) {
    state.counted += state.received;
    state.rounds = state.sent = state.received = 0;
    self->send(finish, DoneAtom::value);
  }
}

behavior member(stateful_actor<Member>* self, const actor& finish) {
  return {[=](GreetAtom) {  // may come before the rounds are known
            ++self->state.received;
            go_on(self, finish);
          },
          [=](std::int64_t rounds) {
            self->state.rounds = rounds;
            go_on(self, finish);
          },
          [=](const std::vector<actor>& others) { self->state.others = others; },
          [=](CountAtom) { return std::exchange(self->state.counted, std::int64_t{0}); }};
}

// The actors of one program, made when it is asked for first.
struct Company {
  std::vector<actor> beginners;  // who are sent the number of their messages, and who report
  std::vector<actor> counting;   // who know how many messages were received
};

class Stage {
 public:
  explicit Stage(caf::actor_system& system)
      : system_(system), self_(system), referee_(system.spawn(referee)) {
    pair_ = make_ring(2, 1);
    ring_ = make_ring(perf::ring_actors, perf::ring_tokens);
    const actor count = spawn(counter);
    pipeline_.beginners = pipeline_.counting = {spawn(producer, count, referee_)};
    make_many();
  }
  ~Stage() {  // they know each other: none would end by itself
    for (const actor& one : actors_) caf::anon_send_exit(one, caf::exit_reason::kill);
    caf::anon_send_exit(referee_, caf::exit_reason::kill);
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  double play(const std::string& program, std::int64_t messages) {
    double ns = 0;
    if (messages == 0) return ns;
    self_
        ->request(referee_, caf::infinite, StartAtom::value, company(program).beginners,
                  messages / perf::parts_of(program))
        .receive([&](double elapsed) { ns = elapsed; }, fail);
    return ns;
  }

  std::int64_t take_count(const std::string& program) {
    std::int64_t sum = 0;
    for (const actor& one : company(program).counting) {
      self_->request(one, caf::infinite, CountAtom::value)
          .receive([&](std::int64_t count) { sum += count; }, fail);
    }
    return sum;
  }

 private:
  static void fail(const caf::error&) {
    std::fprintf(stderr, "caf: a request failed\n");
    std::exit(1);
  }

  template <class... Arguments>
  actor spawn(Arguments&&... arguments) {
    return actors_.emplace_back(system_.spawn(std::forward<Arguments>(arguments)...));
  }

  Company make_ring(std::int64_t size, std::int64_t tokens) {
    Company made;
    for (std::int64_t i = 0; i < size; ++i) made.counting.push_back(spawn(runner, referee_));
    for (std::size_t i = 0; i < made.counting.size(); ++i) {
      self_->send(made.counting[i], made.counting[(i + 1) % made.counting.size()]);
    }
    for (std::int64_t i = 0; i < tokens; ++i) {
      made.beginners.push_back(made.counting[static_cast<std::size_t>(i * size / tokens)]);
    }
    return made;
  }

  void make_many() {
    for (std::int64_t i = 0; i < perf::many_actors; ++i) {
      many_.counting.push_back(spawn(member, referee_));
    }
    for (std::size_t i = 0; i < many_.counting.size(); ++i) {
      std::vector<actor> others;
      for (std::size_t k = 1; k < many_.counting.size(); ++k) {
        others.push_back(many_.counting[(i + k) % many_.counting.size()]);
      }
      self_->send(many_.counting[i], std::move(others));
    }
    many_.beginners = many_.counting;
  }

  const Company& company(const std::string& program) const {
    if (program == "ping_pong") return pair_;
    if (program == "ring") return ring_;
    return program == "counting" ? pipeline_ : many_;
  }

  caf::actor_system& system_;
  caf::scoped_actor self_;
  actor referee_;
  std::vector<actor> actors_;  // all but the referee
  Company pair_, ring_, pipeline_, many_;
};

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> cases = perf::message_cases(1);
  for (const auto& name : perf::message_cases(2)) cases.push_back(name);
  perf::Schedule schedule(perf::arguments(argc, argv), cases, {"time"});
  caf::actor_system_config config;
  const bool two = schedule.chosen_case().ends_with("/2");
  config.set("scheduler.max-threads", std::size_t{two ? 2u : 1u});
  caf::actor_system system(config);
  schedule.open();
  {
    Stage stage(system);
    while (auto run = schedule.next()) {
      perf::make_whole(*run);
      const std::string program = perf::program_of(run->name);
      stage.play(program, run->warmup);
      const double ns = stage.play(program, run->iterations);
      perf::check_count(*run, stage.take_count(program));
      schedule.report(*run, perf::value_of(*run, ns));
    }
  }
  return schedule.exit_code();
}
