// SPDX-License-Identifier: Apache-2.0
#include <shoal/actors/serialize/memory.hpp>
#include <shoal/actors/serialize/round_trip.hpp>
#include <shoal/actors/serialize/unordered.hpp>
#include <shoal/comm/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace shoal::actors {

void report_nested_too_deep() {
  comm::check_failed("depth <= kMaxDepth",
                     fmt::format("a message nests containers or pointers more than {} deep; send a "
                                 "long chain as a std::vector or std::list",
                                 kMaxDepth));
}

void report_too_many_empty_elements() {
  comm::check_failed(
      "empty elements <= kMaxEmptyElements",
      fmt::format("a message holds more than {} elements that have no bytes", kMaxEmptyElements));
}

void report_overrun(std::size_t wanted, std::size_t left) {
  comm::check_failed(
      "wanted <= left",
      fmt::format("a `serialize` writes {} bytes where sizing left {}: it does not do "
                  "the same thing twice, or its object changed in between",
                  wanted, left));
}

void report_not_serializable_value(const char* what) { comm::check_failed("a value", what); }

std::string Sizer::describe() const {
  return fmt::format("sizing: {} bytes so far, and {} bytes of bulk", size_, bulk_.size);
}

std::string Writer::describe() const {
  return fmt::format("writing byte {} of {}", written(), end_ - begin_);
}

std::string Reader::describe() const {
  const auto size = end_ - begin_;
  if (fault_ == nullptr) {
    return fmt::format("reading byte {} of {}", at_ - begin_, size);
  }
  return fmt::format("reading byte {} of {}: {} ({})", fault_at_ - begin_, size, fault_,
                     fault_number_);
}

void sort_by_bytes(std::vector<WrittenElement>& elements) {
  // Not operator<: g++ 12 warns of a vector of bytes that is longer than memory.
  std::sort(elements.begin(), elements.end(), [](const auto& left, const auto& right) {
    const std::size_t shared = std::min(left.bytes.size(), right.bytes.size());
    const int order = shared == 0 ? 0 : std::memcmp(left.bytes.data(), right.bytes.data(), shared);
    return order != 0 ? order < 0 : left.bytes.size() < right.bytes.size();
  });
}

std::optional<std::string> describe_difference(std::span<const std::byte> before,
                                               std::span<const std::byte> after) {
  const auto at = std::mismatch(before.begin(), before.end(), after.begin(), after.end()).first;
  if (at == before.end() && before.size() == after.size()) return std::nullopt;
  return fmt::format("what was read is written differently, from byte {} of {} on (then {} bytes)",
                     at - before.begin(), before.size(), after.size());
}

namespace {
struct Seen {
  const void* address;
  const void* type;
  bool operator==(const Seen&) const = default;
};
struct SeenHash {
  std::size_t operator()(const Seen& seen) const noexcept {
    const std::hash<const void*> hash;
    return hash(seen.address) * 31 + hash(seen.type);
  }
};
struct Kept {
  std::shared_ptr<const void> object;
  const void* type;
};
}  // namespace

struct Tracker {
  std::unordered_map<Seen, std::uint64_t, SeenHash> numbers;
  std::vector<Kept> objects;
};

Met meet(Tracker& tracker, std::shared_ptr<const void> object, const void* type) {
  const auto [entry, fresh] =
      tracker.numbers.try_emplace({object.get(), type}, tracker.objects.size());
  if (fresh) tracker.objects.push_back({std::move(object), type});
  return {entry->second, !fresh};
}

std::shared_ptr<void> find(const Tracker& tracker, std::uint64_t number, const void* type) {
  if (number >= tracker.objects.size() || tracker.objects[number].type != type) return nullptr;
  return std::const_pointer_cast<void>(tracker.objects[number].object);
}

Tracker* make_tracker() { return new Tracker; }  // NOLINT: LazyTracker owns it, incomplete there

void destroy_tracker(Tracker* tracker) noexcept { delete tracker; }  // NOLINT: made above

}  // namespace shoal::actors
