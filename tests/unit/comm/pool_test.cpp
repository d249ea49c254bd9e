// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/frame.hpp>
#include <shoal/comm/pool.hpp>

#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

using namespace shoal::comm;  // NOLINT(google-build-using-namespace)

TEST_CASE("a pool's size classes are powers of two from 128 B to 16 MiB") {
  CHECK(Pool::class_of(1) == 0);
  CHECK(Pool::class_of(128) == 0);
  CHECK(Pool::class_of(129) == 1);
  CHECK(Pool::class_of(256) == 1);
  CHECK(Pool::class_of(257) == 2);
  CHECK(Pool::class_of(32'768) == 8);
  CHECK(Pool::class_of(32'769) == 9);
  CHECK(Pool::class_of(65'536) == 9);
  CHECK(Pool::class_of(65'536 + Pool::kLead) == 9);
  CHECK(Pool::class_of(65'537 + Pool::kLead) == 10);
  CHECK(Pool::class_of(Pool::kLargest) == Pool::kClasses - 1);
  CHECK(Pool::class_of(Pool::kLargest + 1) == Pool::kClasses);
}

TEST_CASE("a block that is released is the next of its class to be taken") {
  Pool pool;
  Frame* first = take_frame(pool, 40);
  pool.release(first);
  CHECK(take_frame(pool, 60) == first);
  Frame* other = take_frame(pool, 60);
  CHECK(other != first);
  pool.release(first);
  pool.release(other);
}

TEST_CASE("blocks of every class are writable to their end, apart and aligned to a cache line") {
  Pool pool;
  std::vector<Frame*> frames;
  for (std::size_t size = 0; size <= 2 * Pool::kLargest; size = size * 2 + 17) {
    for (int copy = 0; copy < 3; ++copy) {
      Frame* frame = take_frame(pool, size);
      REQUIRE(frame->size == size);
      REQUIRE(Pool::capacity(*frame) >= sizeof(Frame) + size);
      REQUIRE(reinterpret_cast<std::uintptr_t>(frame) % 64 == 0);
      if (size >= 65'536) REQUIRE(reinterpret_cast<std::uintptr_t>(frame->data()) % 4096 == 0);
      std::memset(frame->data(), static_cast<int>(frames.size() % 200), size);
      frames.push_back(frame);
    }
  }
  for (std::size_t i = 0; i < frames.size(); ++i) {
    for (std::size_t at = 0; at < frames[i]->size; at += 97) {
      REQUIRE(frames[i]->data()[at] == static_cast<std::byte>(i % 200));
    }
    pool.release(frames[i]);
  }
}

TEST_CASE("blocks above the largest class are not kept") {
  Pool pool;
  const std::size_t before = pool.reserved_bytes();
  pool.release(take_frame(pool, Pool::kLargest * 2));
  CHECK(pool.reserved_bytes() == before);
}

TEST_CASE("idle blocks of the large classes are kept up to a limit") {
  constexpr std::size_t kBlock = std::size_t{8} << 20U;
  constexpr std::size_t kKept = Pool::kIdleLargeBytes / kBlock;
  Pool pool;
  std::vector<Frame*> frames(kKept + 4);
  for (Frame*& frame : frames) frame = take_frame(pool, kBlock - sizeof(Frame));
  const std::size_t reserved = pool.reserved_bytes();
  for (Frame* frame : frames) pool.release(frame);
  for (Frame*& frame : frames) frame = take_frame(pool, kBlock - sizeof(Frame));
  CHECK(pool.reserved_bytes() == reserved + 4 * kBlock);
  for (Frame* frame : frames) pool.release(frame);
}

TEST_CASE("a pool does not grow when each block is released before the next is taken") {
  Pool pool;
  pool.release(take_frame(pool, 500));
  const std::size_t reserved = pool.reserved_bytes();
  for (int i = 0; i < 10'000; ++i) pool.release(take_frame(pool, 500));
  CHECK(pool.reserved_bytes() == reserved);
}

// What a pool takes from the machine at a time.
constexpr std::size_t kSlab = std::size_t{16} << 10U;

TEST_CASE("blocks that another PE frees come back, but for a few that it keeps") {
  Pool owner;
  Pool other;
  std::vector<Frame*> frames(1'000);
  for (Frame*& frame : frames) frame = take_frame(owner, 40);
  for (Frame* frame : frames) other.release(frame);
  other.flush_returns();
  const std::size_t reserved = owner.reserved_bytes();
  for (Frame*& frame : frames) frame = take_frame(owner, 40);
  CHECK(owner.reserved_bytes() <= reserved + Pool::kMostAdopted * Pool::kSmallest + kSlab);
  for (Frame* frame : frames) owner.release(frame);
}

TEST_CASE("two pools whose PEs send each other as much do not grow") {
  Pool first;
  Pool second;
  std::size_t reserved = 0;
  for (int i = 0; i < 10'000; ++i) {
    Frame* there = take_frame(first, 40);
    first.gave();
    second.release(there);
    Frame* back = take_frame(second, 40);
    second.gave();
    first.release(back);
    if (i == 100) reserved = first.reserved_bytes() + second.reserved_bytes();
  }
  CHECK(first.reserved_bytes() + second.reserved_bytes() == reserved);
}

TEST_CASE("no pool of a chain in which each PE only sends to the next grows for ever") {
  std::array<Pool, 3> pools;
  std::size_t reserved = 0;
  for (int i = 0; i < 10'000; ++i) {
    for (std::size_t from = 0; from + 1 < pools.size(); ++from) {
      Frame* frame = take_frame(pools[from], 40);
      pools[from].gave();
      pools[from + 1].release(frame);
      pools[from + 1].flush_returns();
    }
    const std::size_t now = pools[0].reserved_bytes() + pools[1].reserved_bytes();
    if (i == 1'000) reserved = now;
  }
  CHECK(pools[0].reserved_bytes() + pools[1].reserved_bytes() == reserved);
}

TEST_CASE("blocks of two pools freed by turns on a third PE each find their own pool") {
  Pool first;
  Pool second;
  Pool third;
  for (int i = 0; i < 500; ++i) {
    third.release(take_frame(first, 40));
    third.release(take_frame(second, 300));
  }
  third.flush_returns();
  const std::size_t reserved = first.reserved_bytes() + second.reserved_bytes();
  for (int i = 0; i < 100; ++i) {
    first.release(take_frame(first, 40));
    second.release(take_frame(second, 300));
  }
  CHECK(first.reserved_bytes() + second.reserved_bytes() == reserved);
}

TEST_CASE("a pool does not grow while another thread frees what it hands out") {
  constexpr std::uint64_t kMessages = 200'000;
  constexpr std::uint64_t kUnderWay = 256;
  Pool owner;
  std::array<std::atomic<Frame*>, kUnderWay> slots{};
  std::thread consumer([&] {
    Pool mine;
    for (std::uint64_t i = 0; i < kMessages; ++i) {
      Frame* frame = nullptr;
      while ((frame = slots[i % kUnderWay].exchange(nullptr, std::memory_order_acquire)) ==
             nullptr) {
        std::this_thread::yield();
      }
      mine.release(frame);
    }
    mine.flush_returns();
  });
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    Frame* frame = take_frame(owner, 40);
    while (slots[i % kUnderWay].load(std::memory_order_relaxed) != nullptr) {
      std::this_thread::yield();
    }
    slots[i % kUnderWay].store(frame, std::memory_order_release);  // pairs with the exchange
  }
  consumer.join();
  // What was under way or kept by the consumer, batches on their way back, slabs that are not full.
  CHECK(owner.reserved_bytes() < (kUnderWay + 1'000) * Pool::kSmallest);
}
