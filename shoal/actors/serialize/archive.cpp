// SPDX-License-Identifier: Apache-2.0
#include <shoal/actors/serialize/reader.hpp>
#include <shoal/actors/serialize/sizer.hpp>
#include <shoal/actors/serialize/tracker.hpp>
#include <shoal/actors/serialize/writer.hpp>
#include <shoal/comm/error.hpp>

#include <fmt/format.h>

#include <unordered_map>
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
  void* holder;
  const void* type;
  void (*destroy)(void*);
};
}  // namespace

struct Tracker {
  std::unordered_map<Seen, std::uint64_t, SeenHash> seen;
  std::vector<Kept> kept;
};

Met meet(Tracker& tracker, const void* address, const void* type) {
  const auto [entry, fresh] = tracker.seen.try_emplace({address, type}, tracker.seen.size());
  return {entry->second, !fresh};
}

void keep(Tracker& tracker, void* holder, const void* type, void (*destroy)(void*)) {
  tracker.kept.push_back({holder, type, destroy});
}

void* find(Tracker& tracker, std::uint64_t number, const void* type) {
  if (number >= tracker.kept.size() || tracker.kept[number].type != type) return nullptr;
  return tracker.kept[number].holder;
}

Tracker* make_tracker() { return new Tracker; }

void destroy_tracker(Tracker* tracker) noexcept {
  for (const Kept& kept : tracker->kept) kept.destroy(kept.holder);
  delete tracker;
}

}  // namespace shoal::actors
