// SPDX-License-Identifier: Apache-2.0
//
// What it costs to send a message of one int and to run its entry: tokens go round, 64 at once, and
// an element does nothing but send the token on.
//
//   one_pe/actor    actors created one by one, in a ring of their proxies
//   one_pe/array    elements of a dense array, named by index
//   one_pe/group    the member of a group on this PE
//   two_pes/array   elements of an array on two PEs: each message goes to the other PE
//
// By hand: entry_cost --shoal-pes 1 --case one_pe/array. With --messages N: that many messages and
// the end, for an instruction counter.

#include "tokens.hpp"

#include "finish.hpp"

#include <shoal/shoal.hpp>

#include <map>
#include <string>
#include <vector>

namespace entry_cost {

using perf::Finish, perf::FinishProxy;
using shoal::Task;

class Single : public shoal::Actor<Single> {
 public:
  void prepare(shoal::ElementProxy<Single> next, FinishProxy finish) {
    next_ = next;
    finish_ = finish;
  }
  void arm(std::int64_t visits) {
    left_ = visits;
    finish_.send<&Finish::one>();
  }
  void start() { next_.send<&Single::hop>(0); }
  void hop(int value) {
    sum_ += value;
    if (--left_ > 0) {
      next_.send<&Single::hop>(value + 1);
    } else {
      finish_.send<&Finish::one>();
    }
  }

 private:
  shoal::ElementProxy<Single> next_;
  FinishProxy finish_;
  std::int64_t left_ = 0, sum_ = 0;
};

class Member : public shoal::Actor<Member, shoal::Index1> {
 public:
  // Half the array away: with two PEs, always on the other one.
  explicit Member(FinishProxy finish)
      : next_(array()[(index()[0] + array().size() / 2) % array().size()]), finish_(finish) {}
  void arm(std::int64_t visits) {
    left_ = visits;
    finish_.send<&Finish::one>();
  }
  void start() { next_.send<&Member::hop>(0); }
  void hop(int value) {
    sum_ += value;
    if (--left_ > 0) {
      next_.send<&Member::hop>(value + 1);
    } else {
      finish_.send<&Finish::one>();
    }
  }

 private:
  shoal::ElementProxy<Member> next_;
  FinishProxy finish_;
  std::int64_t left_ = 0, sum_ = 0;
};

class Branch : public shoal::Actor<Branch, shoal::PeIndex> {
 public:
  explicit Branch(FinishProxy finish) : finish_(finish) {}
  void arm(std::int64_t visits) {
    left_ = visits * perf::tokens;
    finish_.send<&Finish::one>();
  }
  void start() {
    for (long i = 0; i < perf::tokens; ++i) group()[pe()].send<&Branch::hop>(0);
  }
  // The last token of each is kept, so that `tokens` of them end.
  void hop(int value) {
    sum_ += value;
    --left_;
    if (left_ >= perf::tokens) {
      group()[pe()].send<&Branch::hop>(value + 1);
    } else if (left_ == 0) {
      finish_.send<&Finish::one>();
    }
  }

 private:
  FinishProxy finish_;
  std::int64_t left_ = 0, sum_ = 0;
};

// The actors of one case, made once.
class Course {
 public:
  Course(const shoal::World& world, const std::string& name)
      : finish_(world.create_on<Finish>(0)), name_(name) {
    if (name_ == "one_pe/actor") {
      for (long i = 0; i < perf::tokens; ++i) singles_.push_back(world.create_on<Single>(0));
      for (std::size_t i = 0; i < singles_.size(); ++i) {
        singles_[i].send<&Single::prepare>(singles_[(i + 1) % singles_.size()], finish_);
      }
    } else if (name_ == "one_pe/group") {
      group_ = world.create_group<Branch>(finish_);
    } else {
      array_ = world.create<Member>(perf::tokens, finish_);
    }
  }

  // Tells all elements how often each is to be visited, and returns when they know.
  Task<> arm(std::int64_t messages) {
    const std::int64_t visits = messages / perf::tokens;
    for (const auto& single : singles_) single.send<&Single::arm>(visits);
    if (name_ == "one_pe/group") group_[0].send<&Branch::arm>(visits);
    if (array_.size() > 0) array_.broadcast<&Member::arm>(visits);
    co_await finish_.call<&Finish::all>(elements());
  }

  // Sends the tokens off and awaits the last message.
  Task<> circulate() {
    for (const auto& single : singles_) single.send<&Single::start>();
    if (name_ == "one_pe/group") group_[0].send<&Branch::start>();
    if (array_.size() > 0) array_.broadcast<&Member::start>();
    co_await finish_.call<&Finish::all>(elements());
  }

 private:
  std::int64_t elements() const { return name_ == "one_pe/group" ? 1 : perf::tokens; }

  FinishProxy finish_;
  std::string name_;
  std::vector<shoal::ElementProxy<Single>> singles_;
  shoal::ArrayProxy<Member> array_;
  shoal::GroupProxy<Branch> group_;
};

Task<> program(shoal::World& world, long messages) {
  std::vector<std::string> cases{"one_pe/actor", "one_pe/array", "one_pe/group"};
  if (world.pes() > 1) cases = {"two_pes/array"};
  perf::Schedule schedule(world.args(), cases, {"time", "allocations"});
  schedule.open();
  std::map<std::string, Course> courses;
  for (const auto& name : cases) courses.try_emplace(name, world, name);
  if (messages >= 0) {
    Course& course = courses.at(schedule.chosen_case());
    co_await course.arm(messages);
    co_await course.circulate();
    co_return world.exit();
  }
  while (auto run = schedule.next()) {
    Course& course = courses.at(run->name);
    co_await course.arm(run->warmup);
    co_await course.circulate();
    co_await course.arm(run->iterations);
    const perf::Meter meter;
    co_await course.circulate();
    schedule.report(*run, meter.per_message(*run));
  }
  world.exit(schedule.exit_code());
}

}  // namespace entry_cost

int main(int argc, char** argv) {
  const long messages = perf::messages_asked_for(argc, argv);
  return shoal::run(
      argc, argv, [messages](shoal::World& world) { return entry_cost::program(world, messages); });
}
