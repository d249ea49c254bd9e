// SPDX-License-Identifier: Apache-2.0
// Damaged and random bytes are read as each sample type. Nothing may crash (run it under the asan
// preset) and no fault may make the reader ask for much more memory than the message has bytes.
#include "serialize_samples.hpp"

#include <shoal/actors/serialize/bytes.hpp>
#include <shoal/comm/random.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

namespace {

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();
std::size_t allowed_bytes = kNoLimit;
std::size_t largest_request = 0;

void* counted_allocation(std::size_t size) {
  if (size > largest_request) largest_request = size;
  if (size > allowed_bytes) std::abort();
  if (allowed_bytes != kNoLimit) allowed_bytes -= size;
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return counted_allocation(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return counted_allocation(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace shoal::actors {
namespace {

// All memory that one read may ask for. Empty elements may take kMaxEmptyElements bytes, and a
// vector that grows asks for twice that in all.
constexpr std::size_t kAllowance = (4 * kMaxEmptyElements) + (1 << 20);

bool read_within_allowance(const samples::Sample& sample, std::span<const std::byte> bytes) {
  // A copy of the exact size, so that the address sanitizer sees a read behind the end.
  const std::vector<std::byte> exact(bytes.begin(), bytes.end());
  allowed_bytes = kAllowance;
  const bool fully_read = sample.read(exact, {}).fully_read;
  allowed_bytes = kNoLimit;
  return fully_read;
}

constexpr std::uint64_t kSeed = 20240607;
constexpr int kRounds = 2000;

TEST_CASE("random bytes are read without harm") {
  MESSAGE("seed ", kSeed);
  comm::Random random(kSeed);
  for (const auto& sample : samples::all_samples()) {
    for (int round = 0; round < kRounds; ++round) {
      std::vector<std::byte> bytes(random.below(200));
      // Many zeros and small numbers make plausible lengths.
      const std::uint64_t range = random.chance(0.5) ? 3 : 256;
      for (auto& byte : bytes) {
        byte = static_cast<std::byte>(random.chance(0.7) ? 0 : random.below(range));
      }
      read_within_allowance(*sample, bytes);
    }
  }
}

TEST_CASE("flipped bits are read without harm") {
  MESSAGE("seed ", kSeed);
  comm::Random random(kSeed + 1);
  for (const auto& sample : samples::all_samples()) {
    const auto valid = sample->send(BulkRule::none).message;
    for (int round = 0; round < kRounds && !valid.empty(); ++round) {
      auto bytes = valid;
      for (auto flips = random.below(3) + 1; flips > 0; --flips) {
        bytes[random.below(bytes.size())] ^= static_cast<std::byte>(1U << random.below(8));
      }
      read_within_allowance(*sample, bytes);
    }
  }
}

TEST_CASE("every single flipped bit is read without harm") {
  for (const auto& sample : samples::all_samples()) {
    auto bytes = sample->send(BulkRule::none).message;
    for (auto& byte : bytes) {
      for (unsigned bit = 0; bit < 8; ++bit) {
        byte ^= static_cast<std::byte>(1U << bit);
        read_within_allowance(*sample, bytes);
        byte ^= static_cast<std::byte>(1U << bit);
      }
    }
  }
}

TEST_CASE("spliced messages are read without harm") {
  MESSAGE("seed ", kSeed);
  comm::Random random(kSeed + 2);
  std::vector<std::vector<std::byte>> valid;
  for (const auto& sample : samples::all_samples()) {
    valid.push_back(sample->send(BulkRule::none).message);
  }
  for (const auto& sample : samples::all_samples()) {
    for (int round = 0; round < kRounds; ++round) {
      auto bytes = valid[random.below(valid.size())];
      const auto& tail = valid[random.below(valid.size())];
      bytes.resize(random.below(bytes.size() + 1));
      bytes.insert(bytes.end(), tail.begin(), tail.end());
      read_within_allowance(*sample, bytes);
    }
  }
}

TEST_CASE("a message cut at any byte is refused without harm") {
  for (const auto& sample : samples::all_samples()) {
    CAPTURE(sample->type());
    const auto bytes = sample->send(BulkRule::none).message;
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      CHECK_FALSE(read_within_allowance(*sample, std::span(bytes).first(size)));
    }
    CHECK(read_within_allowance(*sample, bytes));
  }
}

TEST_CASE("a false count takes no more memory than the message has bytes, four times over") {
  for (const auto& sample : samples::all_samples()) {
    CAPTURE(sample->type());
    std::vector<std::byte> bytes(8000);
    const std::uint64_t count = 1U << 30U;
    std::memcpy(bytes.data(), &count, sizeof count);
    largest_request = 0;
    read_within_allowance(*sample, bytes);
    CHECK(largest_request <= 4 * bytes.size());
  }
}

}  // namespace
}  // namespace shoal::actors
