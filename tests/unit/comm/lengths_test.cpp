// SPDX-License-Identifier: Apache-2.0
// Every length and count of the bootstrap's frames, with every value that is wrong in an
// interesting way: what is too much is refused, and no length makes memory be asked for that the
// received bytes do not justify.
#include "../../counted_new.hpp"

#include <shoal/comm/bootstrap/job_table.hpp>

#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <vector>

using namespace shoal::comm;

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::uint64_t kMost32 = std::numeric_limits<std::uint32_t>::max();

/// Around a field's greatest value, and where signs and widths end. Fields have 32 bits.
std::vector<std::uint32_t> lengths_around(std::uint64_t most) {
  std::vector<std::uint32_t> lengths{0, 1U << 31U, static_cast<std::uint32_t>(kMost32)};
  for (const std::uint64_t length : {most - 1, most, most + 1}) {
    if (length <= kMost32) lengths.push_back(static_cast<std::uint32_t>(length));
  }
  return lengths;
}

Bytes header(std::uint32_t size, FrameType type) {
  Bytes bytes;
  for (unsigned i = 0; i < 4; ++i) bytes.push_back(static_cast<std::byte>(size >> (8 * i)));
  bytes.push_back(static_cast<std::byte>(type));
  return bytes;
}

constexpr FrameType kAllTypes[] = {
    FrameType::hello,   FrameType::entry_list,   FrameType::put_address, FrameType::get_address,
    FrameType::barrier, FrameType::exit,         FrameType::failed,      FrameType::heartbeat,
    FrameType::welcome, FrameType::list_entries, FrameType::address,     FrameType::released,
    FrameType::stop};

/// A job of two processes that stands, and what ended it.
struct Job {
  JobTable table{{.processes = 2, .pes = {}}, 42, [](ProcessId, std::span<const std::byte>) {}};

  explicit Job(bool joined = true) {
    Identity identity;
    identity.complete();
    for (std::uint32_t k = 0; k < 2; ++k) {
      REQUIRE(table.arrive(ProcessId{k}));
      if (joined) feed(k, encode_hello(identity));
    }
  }
  void feed(std::uint32_t process, const Bytes& frame) {
    FrameReader reader;
    reader.append(frame);
    auto next = reader.next();
    REQUIRE(next);
    REQUIRE(next->has_value());
    table.receive(ProcessId{process}, **next, 0);
  }
  bool failed() const { return table.verdict() && table.verdict()->kind == Verdict::Kind::failed; }
};

/// Whether `frame`, with `size` bytes behind its last length, is refused, asking for little memory.
void check_refused(const Bytes& frame, bool joined = true) {
  Job job(joined);
  const std::size_t asked = counted_new::asked_by([&] { job.feed(1, frame); });
  CHECK(job.failed());
  CHECK(asked <= 8 * frame.size() + 2000);
}

Bytes hello_with_text_length(unsigned field, std::uint32_t length) {
  FrameWriter writer(FrameType::hello);
  writer.u32(7).u32(1).bytes(Digest{});
  for (unsigned i = 0; i < 4; ++i) {
    if (i == field) {
      writer.u32(length);  // and fewer bytes than that
    } else {
      writer.text("text", kMaxIdentityText);
    }
  }
  return writer.finish();
}

Bytes welcome(std::uint32_t processes, std::uint32_t pes, std::uint8_t lists, std::size_t listed) {
  FrameWriter writer(FrameType::welcome);
  writer.u64(1).u32(processes).u32(pes).u8(lists & 1U).u8(lists >> 1U);
  for (std::size_t i = 0; i < listed; ++i) writer.u32(1);
  return writer.finish();
}

/// Whether the layout in `frame` is refused, asking for no more memory than `most`.
bool layout_refused(const Bytes& frame, std::size_t most) {
  PayloadReader reader{std::span(frame).subspan(kFrameHeader)};
  bool refused = false;
  CHECK(counted_new::asked_by([&] { refused = !JobLayout::read(reader); }) <= most);
  return refused;
}

}  // namespace

TEST_CASE("the length of a frame is refused above its type's limit, and nothing is kept for it") {
  for (const FrameType type : kAllTypes) {
    const auto limit = payload_limit(static_cast<std::uint8_t>(type));
    REQUIRE(limit);
    for (const std::uint32_t length : lengths_around(*limit)) {
      CAPTURE(static_cast<unsigned>(type));
      CAPTURE(length);
      FrameReader reader;
      bool good = false;
      const std::size_t asked = counted_new::asked_by([&] {
        reader.append(header(length, type));
        good = static_cast<bool>(reader.next());
      });
      CHECK(good == (length <= *limit));
      CHECK(asked <= 1000);
    }
  }
}

