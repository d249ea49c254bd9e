// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/job_layout.hpp>
#include <shoal/comm/bootstrap/wire.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace shoal::comm;

namespace {

using Bytes = std::vector<std::byte>;

Bytes header(std::uint32_t size, std::uint8_t type) {
  Bytes bytes;
  for (unsigned i = 0; i < 4; ++i) bytes.push_back(static_cast<std::byte>(size >> (8 * i)));
  bytes.push_back(static_cast<std::byte>(type));
  return bytes;
}

std::span<const std::byte> payload_of(const Bytes& frame) {
  return std::span(frame).subspan(kFrameHeader);
}

}  // namespace

TEST_CASE("frames come out as they went in, however the stream is cut") {
  Bytes stream = FrameWriter(FrameType::barrier).text("ready", kMaxName).finish();
  const Bytes second = FrameWriter(FrameType::heartbeat).u64(0x0102030405060708ULL).finish();
  stream.insert(stream.end(), second.begin(), second.end());
  for (const std::size_t step : {std::size_t{1}, std::size_t{3}, stream.size()}) {
    FrameReader reader;
    std::vector<std::string> seen;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      reader.append(std::span(stream).subspan(at, std::min(step, stream.size() - at)));
      while (true) {
        auto frame = reader.next();
        REQUIRE(frame);
        if (!frame->has_value()) break;
        PayloadReader payload((*frame)->payload);
        seen.push_back((*frame)->type == FrameType::barrier ? payload.text(kMaxName)
                                                            : fmt::format("{:x}", payload.u64()));
        CHECK(payload.finished());
      }
    }
    CHECK(seen == std::vector<std::string>{"ready", "102030405060708"});
    CHECK(reader.buffered() == 0);
  }
}

TEST_CASE("a length above its type's limit is refused before a byte is kept for it") {
  for (const std::uint32_t size : {4U + 257U, 1U << 16U, 1U << 31U, 0xffffffffU}) {
    FrameReader reader;
    reader.append(header(size, static_cast<std::uint8_t>(FrameType::barrier)));
    CHECK_FALSE(reader.next());
    CHECK(reader.buffered() == kFrameHeader);
  }
}

TEST_CASE("no frame is larger than 64 MiB") {
  for (unsigned type = 0; type < 256; ++type) {
    const auto limit = payload_limit(static_cast<std::uint8_t>(type));
    CHECK(limit.value_or(0) <= kMaxBootstrapFrame);
  }
  FrameReader reader;
  reader.append(header(kMaxBootstrapFrame, static_cast<std::uint8_t>(FrameType::entry_list)));
  REQUIRE(reader.next());
  FrameReader other;
  other.append(header(kMaxBootstrapFrame + 1, static_cast<std::uint8_t>(FrameType::entry_list)));
  CHECK_FALSE(other.next());
}

TEST_CASE("an unknown frame type ends the stream") {
  for (const unsigned type : {0U, 10U, 64U, 71U, 255U}) {
    FrameReader reader;
    reader.append(header(0, static_cast<std::uint8_t>(type)));
    CHECK_FALSE(reader.next());
  }
}

TEST_CASE("a field that reaches past its frame reads as empty, and so does what follows") {
  Bytes payload = header(0xffffffffU, 7);
  PayloadReader reader(payload);
  CHECK(reader.bytes(std::size_t{1} << 40U).empty());
  CHECK(reader.u8() == 0);
  CHECK_FALSE(reader.ok());
  CHECK_FALSE(reader.finished());
}

TEST_CASE("bytes left over in a frame are noticed") {
  const std::array payload{std::byte{1}, std::byte{2}};
  PayloadReader reader(payload);
  CHECK(reader.u8() == 1);
  CHECK(reader.ok());
  CHECK_FALSE(reader.finished());
}

TEST_CASE("LCH-01: 13 PEs over any number of processes keep their order") {
  for (std::uint32_t processes = 1; processes <= 13; ++processes) {
    std::vector<std::uint32_t> pes(processes, 13 / processes);
    for (std::uint32_t k = 0; k < 13 % processes; ++k) ++pes[k];
    const std::vector<std::uint32_t> hosts(processes, 0);
    FrameWriter writer(FrameType::welcome);
    JobLayout(7, pes, hosts).write(writer);
    const Bytes frame = writer.finish();
    PayloadReader reader(payload_of(frame));
    auto layout = JobLayout::read(reader);
    REQUIRE(layout);
    CHECK(layout->id() == 7);
    CHECK(layout->total_pes() == 13);
    std::uint32_t pe = 0;
    for (std::uint32_t k = 0; k < processes; ++k) {
      CHECK(layout->first_pe(ProcessId{k}) == PeId{pe});
      CHECK(layout->pes(ProcessId{k}) == pes[k]);
      for (std::uint32_t i = 0; i < pes[k]; ++i) {
        CHECK(layout->process_of(PeId{pe++}) == ProcessId{k});
      }
    }
  }
}

TEST_CASE("the welcome of a uniform job does not grow with the job") {
  const auto size_of = [](std::uint32_t processes) {
    const std::vector<std::uint32_t> pes(processes, 4);
    const std::vector<std::uint32_t> hosts(processes, 0);
    FrameWriter writer(FrameType::welcome);
    JobLayout(7, pes, hosts).write(writer);
    return writer.finish().size();
  };
  CHECK(size_of(2) == size_of(4096));
}

TEST_CASE("COMM-11: processes of other hosts or namespaces are told apart") {
  const std::vector<std::uint32_t> pes{1, 1, 1};
  const std::vector<std::uint32_t> hosts{0, 1, 0};
  FrameWriter writer(FrameType::welcome);
  JobLayout(7, pes, hosts).write(writer);
  const Bytes frame = writer.finish();
  PayloadReader reader(payload_of(frame));
  auto layout = JobLayout::read(reader);
  REQUIRE(layout);
  CHECK(layout->same_host(ProcessId{0}, ProcessId{2}));
  CHECK_FALSE(layout->same_host(ProcessId{0}, ProcessId{1}));
}

TEST_CASE("a job layout with no process, no PE or too many is refused") {
  const auto read = [](std::uint32_t processes, std::uint32_t pes, bool listed) {
    FrameWriter writer(FrameType::welcome);
    writer.u64(1).u32(processes).u32(pes).u8(listed ? 1 : 0).u8(0);
    const Bytes frame = writer.finish();
    PayloadReader reader(payload_of(frame));
    return static_cast<bool>(JobLayout::read(reader));
  };
  CHECK(read(2, 2, false));
  CHECK_FALSE(read(0, 2, false));
  CHECK_FALSE(read(2, 0, false));
  CHECK_FALSE(read(2, 2, true));
  CHECK_FALSE(read(kMaxProcesses + 1, 1, false));
  CHECK_FALSE(read(kMaxProcesses, 0xffffffffU, false));
}
