// SPDX-License-Identifier: Apache-2.0
// The problem: what shoal/comm/transport.hpp promises must hold for every transport. Offered: one
// list of scenarios, each named after the case it shows, to be run by a driver (see
// transport_party.hpp).
#pragma once

#include "transport_party.hpp"
#include "transport_talker.hpp"

#include <sys/mman.h>
#include <time.h>

namespace contract {

inline void sleep_ms(long ms) {
  const timespec time{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&time, nullptr);  // lint: allow(sleep): the cases ask for a party that is late
}

/// Each party sends every item `copies` times to the next one, and expects the same from the one
/// before.
class Exchange final : public Talker {
 public:
  struct Item {
    std::size_t frame;
    std::size_t bulk;
  };
  enum class Take { at_once, late, release, release_late };
  struct Plan {
    std::vector<Item> items;
    std::uint64_t copies = 1;
    Take take = Take::at_once;
  };
  explicit Exchange(Plan plan) : plan_(std::move(plan)) {}

  void start() override {
    for (std::uint64_t copy = 0; copy < plan_.copies; ++copy) {
      for (const Item& item : plan_.items) say((index + 1) % count, item.frame, item.bulk);
    }
  }
  void arrived(const Arrival& arrival) override {
    hear(arrival);
    if (arrival.bulk_size == 0) return;
    if (plan_.take == Take::at_once) return take(arrival.bulk, arrival.bulk_size);
    if (plan_.take == Take::release) return port->release(arrival.bulk);
    waiting_.push_back({arrival.bulk, arrival.bulk_size});
  }
  void step() override {
    if (++steps_ % 50 != 0) return;
    for (auto [bulk, size] : std::exchange(waiting_, {})) {
      plan_.take == Take::late ? take(bulk, size) : port->release(bulk);
    }
  }
  bool done() const override {
    return heard() == plan_.copies * plan_.items.size() && waiting_.empty() && settled();
  }
  void finish() override {
    for (const Item& item : plan_.items) {
      if (heard(item.frame, item.bulk) == plan_.copies) continue;
      fail(fmt::format("frames of {} B with {} B beside them arrived {} times instead of {}",
                       item.frame, item.bulk, heard(item.frame, item.bulk), plan_.copies));
    }
    expect(heard() == plan_.copies * plan_.items.size(), "something arrived that was not sent");
  }

 private:
  struct Waiting {
    BulkHandle bulk;
    std::size_t size;
  };
  Plan plan_;
  std::vector<Waiting> waiting_;
  unsigned steps_ = 0;
};

/// Tokens go round the ring; each is passed on from within `arrived`, now small, now large.
class Ring final : public Talker {
 public:
  void start() override {
    for (std::uint64_t token = 0; token < kTokens; ++token) pass(token);
  }
  void arrived(const Arrival& arrival) override {
    hear(arrival);
    if (heard() + kTokens <= kTokens * kRounds) pass(heard());
  }
  bool done() const override { return heard() == kTokens * kRounds && settled(); }

 private:
  // Every party starts kTokens and passes on all but the last kTokens that it hears.
  static constexpr std::uint64_t kTokens = 4;
  static constexpr unsigned kRounds = 500;
  void pass(std::uint64_t turn) {
    say((index + 1) % count, turn % 64 == 3 ? 100'000 : turn % 5 == 0 ? 2'048 : 8, 0);
  }
};

/// Two parties take turns and sleep while the other acts; nobody may sleep through an arrival.
class Sleeper final : public Talker {
 public:
  void start() override {
    if (index == 0) turn();
  }
  void arrived(const Arrival& arrival) override {
    hear(arrival);
    if (arrival.bulk_size != 0) take(arrival.bulk, arrival.bulk_size);
    if (index == 1 || heard() < kTurns) turn();
  }
  void step() override { doze(); }
  bool done() const override { return heard() == kTurns && settled(); }

