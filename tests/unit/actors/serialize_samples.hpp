// SPDX-License-Identifier: Apache-2.0
// Values of many types, for tests that must hold for all of them: `for_each_sample` calls a
// function with a value of each. User types come in each of the forms that Serializable allows.
#pragma once

#include <shoal/actors/serialize/round_trip.hpp>
#include <shoal/actors/serialize/std.hpp>

#include <memory>
#include <numeric>

namespace shoal::samples {

enum class Side : std::uint8_t { west, east };
enum Unscoped : int { first, second };

struct Plain {
  double x = 0;
  std::int32_t y = 0;
  std::int32_t z = 0;
  using plain_bytes = Plain;
  bool operator==(const Plain&) const = default;
};

struct Empty {
  void serialize(auto&) {}
  bool operator==(const Empty&) const = default;
};

struct Ghost {
  int step = -1;
  Side side = Side::west;
  std::vector<double> cells;
  void serialize(auto& ar) { ar(step, side, cells); }
  bool operator==(const Ghost&) const = default;
};

struct CerealStyle {
  std::string name;
  std::map<std::string, std::vector<int>> table;
  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, table);
  }
  bool operator==(const CerealStyle&) const = default;
};

struct ByFreeFunction {
  std::uint64_t a = 7;
  bool b = false;
  bool operator==(const ByFreeFunction&) const = default;
};
template <class Archive>
void serialize(Archive& archive, ByFreeFunction& value) {
  archive& value.a& value.b;
}

struct Tree {
  int value = 0;
  std::vector<Tree> children;
  std::unique_ptr<Tree> next;
  void serialize(auto& ar) { ar(value, children, next); }
  bool operator==(const Tree& other) const {
    return value == other.value && children == other.children && !next == !other.next &&
           (!next || *next == *other.next);
  }
};

struct Arrays {
  int numbers[3] = {};
  std::string names[2];
  std::array<bool, 3> flags = {};
  std::array<std::string, 2> words;
  void serialize(auto& ar) { ar(numbers, names, flags, words); }
  bool operator==(const Arrays&) const = default;
};

struct Versioned {
  int old_field = 0;
  std::string new_field = "default";
  void serialize(auto& ar) {
    const auto version = ar.version(2);
    ar(old_field);
    if (version >= 2) ar(new_field);
  }
  bool operator==(const Versioned&) const = default;
};

inline Tree some_tree() {
  Tree tree;
  tree.value = 1;
  tree.children.resize(2);
  tree.children[1].value = 2;
  tree.children[1].children.resize(3);
  tree.next = std::make_unique<Tree>();
  tree.next->value = 3;
  return tree;
}

inline std::vector<double> numbers(std::size_t count) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 0.5);
  return values;
}

/// A message as two pieces, the way a transport carries it.
struct Sent {
  std::vector<std::byte> message;
  actors::Bulk bulk;
};

template <class... Ts>
Sent send(actors::BulkRule rule, const Ts&... values) {
  actors::Sizer sizer(rule);
  sizer(values...);
  Sent sent{std::vector<std::byte>(sizer.size()), sizer.bulk()};
  actors::Writer writer(sent.message.data(), sent.message.size(), sent.bulk);
  writer(values...);
  if (!writer.complete()) sent.message.clear();
  return sent;
}

/// A value whose type is hidden.
class Sample {
 public:
  virtual ~Sample() = default;
  virtual const char* type() const = 0;
  virtual Sent send(actors::BulkRule rule) const = 0;
  /// Whether the bytes are a whole T, and if so whether it equals the sample.
  struct Outcome {
    bool fully_read;
    bool equal;
    std::string archive;  ///< the reader's description
  };
  virtual Outcome read(std::span<const std::byte> message, actors::Bulk bulk) const = 0;
  /// Reads a T{} over a copy of the sample: true if nothing of the sample is left.
  virtual bool is_replaced_by_default() const = 0;
  virtual std::optional<std::string> round_trip() const = 0;
};

using SampleList = std::vector<std::unique_ptr<Sample>>;

/// The samples of every codec.
const SampleList& all_samples();
/// Those whose codecs are not in core.hpp.
void add_library_samples(SampleList& list);

template <class T>
class SampleOf final : public Sample {
 public:
  explicit SampleOf(T value) : value_(std::move(value)) {}
  const char* type() const override { return __PRETTY_FUNCTION__; }
  Sent send(actors::BulkRule rule) const override { return samples::send(rule, value_); }
  Outcome read(std::span<const std::byte> message, actors::Bulk bulk) const override {
    actors::Reader reader(message, bulk);
    T value{};
    reader(value);
    return {reader.fully_read(), value == value_, reader.describe()};
  }
  bool is_replaced_by_default() const override {
    const auto default_bytes = actors::to_bytes(T{});
    auto target = actors::from_bytes<T>(actors::to_bytes(value_));
    if (!target) return false;
    actors::Reader reader(default_bytes);
    reader(*target);
    return reader.fully_read() && *target == T{};
  }
  std::optional<std::string> round_trip() const override {
    return actors::round_trip_check(value_);
  }

 private:
  T value_;
};

template <class T>
void add(SampleList& list, T value) {
  static_assert(actors::Serializable<T>);
  list.push_back(std::make_unique<SampleOf<T>>(std::move(value)));
}

}  // namespace shoal::samples
