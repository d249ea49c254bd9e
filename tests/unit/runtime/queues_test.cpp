// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/random.hpp>
#include <shoal/runtime/priority_queue.hpp>

#include <doctest/doctest.h>

#include <deque>
#include <vector>

using namespace shoal::runtime;  // NOLINT(google-build-using-namespace)

namespace {

const MessageType kNothing{nullptr, nullptr, nullptr};

std::deque<Message> messages(std::size_t count) {
  std::deque<Message> made;
  for (std::size_t i = 0; i < count; ++i) made.emplace_back(kNothing);
  return made;
}

std::int32_t drawn_priority(shoal::comm::Random& random) {
  return static_cast<std::int32_t>(random.below(7)) - 3;
}

}  // namespace

TEST_CASE("an empty queue gives nothing, and again nothing") {
  Fifo queue;
  CHECK(queue.empty());
  CHECK(queue.pop() == nullptr);
  CHECK(queue.pop() == nullptr);
}

TEST_CASE("a queue gives messages in the order in which they came") {
  auto made = messages(100);
  Fifo queue;
  for (Message& message : made) queue.push(&message);
  for (Message& message : made) CHECK(queue.pop() == &message);
  CHECK(queue.empty());
}

TEST_CASE("a queue that ran empty takes the same messages again") {
  auto made = messages(3);
  Fifo queue;
  for (int round = 0; round < 3; ++round) {
    for (Message& message : made) queue.push(&message);
    for (Message& message : made) REQUIRE(queue.pop() == &message);
    REQUIRE(queue.pop() == nullptr);
  }
}

TEST_CASE("pushes and pops in any mixture keep the order") {
  shoal::comm::Random random(11);
  auto made = messages(1000);
  Fifo queue;
  std::size_t in = 0;
  std::size_t out = 0;
  while (out < made.size()) {
    if (in < made.size() && random.chance(0.5)) {
      queue.push(&made[in++]);
    } else if (Message* message = queue.pop()) {
      REQUIRE(message == &made[out++]);
    } else {
      REQUIRE(in == out);
    }
  }
  CHECK(queue.empty());
}

TEST_CASE("the smallest priority comes first") {
  shoal::comm::Random random(12);
  auto made = messages(500);
  PriorityQueue queue;
  for (Message& message : made) {
    message.priority = drawn_priority(random);
    queue.push(&message);
  }
  std::int32_t last = -100;
  while (!queue.empty()) {
    REQUIRE(queue.next_priority() >= last);
    last = queue.next_priority();
    REQUIRE(queue.pop()->priority == last);
  }
}

TEST_CASE("messages of one priority keep their order") {
  shoal::comm::Random random(13);
  auto made = messages(500);
  PriorityQueue queue;
  for (Message& message : made) {
    message.priority = drawn_priority(random);
    queue.push(&message);
  }
  const Message* last[7] = {};
  std::vector<std::size_t> places;
  while (!queue.empty()) {
    const Message* message = queue.pop();
    const Message*& before = last[message->priority + 3];
    if (before != nullptr) {
      const auto place = [&](const Message* of) {
        for (std::size_t i = 0; i < made.size(); ++i) {
          if (&made[i] == of) return i;
        }
        return made.size();
      };
      REQUIRE(place(before) < place(message));
    }
    before = message;
  }
}