 private:
  static constexpr unsigned kTurns = 60;
  void turn() {
    constexpr std::array<Exchange::Item, 5> kItems{
        {{8, 0}, {2'048, 0}, {40, 100'000}, {70'000, 0}, {8, 1'000'000}}};
    const auto& item = kItems[heard() % kItems.size()];
    say(1 - index, item.frame, item.bulk);
  }
};

/// The first traffic ever between two parties is one large message to a receiver that comes late.
class FirstLarge final : public Talker {
 public:
  explicit FirstLarge(Exchange::Item item) : item_(item) {}
  void start() override {
    if (index == 0) return say(1, item_.frame, item_.bulk);
    if (may_block) sleep_ms(200);
    began_ = steady_clock().now();
  }
  void arrived(const Arrival& arrival) override {
    hear(arrival);
    if (arrival.bulk_size != 0) take(arrival.bulk, arrival.bulk_size);
  }
  void step() override { doze(); }
  bool done() const override { return heard() == index && settled(); }
  void finish() override {
    if (index == 0) return;
    expect(heard(item_.frame, item_.bulk) == 1, "the message did not arrive once");
    expect(steady_clock().now() - began_ < 10 * kSecond, "a large first message took seconds");
  }

 private:
  Exchange::Item item_;
  Nanoseconds began_ = 0;
};

/// Many senders overwhelm party 0, which is away at first; each message is numbered.
class Flood final : public Talker {
 public:
  void start() override {
    seen_.resize(count);
    if (index == 0) {
      if (may_block) sleep_ms(100);
      return;
    }
    for (std::uint64_t number = 0; number < kSmall + kLarge; ++number) {
      Frame* frame = take_frame(*pool, number < kSmall ? 96 : 65'536);
      std::memset(frame->data(), static_cast<int>(number % 251), frame->size);
      const std::array<std::uint64_t, 2> head{index, number};
      std::memcpy(frame->data(), head.data(), sizeof head);
      port->send(pe_of(0), frame);
    }
  }
  void arrived(const Arrival& arrival) override {
    std::array<std::uint64_t, 2> head{};
    if (index != 0 || arrival.frame.size() < sizeof head) return fail("a stray message");
    std::memcpy(head.data(), arrival.frame.data(), sizeof head);
    if (head[0] == 0 || head[0] >= count || head[1] >= kSmall + kLarge) return fail("bad numbers");
    auto& seen = seen_[head[0]];
    seen.resize(kSmall + kLarge);
    if (seen[head[1]]) return fail(fmt::format("message {} of {} came twice", head[1], head[0]));
    seen[head[1]] = true;
    ++arrived_;
    expect(arrival.frame.size() == (head[1] < kSmall ? 96 : 65'536), "a length changed");
    for (std::byte byte : arrival.frame.subspan(sizeof head)) {
      if (byte != static_cast<std::byte>(head[1] % 251)) return fail("a byte changed");
    }
  }
  bool done() const override {
    return arrived_ == (index == 0 ? (count - 1) * (kSmall + kLarge) : 0);
  }
  std::string state() const override { return fmt::format("{} arrived", arrived_); }

 private:
  static constexpr std::uint64_t kSmall = 10'000;
  static constexpr std::uint64_t kLarge = 40;
  std::vector<std::vector<bool>> seen_;
  std::uint64_t arrived_ = 0;
};

/// Everybody leaves at once, with small and large messages in flight.
class Leaver final : public Talker {
 public:
  void start() override {
    for (unsigned i = 0; i < 200; ++i) say((index + 1) % count, 8, i % 100 == 0 ? 1U << 20U : 0);
  }
  void arrived(const Arrival& arrival) override {
    hear(arrival);
    if (arrival.bulk_size != 0) take(arrival.bulk, arrival.bulk_size);
  }
  void finish() override {
    expect(settled(), "close returned while a bulk was still being sent");
    expect(heard(8, 1U << 20U) == 2, "a bulk whose sender was told of its end did not arrive");
    expect(heard() <= 200, "more arrived than was sent");
  }
};

/// Memory is unmapped once it has been sent, and mapped anew at the same place with other content.
class Remapper final : public Talker {
 public:
  void start() override {
    if (index == 0) next();
  }
  void arrived(const Arrival& arrival) override {
    hear(arrival);
    take(arrival.bulk, arrival.bulk_size, heard() - 1);
  }
  void step() override {
    if (index != 0 || busy_ || sent_ == kTimes) return;
    munmap(memory_, kSize);
    next();
  }
  bool done() const override {
    return index == 0 ? sent_ == kTimes && !busy_ : heard() == kTimes && settled();
  }

 private:
  static constexpr std::size_t kSize = 1U << 20U;
  static constexpr unsigned kTimes = 40;
  struct Sent : Completion {
    Remapper* party = nullptr;
  };
  void next() {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (memory_ == nullptr ? 0 : MAP_FIXED);
    memory_ = mmap(memory_, kSize, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (memory_ == MAP_FAILED) return fail("no memory");
    const std::span bytes(static_cast<std::byte*>(memory_), kSize);
    fill(bytes, sent_++);
    busy_ = true;
    completion_.party = this;
    completion_.run = [](Completion& self, bool succeeded) noexcept {
      static_cast<Sent&>(self).party->busy_ = false;
      static_cast<Sent&>(self).party->expect(succeeded, "a send failed");
    };
    Frame* frame = take_frame(*pool, 16);
    fill(frame->bytes(), 16);
    port->send(pe_of(1), frame, {bytes, &completion_});
  }
  void* memory_ = nullptr;
  unsigned sent_ = 0;
  bool busy_ = false;
  Sent completion_;
};

/// The sizes that every transport treats in some way of its own: empty, inline, one segment,
/// several.
inline const std::vector<std::size_t>& interesting_sizes() {
  static const std::vector<std::size_t> sizes{
      0, 1, 7, 8, 40, 96, 188, 189, 216, 256, 2'048, 8'192, 65'536, 1U << 20U, 4U << 20U,
  };
  return sizes;
}

inline std::vector<Exchange::Item> bulks_of(std::initializer_list<std::size_t> frames) {
  std::vector<Exchange::Item> items;
  for (std::size_t frame : frames) {
    for (std::size_t bulk : interesting_sizes()) {
      if (bulk != 0) items.push_back({frame, bulk});
    }
  }
  return items;
}

/// The contract. Every driver runs all of it.
inline std::vector<Scenario> scenarios() {
  using Take = Exchange::Take;
  std::vector<Exchange::Item> frames;
  for (std::size_t size : interesting_sizes()) frames.push_back({size, 0});
  const auto exchange = [](Exchange::Plan plan) {
    return [plan = std::move(plan)](unsigned) { return std::make_unique<Exchange>(plan); };
  };
  const auto bulks = bulks_of({0, 8, 40, 189, 2'048});
  return {
      {"COMM-02 frames of every size, empty ones too, arrive once and unchanged", 2,
       exchange({frames, 3})},
      {"bulks of every size are received within arrived", 2, exchange({bulks, 1, Take::at_once})},
      {"bulks of every size are received late", 2, exchange({bulks, 1, Take::late})},
      {"bulks of every size are released within arrived", 2, exchange({bulks, 1, Take::release})},
      {"bulks of every size are released late", 2, exchange({bulks, 1, Take::release_late})},
      {"a long frame beside a bulk arrives whole", 2,
       exchange({{{9'000, 8}, {65'536, 100'000}, {1U << 20U, 1U << 20U}}, 2, Take::late})},
      {"twenty thousand frames under way at once arrive once", 2, exchange({{{96, 0}}, 20'000})},
      {"a thousand bulks may be under way and announced at once", 2,
       exchange({{{8, 64}, {8, 16'384}}, 500, Take::late})},
      {"what arrives may be answered from within arrived", 3,
       [](unsigned) { return std::make_unique<Ring>(); }},
      {"an arrival wakes a party that sleeps on its event fd", 2,
       [](unsigned) { return std::make_unique<Sleeper>(); }},
      {"COMM-05 the very first message may be a large frame", 2,
       [](unsigned) {
         return std::make_unique<FirstLarge>(Exchange::Item{1'500'000, 0});
       }},
      {"COMM-05 the very first message may carry a large bulk", 2,
       [](unsigned) {
         return std::make_unique<FirstLarge>(Exchange::Item{8, 1'500'000});
       }},
      {"COMM-04 many senders flood one busy receiver", 4,
       [](unsigned) { return std::make_unique<Flood>(); }},
      {"COMM-16 ports close with traffic in flight", 4,
       [](unsigned) { return std::make_unique<Leaver>(); }},
      {"COMM-19 memory mapped anew at the same place is sent with its new content", 2,
       [](unsigned) { return std::make_unique<Remapper>(); }},
  };
}

}  // namespace contract
