// SPDX-License-Identifier: Apache-2.0
// The problem: the tests of the simulated network need PEs that send, note and answer, and a
// driver. Offered: a world of such PEs, each with a pool and a port; frames carry a 64-bit number
// and some padding.
#pragma once

#include <shoal/comm/simulated/network.hpp>

#include <cstring>
#include <deque>
#include <memory>
#include <vector>

namespace simulated {

using namespace shoal::comm;  // NOLINT(google-build-using-namespace): a test's vocabulary

struct Noted : Completion {
  Noted() {
    run = [](Completion& self, bool well) noexcept {
      auto& noted = static_cast<Noted&>(self);
      ++noted.runs;
      noted.succeeded = well;
    };
  }
  int runs = 0;
  bool succeeded = false;
};

class World;

class Node final : public Receiver {
 public:
  struct Heard {
    std::uint64_t number;
    Nanoseconds at;
    std::size_t bulk_size;
    BulkHandle bulk;
  };

  Node(World& world, PeId pe) : world_(world), pe_(pe) {}
  virtual ~Node() = default;
  void open();
  void close() { port_.reset(); }
  void send(PeId to, std::uint64_t number, OutgoingBulk bulk = {});
  void arrived(const Arrival& arrival) override;
  bool progress() { return port_->progress(*this); }
  Port& port() { return *port_; }
  Pool& pool() { return pool_; }

  std::vector<Heard> heard;
  std::uint64_t answers =
      0;  ///< how many arrivals are answered with a frame to a PE drawn from them

 private:
  World& world_;
  PeId pe_;
  Pool pool_;
  std::unique_ptr<Port> port_;
};

class World {
 public:
  explicit World(const SimulatedOptions& options) : network(options) {
    for (std::uint32_t pe = 0; pe < network.pes(); ++pe) nodes.emplace_back(*this, PeId{pe});
    for (Node& node : nodes) node.open();
  }
  ~World() {
    network.drop_all();
    for (Node& node : nodes) node.close();
  }
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  Node& operator[](std::uint32_t pe) { return nodes[pe]; }
  Nanoseconds now() { return network.clock().now(); }
  /// Runs until nothing is left to happen.
  void run() {
    while (auto pe = network.next()) nodes[number(*pe)].progress();
  }
  std::uint64_t heard() const {
    std::uint64_t sum = 0;
    for (const Node& node : nodes) sum += node.heard.size();
    return sum;
  }

  SimulatedNetwork network;
  std::deque<Node> nodes;
};

inline void Node::open() { port_ = std::move(world_.network.open(pe_, pool_).value()); }

inline void Node::send(PeId to, std::uint64_t number, OutgoingBulk bulk) {
  Frame* frame = take_frame(pool_, sizeof number + number % 100);
  std::memset(frame->data(), 0, frame->size);
  std::memcpy(frame->data(), &number, sizeof number);
  port_->send(to, frame, bulk);
}

inline void Node::arrived(const Arrival& arrival) {
  std::uint64_t number = 0;
  std::memcpy(&number, arrival.frame.data(), sizeof number);
  heard.push_back({number, world_.now(), arrival.bulk_size, arrival.bulk});
  if (answers == 0) return;
  --answers;
  const std::uint64_t next = mix(number);
  send(PeId{static_cast<std::uint32_t>(next % world_.network.pes())}, next);
}

/// Every PE starts a frame that is answered until each has answered `answers` times.
inline void chatter(World& world, std::uint64_t answers) {
  std::uint32_t pe = 0;
  for (Node& node : world.nodes) {
    node.answers = answers;
    node.send(PeId{(pe * 7 + 1) % world.network.pes()}, pe);
    ++pe;
  }
  world.run();
}

}  // namespace simulated
