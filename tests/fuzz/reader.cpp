// SPDX-License-Identifier: Apache-2.0
// The arguments' Reader, for types of every codec: the first byte of an input chooses the type, the
// second what came beside the message. What is read whole, written again, reads as the same.
#include "../one_pe.hpp"
#include "target.hpp"

#include <shoal/actors/bulk.hpp>
#include <shoal/actors/serialize/round_trip.hpp>
#include <shoal/actors/serialize/std.hpp>

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

namespace shoal::fuzz {

using actors::Bulk;
using actors::Incoming;
using actors::Reader;
using actors::View;

namespace {

enum class Side : std::uint8_t { west, east };

struct Cell {
  double x = 0;
  std::int32_t y = 0;
  std::int32_t z = 0;
  using plain_bytes = Cell;
};

struct Empty {
  void serialize(auto&) {}
};

struct Ghost {
  int step = -1;
  Side side = Side::west;
  bool last = false;
  std::vector<double> cells;
  void serialize(auto& ar) { ar(step, side, last, cells); }
};

struct Tree {
  int value = 0;
  std::vector<Tree> children;
  std::unique_ptr<Tree> next;
  void serialize(auto& ar) { ar(value, children, next); }
};

struct Versioned {
  int old_field = 0;
  std::string new_field;
  void serialize(auto& ar) {
    const auto version = ar.version(2);
    ar(old_field);
    if (version >= 2) ar(new_field);
  }
};

/// The bytes of `value`, the same for equal values.
template <class T>
std::vector<std::byte> bytes_of(const T& value) {
  return actors::to_bytes(value, actors::ElementOrder::canonical);
}

/// What came beside a message.
struct Beside {
  Bulk bulk;
  actors::ArrivingBulk arriving;
};

one_pe::OnePe& here() {
  static one_pe::OnePe one;
  return one;
}

/// Reads a T, in the way of an entry's arguments; nothing if it is not the whole message.
template <class T>
std::optional<T> read(Bytes message, const Beside& beside) {
  actors::Local& local = here().local();
  local.arriving = beside.arriving;
  Reader reader(message, beside.bulk);
  std::optional<T> value(std::in_place);
  reader(*value);
  SHOAL_CHECK(reader.fully_read() || !reader.describe().empty(), "a failure without a reason");
  if (local.arriving.frame != nullptr) here().pe().pool().release(local.arriving.frame);
  if (local.arriving.announced) here().port().release(local.arriving.handle);
  local.arriving = {};
  if (!reader.fully_read()) value.reset();
  return value;
}

template <class T>
void try_type(Bytes message, const Beside& beside) {
  const auto value = read<T>(message, beside);
  if (!value) return;
  const auto bytes = bytes_of(*value);
  const auto again = read<T>(bytes, {});
  SHOAL_CHECK(again.has_value(), "what was written does not read");
  SHOAL_CHECK(bytes_of(*again) == bytes, "what was written reads as something else");
}

/// An Incoming that has not arrived cannot be written: only its size is looked at.
template <>
void try_type<Incoming<std::uint32_t>>(Bytes message, const Beside& beside) {
  const auto value = read<Incoming<std::uint32_t>>(message, beside);
  if (!value) return;
  SHOAL_CHECK(value->count() * sizeof(std::uint32_t) <= message.size() + beside.bulk.size,
              "{} elements in {} bytes", value->count(), message.size());
}

template <class... Ts>
constexpr auto table_of() {
  return std::array{&try_type<Ts>...};
}

using Strings = std::vector<std::string>;
constexpr auto kTypes = table_of<
    std::int64_t, bool, double, Side, std::string, std::u16string, std::vector<double>,
    std::vector<Cell>, std::vector<bool>, Strings, std::vector<std::vector<std::vector<int>>>,
    std::array<std::pair<bool, int>, 2>, std::tuple<int, bool, double, char>,
    std::tuple<int, std::vector<int>, std::tuple<std::string>>, std::optional<Strings>, Ghost,
    std::vector<Ghost>, std::vector<Empty>, Versioned, std::deque<int>, std::list<std::string>,
    std::map<std::string, Ghost>, std::map<int, std::map<int, bool>>, std::multimap<int, int>,
    std::set<std::string>, std::unordered_map<std::string, int>, std::unordered_multiset<int>,
    std::variant<std::monostate, int, std::string>, std::vector<std::variant<int, Strings>>,
    std::vector<std::complex<float>>, std::chrono::milliseconds, std::bitset<70>,
    std::filesystem::path, Tree, std::vector<std::shared_ptr<std::string>>, View<double>,
    View<std::uint8_t>, std::tuple<int, View<Cell>, Strings>, Incoming<std::uint32_t>>();

/// Nothing, a bulk that has been received, one that was announced only.
Beside beside_of(Input& input, std::vector<std::byte>& memory) {
  const unsigned how = input.below(4);
  if (how < 2) return {};
  memory.resize(input.number(2) % 512, std::byte{1});
  if (memory.empty()) return {};
  if (how == 3) {
    return {{nullptr, memory.size()}, {nullptr, here().port().announce(memory.size()), true}};
  }
  comm::Frame* frame = comm::take_frame(here().pe().pool(), memory.size());
  std::memcpy(frame->data(), memory.data(), memory.size());
  return {{frame->data(), memory.size()}, {frame, {}, false}};
}

}  // namespace

void try_input(Bytes input) {
  Input choices(input);
  const auto& type = kTypes[choices.below(kTypes.size())];
  std::vector<std::byte> memory;
  const Beside beside = beside_of(choices, memory);
  type(choices.rest(), beside);
  SHOAL_CHECK(!here().port().bulk_is_open(), "nobody ended the bulk");
}

}  // namespace shoal::fuzz
