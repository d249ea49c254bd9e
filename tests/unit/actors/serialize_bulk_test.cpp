// SPDX-License-Identifier: Apache-2.0
#include "serialize_samples.hpp"

#include <shoal/actors/serialize/bytes.hpp>

#include <doctest/doctest.h>

namespace shoal::actors {
namespace {

using samples::Ghost;
using samples::numbers;
using samples::Sent;
using samples::Side;

template <class... Ts>
Sent sent(BulkRule rule, const Ts&... values) {
  Sent pieces = samples::send(rule, values...);
  CHECK_FALSE(pieces.message.empty());
  return pieces;
}

/// Copies of exact size at odd addresses, so that a sanitizer sees overruns and misalignment.
struct Arrived {
  explicit Arrived(const Sent& sent)
      : message_(sent.message.size() + 1), bulk_(sent.bulk.size + 1) {
    std::copy(sent.message.begin(), sent.message.end(), message_.begin() + 1);
    if (sent.bulk.size != 0) std::memcpy(bulk_.data() + 1, sent.bulk.data, sent.bulk.size);
  }
  std::span<const std::byte> message() const { return std::span(message_).subspan(1); }
  Bulk bulk() const { return {bulk_.data() + 1, bulk_.size() - 1}; }

 private:
  std::vector<std::byte> message_;
  std::vector<std::byte> bulk_;
};

template <class T>
T received(const Sent& sent) {
  const Arrived arrived(sent);
  Reader reader(arrived.message(), arrived.bulk());
  T value = reader.read<T>();
  CAPTURE(reader.describe());
  CHECK(reader.fully_read());
  return value;
}

void check_both_ways(const samples::Sample& sample, bool expect_bulk) {
  CAPTURE(sample.type());
  const auto inline_only = sample.send(BulkRule::none);
  CHECK(inline_only.bulk.size == 0);
  const auto with_bulk = sample.send(BulkRule::large_runs);
  CHECK((with_bulk.bulk.size != 0) == expect_bulk);
  CHECK(with_bulk.message.size() + with_bulk.bulk.size == inline_only.message.size());
  for (const Sent* sent : {&inline_only, &with_bulk}) {
    const Arrived arrived(*sent);
    const auto outcome = sample.read(arrived.message(), arrived.bulk());
    CAPTURE(outcome.archive);
    CHECK(outcome.fully_read);
    CHECK(outcome.equal);
  }
}

template <class T>
void check_both_ways(T value, bool expect_bulk) {
  const samples::SampleOf<T> sample(std::move(value));
  check_both_ways(static_cast<const samples::Sample&>(sample), expect_bulk);
}

TEST_CASE("runs around the threshold give the same result inline and as bulk") {
  for (std::size_t bytes : {8191U, 8192U, 8193U, 0U, 1U}) {
    CAPTURE(bytes);
    check_both_ways(std::string(bytes, 'x'), bytes >= kBulkThreshold);
    check_both_ways(std::vector<std::uint8_t>(bytes, 7), bytes >= kBulkThreshold);
    check_both_ways(std::vector<bool>(bytes * 8, true), false);
    check_both_ways(std::vector<samples::Empty>(bytes), false);
    check_both_ways(std::deque<char>(bytes, 'x'), false);
  }
  for (std::size_t count : {1023U, 1024U, 1025U}) {
    CAPTURE(count);
    check_both_ways(numbers(count), count >= 1024);
    check_both_ways(Ghost{1, Side::east, numbers(count)}, count >= 1024);
    check_both_ways(std::optional<std::vector<double>>{numbers(count)}, count >= 1024);
    check_both_ways(std::map<int, Ghost>{{1, {}}, {2, {1, Side::east, numbers(count)}}},
                    count >= 1024);
    check_both_ways(std::vector<samples::Plain>(count / 2), count / 2 >= 512);
    check_both_ways(std::variant<int, std::u16string>{std::u16string(count * 4, u'x')},
                    count >= 1024);
    check_both_ways(std::vector<Ghost>{{1, Side::west, {}}, {2, Side::east, numbers(count)}},
                    count >= 1024);
  }
}

TEST_CASE("samples without a large run have no bulk") {
  for (const auto& sample : samples::all_samples()) check_both_ways(*sample, false);
}

TEST_CASE("of two large runs only the first is bulk") {
  const auto first = numbers(2000);
  const auto second = numbers(3000);
  const auto pieces = sent(BulkRule::large_runs, 1, first, second);
  CHECK(pieces.bulk.data == reinterpret_cast<const std::byte*>(first.data()));
  CHECK(pieces.bulk.size == 16000);
  CHECK(pieces.message.size() == 4 + 8 + 8 + 24000);
  using Three = std::tuple<int, std::vector<double>, std::vector<double>>;
  CHECK(received<Three>(pieces) == Three{1, first, second});
}

TEST_CASE("a vector given twice is bulk once") {
  const auto values = numbers(2000);
  const auto pieces = sent(BulkRule::large_runs, values, values);
  CHECK(pieces.message.size() == 16 + 16000);
  using Two = std::tuple<std::vector<double>, std::vector<double>>;
  CHECK(received<Two>(pieces) == Two{values, values});
}

struct Compressed {
  int factor = 2;
  std::vector<double> kept;
  void serialize(auto& ar) {
    auto local = numbers(4096);  // gone before the message is sent
    auto nested = Ghost{1, Side::east, numbers(4096)};
    ar(factor, local, nested, kept);
  }
};

TEST_CASE("a local variable of a serialize is never bulk") {
  const Compressed value{3, numbers(2000)};
  const auto pieces = sent(BulkRule::large_runs, value);
  CHECK(pieces.bulk.data == reinterpret_cast<const std::byte*>(value.kept.data()));
  CHECK(received<Compressed>(pieces).kept == value.kept);
  const auto in_vector = sent(BulkRule::large_runs, std::vector<Compressed>(2));
  CHECK(in_vector.bulk.size == 0);
}

// A stand-in for memory that the CPU cannot read, which its codec therefore reserves the bulk for.
struct DeviceRun {
  const double* data = nullptr;
  std::size_t count = 0;
};

}  // namespace

template <>
struct Codec<DeviceRun> {
  static constexpr bool kSupported = true;
  template <class Ar>
  static void run(Ar& ar, DeviceRun& value) {
    if constexpr (Ar::kReads) {
      const auto run = ar.announced(sizeof(double));
      value = {reinterpret_cast<const double*>(run.data), run.count};
    } else {
      ar.reserved(value.data, value.count);
    }
  }
};

namespace {

TEST_CASE("a reserved run is bulk at any length but 0, even behind larger runs") {
  const auto large = numbers(5000);
  const auto small = numbers(3);
  const auto pieces =
      sent(BulkRule::reserved_runs, large, DeviceRun{small.data(), 3}, DeviceRun{nullptr, 0});
  CHECK(pieces.bulk.data == reinterpret_cast<const std::byte*>(small.data()));
  CHECK(pieces.bulk.size == 24);
  const auto none = sent(BulkRule::reserved_runs, large, DeviceRun{nullptr, 0});
  CHECK(none.bulk.size == 0);
}

TEST_CASE("a bulk that has not arrived can be announced but not copied") {
  const auto values = numbers(2000);
  const auto pieces = sent(BulkRule::large_runs, DeviceRun{values.data(), 2000});
  const Bulk late{nullptr, 16000};
  Reader patient(pieces.message, late);
  const auto run = patient.read<DeviceRun>();
  CHECK(run.data == nullptr);
  CHECK(run.count == 2000);
  CHECK(patient.fully_read());
  Reader hasty(pieces.message, late);
  CHECK(hasty.read<std::vector<double>>().empty());
  CHECK(hasty.describe() == "reading byte 8 of 8: the bulk has not arrived (16000)");
}

TEST_CASE("a bulk of another size, a missing one and a left-over one are refused") {
  const auto values = numbers(2000);
  const auto pieces = sent(BulkRule::large_runs, values);
  for (std::size_t size : {std::size_t{0}, std::size_t{15999}, std::size_t{8}}) {
    Reader reader(pieces.message, Bulk{pieces.bulk.data, size});
    CHECK(reader.read<std::vector<double>>().empty());
    CHECK(reader.failed());
  }
  const auto inline_only = sent(BulkRule::none, values);
  Reader reader(inline_only.message, pieces.bulk);
  CHECK(reader.read<std::vector<double>>() == values);
  CHECK_FALSE(reader.failed());
  CHECK_FALSE(reader.fully_read());
}

TEST_CASE("a count that says bulk, where there is none, is refused") {
  const std::uint64_t count = kIsBulk;
  std::array<std::byte, sizeof count> message;
  std::memcpy(message.data(), &count, sizeof count);
  Reader copying(message);
  CHECK(copying.read<std::vector<double>>().empty());
  CHECK(copying.failed());
  Reader patient(message);
  (void)patient.announced(sizeof(double));
  CHECK(patient.describe() == "reading byte 8 of 8: a run does not have the bulk's size (0)");
}

TEST_CASE("a bulk cannot be taken twice") {
  const auto values = numbers(2000);
  auto pieces = sent(BulkRule::large_runs, values);
  const auto once = pieces.message;
  pieces.message.insert(pieces.message.end(), once.begin(), once.end());
  Reader reader(pieces.message, pieces.bulk);
  CHECK(reader.read<std::vector<double>>() == values);
  CHECK(reader.read<std::vector<double>>().empty());
  CHECK(reader.failed());
}

// COMM-01, without the memory: the runs claim lengths that nothing touches.
TEST_CASE("lengths beyond 2 GiB and 4 GiB survive sizing, writing and reading") {
  const std::byte nothing{};
  for (std::size_t bytes : {2147483647UL, 2147483648UL, 2147483649UL, 4294967299UL}) {
    CAPTURE(bytes);
    Sizer inline_sizer;
    inline_sizer.contiguous(&nothing, bytes);
    CHECK(inline_sizer.size() == 8 + bytes);

    Sizer sizer(BulkRule::large_runs);
    sizer.contiguous(&nothing, bytes);
    CHECK(sizer.size() == 8);
    CHECK(sizer.bulk().size == bytes);
    std::array<std::byte, 8> message{};
    Writer writer(message.data(), message.size(), sizer.bulk());
    writer.contiguous(&nothing, bytes);
    CHECK(writer.complete());
    Reader reader(message, sizer.bulk());
    const auto run = reader.contiguous(1);
    CHECK(run.count == bytes);
    CHECK(run.bytes == bytes);
    CHECK(run.data == &nothing);
    CHECK(reader.fully_read());

    Sizer doubles(BulkRule::large_runs);
    doubles.contiguous(reinterpret_cast<const double*>(0x1000), bytes);
    CHECK(doubles.bulk().size == 8 * bytes);
  }
}

// COMM-02
TEST_CASE("empty runs travel inline under every rule") {
  for (auto rule : {BulkRule::none, BulkRule::large_runs, BulkRule::reserved_runs}) {
    const auto pieces = sent(rule, std::vector<double>{}, std::string{}, DeviceRun{});
    CHECK(pieces.bulk.size == 0);
    CHECK(pieces.message.size() == 24);
  }
}

}  // namespace
}  // namespace shoal::actors
