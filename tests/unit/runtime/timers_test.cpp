// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/random.hpp>
#include <shoal/runtime/timers.hpp>

#include <doctest/doctest.h>

#include <deque>

using namespace shoal::runtime;  // NOLINT(google-build-using-namespace)

namespace {

const MessageType kNothing{nullptr, nullptr, nullptr};

std::deque<Message> messages(std::size_t count) {
  std::deque<Message> made;
  for (std::size_t i = 0; i < count; ++i) made.emplace_back(kNothing);
  return made;
}

}  // namespace

TEST_CASE("timers come in the order of their deadlines") {
  auto made = messages(300);
  shoal::comm::Random random(21);
  Timers timers;
  for (Message& message : made) timers.add(random.below(1'000'000), &message);
  shoal::comm::Nanoseconds last = 0;
  while (!timers.empty()) {
    REQUIRE(timers.next() >= last);
    last = timers.next();
    timers.take();
  }
}

TEST_CASE("timers of one deadline come in the order in which they were set") {
  auto made = messages(300);
  Timers timers;
  for (Message& message : made) timers.add(5, &message);
  for (Message& message : made) REQUIRE(timers.take() == &message);
}

TEST_CASE("a timer that was cancelled does not come, and the others keep their order") {
  auto made = messages(300);
  Timers timers;
  for (std::size_t i = 0; i < made.size(); ++i) {
    made[i].tag = static_cast<std::uint16_t>(i);
    timers.add(1000 - i / 3, &made[i]);
  }
  for (std::size_t i = 0; i < made.size(); i += 2) REQUIRE(timers.remove(&made[i]));
  CHECK(timers.size() == 150);
  shoal::comm::Nanoseconds last = 0;
  const Message* before = nullptr;
  while (!timers.empty()) {
    const shoal::comm::Nanoseconds deadline = timers.next();
    const Message* message = timers.take();
    REQUIRE(deadline >= last);
    if (deadline == last) REQUIRE(before->tag < message->tag);
    last = deadline;
    before = message;
  }
}

TEST_CASE("cancelling what is not there is told") {
  auto made = messages(2);
  Timers timers;
  timers.add(1, &made[0]);
  CHECK_FALSE(timers.remove(&made[1]));
  CHECK(timers.remove(&made[0]));
  CHECK_FALSE(timers.remove(&made[0]));
}
