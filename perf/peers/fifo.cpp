// SPDX-License-Identifier: Apache-2.0
//
// The limit of `entry_cost`: a bare FIFO of function pointers. A message is {next, function,
// argument} from a free list; the loop takes one, calls it, gives it back, and the function sends
// the next. What an entry costs above this buys elements, arrays, moves, tracing and errors.

#include "../measure.hpp"
#include "../tokens.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

namespace {

struct Target {
  long left = 0;
  Target* next = nullptr;  // the ring
  long sum = 0;
};

struct Message {
  Message* next;
  void (*function)(Target&, int);
  Target* target;
  int argument;
};

class Pool {  // grows by slabs of 256 and never shrinks
 public:
  Message* take() {
    if (free_ == nullptr) grow();
    Message* message = free_;
    free_ = message->next;
    return message;
  }
  void give(Message* message) {
    message->next = free_;
    free_ = message;
  }

 private:
  [[gnu::noinline]] void grow() {
    slabs_.push_back(std::make_unique<Message[]>(256));
    for (int i = 0; i < 256; ++i) give(&slabs_.back()[static_cast<std::size_t>(i)]);
  }
  Message* free_ = nullptr;
  std::vector<std::unique_ptr<Message[]>> slabs_;
};

class Fifo {
 public:
  void push(Message* message) {
    message->next = nullptr;
    *end_ = message;
    end_ = &message->next;
  }
  Message* pop() {
    Message* message = first_;
    if (message != nullptr) {
      first_ = message->next;
      if (first_ == nullptr) end_ = &first_;
    }
    return message;
  }

 private:
  Message* first_ = nullptr;
  Message** end_ = &first_;
};

Pool pool;
Fifo fifo;
std::vector<Target> targets;

void hop(Target& target, int value);

void send(Target& target, int value) {
  Message* message = pool.take();
  message->function = &hop;
  message->target = &target;
  message->argument = value;
  fifo.push(message);
}

void hop(Target& target, int value) {
  target.sum += value;
  if (--target.left > 0) send(*target.next, value + 1);
}

// `messages` in all, carried by perf::tokens tokens round a ring of as many targets.
void circulate(long messages) {
  targets.assign(static_cast<std::size_t>(perf::tokens), Target{});
  Target* last = &targets.back();
  for (Target& target : targets) {
    target.left = messages / perf::tokens;
    last = last->next = &target;
  }
  for (Target& target : targets) send(target, 0);
  while (Message* message = fifo.pop()) {
    Target* target = message->target;
    const int argument = message->argument;
    message->function(*target, argument);
    pool.give(message);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (const long messages = perf::messages_asked_for(argc, argv); messages >= 0) {
    circulate(messages);
    return 0;
  }
  perf::Schedule schedule(perf::arguments(argc, argv), {"one_pe/array"}, {"time", "allocations"});
  schedule.open();
  perf::pin_to_core(0);
  while (auto run = schedule.next()) {
    circulate(run->warmup);
    const perf::Meter meter;
    circulate(run->iterations);
    schedule.report(*run, meter.per_message(*run));
  }
  return schedule.exit_code();
}
