// SPDX-License-Identifier: Apache-2.0
// Whole frames arriving at a PE with real actors: entries, calls and their replies, creations,
// broadcasts and the runtime's own words, right and wrong, one after the other, with and without a
// bulk. Each is taken or fails the job with a reason, and every bulk is ended.
#include "../one_pe.hpp"
#include "target.hpp"

#include <shoal/actors/serialize/map.hpp>
#include <shoal/shoal.hpp>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace shoal::fuzz::arriving {

using actors::Constructor;
using actors::Entry;
using runtime::Envelope;
using runtime::Kind;

constexpr std::size_t kMostFrames = 16;

struct Target : Actor<Target, Index1> {
  void number(std::uint64_t value) { sum += value; }
  void text(const std::string& text) { sum += text.size(); }
  void values(const std::vector<double>& values) { sum += values.size(); }
  void view(const View<std::uint8_t>& view) {
    for (const std::uint8_t byte : view) sum += byte;
  }
  Task<> incoming(Incoming<std::uint8_t> incoming) {
    std::vector<std::uint8_t> room(incoming.count());
    co_await incoming.into(room);
  }
  void ignored(const Incoming<std::uint8_t>&) {}
  std::map<std::string, int> answer(const std::string& text) { return {{text, 1}}; }
  Task<int> later(int number) {
    co_await Yield{};
    co_return number;
  }
  std::uint64_t sum = 0;
};

struct Member : Actor<Member, PeIndex> {
  explicit Member(const std::string& given = {}) : name(given) {}
  void number(std::uint64_t value) { name = std::to_string(value); }
  std::string name;
};

struct Single : Actor<Single> {
  explicit Single(int = 0) {}
  void number(std::uint64_t value) { values.assign(3, value); }
  std::vector<std::uint64_t> values;
};

template <auto... Ms>
auto entries() {
  return std::array{&Entry<Ms>::info..., &Constructor<Target>::info,
                    &Constructor<Member, std::string>::info, &Constructor<Single, int>::info};
}

class Game {
 public:
  explicit Game(Input& input) : input_(input), array_(World().create<Target>(4)) {
    const World world;
    if (input.flag()) (void)world.create_group<Member>(std::string("m"));
    if (input.flag()) (void)world.create_on<Single>(0, 3);
    if (input.flag()) {  // element 3 lives elsewhere: its answers may arrive
      asked_ = array_[3].call<&Target::answer>(std::string("?"));
      slow_ = array_[3].call<&Target::later>(1);
    }
    one_.run();
  }

  void play() {
    for (std::size_t i = 0; i < kMostFrames && !input_.empty(); ++i) {
      if (input_.below(8) == 0) {
        arrive(input_.piece(), 0);
      } else {
        arrive_made();
      }
      if (!one_.failure().empty()) return;
    }
  }

 private:
  void arrive(Bytes bytes, std::size_t bulk_size) {
    // Of the exact size, so that AddressSanitizer sees a read behind the end.
    const std::vector<std::byte> frame(bytes.begin(), bytes.end());
    one_.port().hand_over(frame, bulk_size);
    one_.run();
  }

  void arrive_made() {
    Envelope envelope;
    envelope.kind = static_cast<Kind>(input_.below(static_cast<unsigned>(Kind::last) + 1));
    envelope.entry = entry();
    envelope.collection = number();
    envelope.element = number();
    envelope.call = number();
    envelope.source = input_.below(3);
    envelope.priority = std::int32_t{input_.byte()} - 128;
    envelope.flags = static_cast<std::uint8_t>(input_.below(2));
    const std::size_t bulk_size = input_.below(4) == 0 ? input_.number(2) % 512 : 0;
    std::vector<std::byte> frame(runtime::written_size(envelope));
    runtime::write_envelope(frame.data(), envelope);
    const std::size_t head = frame.size();
    const Bytes arguments = input_.piece();
    frame.insert(frame.end(), arguments.begin(), arguments.end());
    // A creation of 2^40 elements is not wrong: it takes the memory that it says.
    if (envelope.kind == Kind::create && arguments.size() >= sizeof(std::uint64_t)) {
      std::fill_n(frame.begin() + static_cast<std::ptrdiff_t>(head) + 1, 7, std::byte{0});
    }
    arrive(frame, bulk_size);
  }

  std::uint64_t number() { return input_.flag() ? input_.below(6) : input_.number(8); }

  std::uint16_t entry() {
    static const auto known =
        entries<&Target::number, &Target::text, &Target::values, &Target::view, &Target::incoming,
                &Target::ignored, &Target::answer, &Target::later, &Member::number,
                &Single::number>();
    if (input_.flag()) return known.at(input_.below(known.size()))->id;
    return input_.byte();
  }

  Input& input_;
  one_pe::OnePe one_;
  ArrayProxy<Target> array_;
  std::optional<Future<std::map<std::string, int>>> asked_;
  std::optional<Future<int>> slow_;
};

}  // namespace shoal::fuzz::arriving

namespace shoal::fuzz {

void try_input(Bytes input) {
  Input choices(input);
  arriving::Game(choices).play();
}

}  // namespace shoal::fuzz