TEST_CASE("a text's or a blob's length beyond its limit, or beyond its frame, is refused") {
  for (const FrameType type :
       {FrameType::barrier, FrameType::entry_list, FrameType::failed, FrameType::put_address}) {
    for (const std::uint64_t most :
         {std::uint64_t{kMaxName}, std::uint64_t{kMaxAddress}, std::uint64_t{kMaxBootstrapFrame}}) {
      for (const std::uint32_t length : lengths_around(most)) {
        if (length < 200) continue;
        CAPTURE(static_cast<unsigned>(type));
        CAPTURE(length);
        FrameWriter writer(type);
        if (type == FrameType::failed || type == FrameType::put_address) writer.u32(1);
        Bytes frame = writer.u32(length).finish();
        frame.resize(frame.size() + 100, std::byte{'x'});
        frame[0] = static_cast<std::byte>(frame.size() - kFrameHeader);
        check_refused(frame);
      }
    }
  }
}

TEST_CASE("a text of exactly its limit is taken, and one byte more is not") {
  for (const std::size_t size : {std::size_t{0}, kMaxName}) {
    Job job;
    job.feed(0, FrameWriter(FrameType::barrier).text(std::string(size, 'x'), size).finish());
    CHECK_FALSE(job.failed());
  }
  for (const std::size_t size : {std::size_t{0}, kMaxAddress}) {
    Job job;
    job.feed(1, FrameWriter(FrameType::put_address).u32(1).bytes(Bytes(size)).finish());
    CHECK_FALSE(job.failed());
  }
  for (const Bytes& frame :
       {FrameWriter(FrameType::barrier).text(std::string(kMaxName + 1, 'x'), 999).finish(),
        FrameWriter(FrameType::put_address).u32(1).bytes(Bytes(kMaxAddress + 1)).finish()}) {
    FrameReader reader;
    reader.append(frame);
    CHECK_FALSE(reader.next());
  }
}

TEST_CASE("a hello whose text lengths are wrong is refused, whichever it is") {
  for (unsigned field = 0; field < 4; ++field) {
    for (const std::uint32_t length : lengths_around(kMaxIdentityText)) {
      if (length == 0) continue;  // right
      CAPTURE(field);
      CAPTURE(length);
      check_refused(hello_with_text_length(field, length), false);
    }
  }
}

TEST_CASE("a hello's digest has 32 bytes") {
  for (const std::uint32_t length : lengths_around(sizeof(Digest))) {
    if (length == sizeof(Digest)) continue;
    CAPTURE(length);
    FrameWriter writer(FrameType::hello);
    check_refused(writer.u32(7).u32(1).u32(length).u64(0).u64(0).u64(0).u64(0).finish(), false);
  }
}

TEST_CASE("a hello's number of PEs is taken up to the job's limit") {
  for (const std::uint32_t pes : lengths_around(kMaxPes / 2)) {
    CAPTURE(pes);
    Job job(false);
    Identity identity;
    identity.complete();
    identity.pes = pes;
    std::size_t asked = 0;
    for (std::uint32_t k = 0; k < 2; ++k) {
      const Bytes frame = encode_hello(identity);
      asked += counted_new::asked_by([&] { job.feed(k, frame); });
    }
    CHECK(job.failed() == (pes == 0 || pes > kMaxPes / 2));
    CHECK(asked <= 4000);
  }
}

TEST_CASE("a PE's number beyond the job is refused") {
  for (const std::uint32_t pe : lengths_around(1)) {
    if (pe < 2) continue;
    CAPTURE(pe);
    check_refused(FrameWriter(FrameType::get_address).u32(pe).finish());
    check_refused(FrameWriter(FrameType::put_address).u32(pe).bytes({}).finish());
  }
}

TEST_CASE("a layout's number of processes takes no memory that its lists do not justify") {
  for (const std::uint32_t processes : lengths_around(kMaxProcesses)) {
    for (const std::uint8_t lists : {std::uint8_t{0}, std::uint8_t{1}, std::uint8_t{3}}) {
      CAPTURE(processes);
      CAPTURE(lists);
      const bool right = lists == 0 && processes != 0 && processes <= kMaxProcesses;
      CHECK(layout_refused(welcome(processes, 1, lists, 0), 1000) == !right);
    }
  }
  CHECK_FALSE(layout_refused(welcome(100, 1, 3, 200), 4000));
}

TEST_CASE("a layout's number of PEs a process is taken up to the job's limit") {
  for (const std::uint32_t pes : lengths_around(kMaxPes / 4)) {
    CAPTURE(pes);
    CHECK(layout_refused(welcome(4, pes, 0, 0), 1000) == (pes == 0 || pes > kMaxPes / 4));
  }
}
