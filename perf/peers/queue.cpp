// SPDX-License-Identifier: Apache-2.0
//
// The limit of `two_pes`: a bare inbox, an intrusive list with many producers and one consumer, one
// for each of two pinned threads, and nothing else: no entry, no element, no scheduler. A message
// is a node; its payload stays where it is, so a size changes nothing but the bandwidth computed of
// it.
//
// The list is the one of D. Vyukov, "Intrusive MPSC node-based queue", 1024cores.net.

#include "../measure.hpp"

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace {

struct Node {
  std::atomic<Node*> next{nullptr};
  std::uint64_t value = 0;
  unsigned char payload[40] = {};
};

class Inbox {  // push: any thread; pop: one thread
 public:
  void push(Node* node) {
    node->next.store(nullptr, std::memory_order_relaxed);
    Node* before = head_.exchange(node, std::memory_order_acq_rel);
    before->next.store(node, std::memory_order_release);  // pairs with the acquires of pop
  }

  Node* pop() {
    Node* tail = tail_;
    Node* next = tail->next.load(std::memory_order_acquire);
    if (tail == &stub_) {
      if (next == nullptr) return nullptr;
      tail_ = tail = next;
      next = next->next.load(std::memory_order_acquire);
    }
    if (next == nullptr) {
      if (tail != head_.load(std::memory_order_acquire)) return nullptr;
      push(&stub_);
      next = tail->next.load(std::memory_order_acquire);
      if (next == nullptr) return nullptr;
    }
    tail_ = next;
    return tail;
  }

  Node* wait() {
    for (;;) {
      if (Node* node = pop()) return node;
    }
  }

 private:
  alignas(128) std::atomic<Node*> head_{&stub_};
  alignas(128) Node* tail_ = &stub_;
  Node stub_;
};

Inbox to_partner, to_main;
std::atomic<int> started{0};  // the repetition that runs; -1: the end. The partner sleeps on it
perf::Run current;

double latency(const perf::Run& run) {
  static Node ball;
  double start = 0;
  for (long i = -run.warmup; i < run.iterations; ++i) {
    if (i == 0) start = perf::now_ns();
    ++ball.value;
    to_partner.push(&ball);
    to_main.wait();
  }
  return perf::now_ns() - start;
}

// Two windows of nodes; a window comes back, all of it, when its last node has been taken.
double stream(const perf::Run& run) {
  const long window = perf::window(run.size);
  static std::vector<Node> nodes(std::size_t{2} * 64);
  static Node marks[2];
  double start = 0;
  long sent = -run.warmup;
  long outstanding = 0;
  for (long which = 0; sent < run.iterations; which = 1 - which) {
    if (sent >= 0 && start == 0) start = perf::now_ns();
    for (long k = 0; k < window; ++k, ++sent) {
      Node& node = nodes[static_cast<std::size_t>(which * window + k)];
      node.value = static_cast<std::uint64_t>(k);
      to_partner.push(&node);
    }
    marks[which].value = ~std::uint64_t{0};
    to_partner.push(&marks[which]);
    if (++outstanding == 2) {
      to_main.wait();
      --outstanding;
    }
  }
  while (outstanding-- > 0) to_main.wait();
  return perf::now_ns() - start;
}

void partner() {
  perf::pin_to_core(1);
  std::uint64_t sum = 0;
  for (int round = 0;;) {
    started.wait(round, std::memory_order_acquire);
    round = started.load(std::memory_order_acquire);
    if (round < 0) break;
    if (current.metric == "latency") {
      for (long i = 0; i < current.warmup + current.iterations; ++i) {
        Node* node = to_partner.wait();
        sum += node->value;
        to_main.push(node);
      }
    } else {
      const long window = perf::window(current.size);
      for (long sent = -current.warmup; sent < current.iterations; sent += window) {
        for (;;) {
          Node* node = to_partner.wait();
          if (node->value == ~std::uint64_t{0}) {
            to_main.push(node);
            break;
          }
          sum += node->value;
        }
      }
    }
  }
  if (sum == 1) std::puts("");  // keeps the reads
}

}  // namespace

int main(int argc, char** argv) {
  perf::Schedule schedule(perf::arguments(argc, argv), {"two_pes"},
                          {"latency", "bandwidth", "rate"});
  schedule.open();
  std::thread other(partner);
  perf::pin_to_core(0);
  while (auto run = schedule.next()) {
    current = *run;
    started.fetch_add(1, std::memory_order_release);  // pairs with the partner's wait
    started.notify_one();
    const double ns = run->metric == "latency" ? latency(*run) : stream(*run);
    schedule.report(*run, perf::value_of(*run, ns));
  }
  started.store(-1, std::memory_order_release);
  started.notify_one();
  other.join();
  return schedule.exit_code();
}
