// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/inbox.hpp>

#include <doctest/doctest.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

using namespace shoal::comm;  // NOLINT(google-build-using-namespace)

namespace {

struct Item : Block {
  std::uint32_t producer = 0;
  std::uint32_t number = 0;
};

TEST_CASE("an inbox gives blocks back in the order in which one producer pushed them") {
  Inbox inbox;
  CHECK(inbox.empty());
  CHECK(inbox.pop() == nullptr);
  std::array<Item, 5> items;
  for (Item& item : items) CHECK_FALSE(inbox.push(&item));
  CHECK_FALSE(inbox.empty());
  for (Item& item : items) CHECK(inbox.pop() == &item);
  CHECK(inbox.pop() == nullptr);
  CHECK(inbox.empty());
}

TEST_CASE("an inbox can be emptied and filled by turns, so that its stub comes round") {
  Inbox inbox;
  std::array<Item, 2> items;
  for (int i = 0; i < 100; ++i) {
    inbox.push(&items[0]);
    if (i % 3 == 0) inbox.push(&items[1]);
    CHECK(inbox.pop() == &items[0]);
    if (i % 3 == 0) CHECK(inbox.pop() == &items[1]);
    CHECK(inbox.pop() == nullptr);
  }
}

TEST_CASE("the first push after an announced sleep, and no other, must wake the consumer") {
  Inbox inbox;
  std::array<Item, 3> items;
  CHECK(inbox.prepare_sleep());
  CHECK(inbox.push(&items[0]));
  CHECK_FALSE(inbox.push(&items[1]));
  CHECK_FALSE(inbox.prepare_sleep());  // something is there
  CHECK_FALSE(inbox.push(&items[2]));
}

TEST_CASE("a wake-up without a block is asked for once") {
  Inbox inbox;
  CHECK_FALSE(inbox.must_wake());
  CHECK(inbox.prepare_sleep());
  CHECK(inbox.must_wake());
  CHECK_FALSE(inbox.must_wake());
  CHECK(inbox.prepare_sleep());
  inbox.awake();
  CHECK_FALSE(inbox.must_wake());
}

TEST_CASE("four producers' blocks all arrive, each producer's in order, and no wake-up is lost") {
  constexpr std::uint32_t kProducers = 4;
  constexpr std::uint32_t kEach = 20'000;
  Inbox inbox;
  const int fd = eventfd(0, EFD_NONBLOCK);
  std::vector<std::vector<Item>> items(kProducers);
  std::atomic<std::uint32_t> sleeps{0};
  std::vector<std::thread> producers;
  for (std::uint32_t p = 0; p < kProducers; ++p) {
    items[p] = std::vector<Item>(kEach);
    producers.emplace_back([&, p] {
      for (std::uint32_t i = 0; i < kEach; ++i) {
        items[p][i].producer = p;
        items[p][i].number = i;
        // The last block waits for a consumer that sleeps, so that at least one does.
        while (p == 0 && i + 1 == kEach && sleeps.load() == 0) std::this_thread::yield();
        if (inbox.push(&items[p][i])) {
          const std::uint64_t one = 1;
          REQUIRE(write(fd, &one, sizeof one) == sizeof one);
        }
      }
    });
  }
  std::array<std::uint32_t, kProducers> next{};
  for (std::uint32_t got = 0; got < kProducers * kEach;) {
    if (Block* block = inbox.pop()) {
      const auto& item = static_cast<Item&>(*block);
      REQUIRE(item.number == next[item.producer]++);
      ++got;
      continue;
    }
    if (!inbox.prepare_sleep()) continue;
    sleeps.fetch_add(1);
    pollfd entry{fd, POLLIN, 0};
    REQUIRE(poll(&entry, 1, 30'000) == 1);  // 0 would be a lost wake-up
    inbox.awake();
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t drained = read(fd, &count, sizeof count);
  }
  for (std::thread& producer : producers) producer.join();
  CHECK(inbox.pop() == nullptr);
  close(fd);
}

}  // namespace
