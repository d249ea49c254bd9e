// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/job_table.hpp>

#include <shoal/comm/random.hpp>

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

using namespace shoal::comm;

namespace {

using Bytes = std::vector<std::byte>;

/// A table and the frames that it sent to each process.
struct Fixture {
  explicit Fixture(JobTable::Options options)
      : processes(options.processes),
        table(std::move(options), 42, [this](ProcessId to, std::span<const std::byte> frame) {
          sent[number(to)].emplace_back(frame.begin(), frame.end());
        }) {
    for (std::uint32_t k = 0; k < processes; ++k) REQUIRE(table.arrive(ProcessId{k}));
  }

  void feed(std::uint32_t process, const Bytes& frame, Nanoseconds now = 0) {
    FrameReader reader;
    reader.append(frame);
    const auto next = reader.next();
    REQUIRE(next);
    REQUIRE(next.value().has_value());
    table.receive(ProcessId{process}, *next.value(), now);
  }
  void join_all(Identity identity = {}) {
    identity.complete();
    for (std::uint32_t k = 0; k < processes; ++k) feed(k, encode_hello(identity));
    for (auto& [process, frames] : sent) frames.clear();
  }
  std::string reason() const { return table.verdict() ? table.verdict()->reason : "no verdict"; }
  bool failed() const { return table.verdict() && table.verdict()->kind == Verdict::Kind::failed; }

  std::uint32_t processes;
  std::map<std::uint32_t, std::vector<Bytes>> sent;
  JobTable table;
};

Identity identity_of(const std::string& build = "abc-debug") {
  Identity identity;
  identity.version = "0.1.0";
  identity.build = build;
  identity.ucx = "1.13.1";
  identity.host = "here";
  identity.pid = 5;
  return identity;
}

FrameType type_of(const Bytes& frame) { return static_cast<FrameType>(frame.at(4)); }

Bytes entries_frame(const std::string& text) {
  return FrameWriter(FrameType::entry_list).text(text, kMaxBootstrapFrame).finish();
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("everybody is welcomed once everybody has said hello") {
  Fixture job({.processes = 3, .pes = {}});
  job.feed(2, encode_hello(identity_of()));
  job.feed(0, encode_hello(identity_of()));
  CHECK(job.sent.empty());
  job.feed(1, encode_hello(identity_of()));
  for (std::uint32_t k = 0; k < 3; ++k) {
    REQUIRE(job.sent[k].size() == 1);
    CHECK(type_of(job.sent[k][0]) == FrameType::welcome);
  }
  CHECK(job.table.complete());
}

TEST_CASE("LCH-11: another version, build or UCX is refused with rank, what, and both values") {
  const auto refuse = [](auto change) {
    Fixture job({.processes = 2, .pes = {}});
    Identity other = identity_of();
    change(other);
    job.feed(1, encode_hello(other));
    job.feed(0, encode_hello(identity_of()));
    CHECK(job.failed());
    CHECK_FALSE(job.table.verdict()->process);
    CHECK(contains(job.reason(), "processes 0 and 1 cannot work together"));
    return job.reason();
  };
  CHECK(contains(refuse([](Identity& other) { other.version = "0.2.0"; }),
                 R"(version: process 0 has "0.1.0", process 1 has "0.2.0")"));
  CHECK(contains(refuse([](Identity& other) { other.build = "xyz-release"; }),
                 R"(build: process 0 has "abc-debug", process 1 has "xyz-release")"));
  CHECK(contains(refuse([](Identity& other) { other.ucx = "1.22.0"; }),
                 R"(UCX: process 0 has "1.13.1", process 1 has "1.22.0")"));
}

TEST_CASE("LCH-11: another entry table is refused with the entries that only one process has") {
  Fixture job({.processes = 3, .pes = {}});
  Identity other = identity_of();
  other.entry_digest[0] = std::byte{9};
  job.feed(0, encode_hello(identity_of()));
  job.feed(1, encode_hello(identity_of()));
  job.feed(2, encode_hello(other));
  REQUIRE(job.sent[0].size() == 1);
  REQUIRE(job.sent[2].size() == 1);
  CHECK(job.sent.count(1) == 0);
  CHECK(type_of(job.sent[0][0]) == FrameType::list_entries);
  CHECK(type_of(job.sent[2][0]) == FrameType::list_entries);
  job.feed(0, entries_frame("void Block::step()\nvoid Block::ghost(int)\nvoid Main::done()"));
  CHECK_FALSE(job.table.verdict());
  job.feed(2, entries_frame("void Block::step()\nvoid Block::ghost(long)\nvoid Main::done()\n"));
  REQUIRE(job.failed());
  CHECK(contains(job.reason(), "processes 0 and 2 cannot work together"));
  CHECK(contains(job.reason(), "process 0 has the table 000000000000, process 2 has 090000000000"));
  CHECK(contains(job.reason(), "\n  only in process 0: void Block::ghost(int)"));
  CHECK(contains(job.reason(), "\n  only in process 2: void Block::ghost(long)"));
  CHECK_FALSE(contains(job.reason(), "step"));
}

TEST_CASE("LCH-11: a mixed job is refused within a second even if a list never comes") {
  Fixture job({.processes = 2, .pes = {}});
  Identity other = identity_of();
  other.entry_digest[0] = std::byte{9};
  job.feed(0, encode_hello(identity_of()), 5 * kSecond);
  job.feed(1, encode_hello(other), 5 * kSecond);
  REQUIRE(job.table.deadline());
  CHECK(*job.table.deadline() <= 6 * kSecond);
  job.table.tick(*job.table.deadline() - 1);
  CHECK_FALSE(job.table.verdict());
  job.table.tick(*job.table.deadline());
  CHECK(job.failed());
}

TEST_CASE("a long difference of entries is cut to 20 lines and counted") {
  Identity first = identity_of();
  Identity second = identity_of();
  for (int i = 0; i < 100; ++i) first.entries += fmt::format("void A::a{}()\n", i);
  for (int i = 0; i < 3; ++i) second.entries += fmt::format("void B::b{}()\n", i);
  const std::string text = entry_differences({ProcessId{0}, first}, {ProcessId{4}, second});
  CHECK(std::count(text.begin(), text.end(), '\n') <= 21);
  CHECK(contains(text, "only in process 4: void B::b2()"));
  CHECK(contains(text, "\n  and 90 more"));
}

TEST_CASE("LCH-11: PE counts may differ only as the launcher chose them") {
  const auto verdict = [](std::vector<std::uint32_t> told, std::uint32_t a, std::uint32_t b) {
    Fixture job({.processes = 2, .pes = std::move(told)});
    Identity identity = identity_of();
    identity.pes = a;
    job.feed(0, encode_hello(identity));
    identity.pes = b;
    job.feed(1, encode_hello(identity));
    return job.reason();
  };
  CHECK(verdict({2, 2}, 2, 2) == "no verdict");
  CHECK(verdict({3, 2}, 3, 2) == "no verdict");
  CHECK(verdict({2, 2}, 4, 4) == "no verdict");  // both were told otherwise by their own options
  CHECK(contains(verdict({2, 2}, 2, 4), "PEs: process 0 has 2, process 1 has 4"));
}

TEST_CASE("who does not join in time is named") {
  Fixture job({.processes = 3, .pes = {}, .start_limit = 7 * kSecond});
  CHECK_FALSE(job.table.deadline());
  job.feed(1, encode_hello(identity_of()), kSecond);
  REQUIRE(job.table.deadline());
  CHECK(*job.table.deadline() == 8 * kSecond);
  job.table.tick(8 * kSecond);
  CHECK(job.reason() == "1 of 3 processes joined within 7 s; not there: 0, 2");
}

TEST_CASE(
    "an address is given at once when it is there, and when it comes to whoever asked before") {
  Fixture job({.processes = 2, .pes = {}});
  job.join_all();
  const Bytes ask = FrameWriter(FrameType::get_address).u32(1).finish();
  const std::vector<std::byte> address{std::byte{7}, std::byte{8}};
  job.feed(0, ask);
  job.feed(0, ask);
  CHECK(job.sent[0].empty());
  job.feed(1, FrameWriter(FrameType::put_address).u32(1).bytes(address).finish());
  const Bytes expected = FrameWriter(FrameType::address).u32(1).bytes(address).finish();
  CHECK(job.sent[0] == std::vector<Bytes>{expected});
  job.feed(1, ask);
  CHECK(job.sent[1] == std::vector<Bytes>{expected});
  CHECK_FALSE(job.table.verdict());
}

TEST_CASE("a process may publish its own PEs only") {
  Fixture job({.processes = 2, .pes = {}});
  job.join_all();
  job.feed(0, FrameWriter(FrameType::put_address).u32(1).bytes({}).finish());
  CHECK(job.failed());
}

TEST_CASE("a barrier is released when every process has reached it, again and again") {
  Fixture job({.processes = 2, .pes = {}});
  job.join_all();
  const Bytes reach = FrameWriter(FrameType::barrier).text("end", kMaxName).finish();
  for (std::size_t round = 1; round <= 3; ++round) {
    job.feed(0, reach);
    job.feed(0, reach);  // it gave up waiting and came again
    CHECK(job.sent[0].size() == round - 1);
    job.feed(1, reach);
    REQUIRE(job.sent[0].size() == round);
    CHECK(type_of(job.sent[1].back()) == FrameType::released);
  }
}

TEST_CASE("the number of open barriers is limited") {
  Fixture job({.processes = 2, .pes = {}});
  job.join_all();
  for (std::size_t i = 0; i < JobTable::kMaxBarriers; ++i) {
    job.feed(0, FrameWriter(FrameType::barrier).text(fmt::format("{}", i), kMaxName).finish());
  }
  CHECK_FALSE(job.table.verdict());
  job.feed(0, FrameWriter(FrameType::barrier).text("one more", kMaxName).finish());
  CHECK(job.failed());
}

TEST_CASE("the first verdict stands") {
  Fixture job({.processes = 2, .pes = {}});
  job.join_all();
  job.feed(1, FrameWriter(FrameType::exit).u32(3).finish());
  job.feed(0, FrameWriter(FrameType::failed).u32(134).text("late", kMaxReason).finish());
  REQUIRE(job.table.verdict());
  CHECK(job.table.verdict()->kind == Verdict::Kind::exited);
  CHECK(job.table.verdict()->code == 3);
  CHECK(job.table.verdict()->process == ProcessId{1});
}

TEST_CASE("COMM-16: after an exit barriers are served on") {
  Fixture job({.processes = 2, .pes = {}});
  job.join_all();
  job.feed(1, FrameWriter(FrameType::exit).u32(0).finish());
  const Bytes reach = FrameWriter(FrameType::barrier).text("closing", kMaxName).finish();
  job.feed(0, reach);
  job.feed(1, reach);
  REQUIRE(job.sent[0].size() == 1);
  CHECK(type_of(job.sent[0][0]) == FrameType::released);
}

TEST_CASE("a process may fail before it has joined") {
  Fixture job({.processes = 2, .pes = {}});
  job.feed(1, FrameWriter(FrameType::failed).u32(0).text("no UCX", kMaxReason).finish());
  REQUIRE(job.failed());
  CHECK(job.table.verdict()->code == 1);
  CHECK(job.reason() == "no UCX");
}

TEST_CASE("a heartbeat's step counter is kept") {
  Fixture job({.processes = 1, .pes = {}});
  job.join_all();
  job.feed(0, FrameWriter(FrameType::heartbeat).u64(1ULL << 40U).finish());
  CHECK(job.table.steps(ProcessId{0}) == 1ULL << 40U);
}

TEST_CASE("nothing but hello and failed is served before the job is complete") {
  for (const FrameType type : {FrameType::get_address, FrameType::put_address, FrameType::barrier,
                               FrameType::exit, FrameType::entry_list, FrameType::welcome,
                               FrameType::stop, FrameType::released, FrameType::address}) {
    Fixture job({.processes = 2, .pes = {}});
    job.feed(0, FrameWriter(type).u32(0).finish());
    CHECK(job.failed());
  }
}

TEST_CASE("a rank is taken once, until its process has left") {
  JobTable table({.processes = 2, .pes = {}}, 1, [](ProcessId, std::span<const std::byte>) {});
  CHECK(table.arrive(ProcessId{1}));
  CHECK_FALSE(table.arrive(ProcessId{1}));
  CHECK_FALSE(table.arrive(ProcessId{2}));
  table.leave(ProcessId{1});
  CHECK(table.arrive(ProcessId{1}));
}

TEST_CASE("random and damaged frames never do more than fail the job") {
  constexpr std::uint64_t kSeeds = 3000;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    Fixture job({.processes = 2, .pes = {}});
    if (random.chance(0.7)) job.join_all(identity_of());
    FrameReader reader;
    for (int i = 0; i < 20 && !job.table.verdict(); ++i) {
      FrameWriter writer(static_cast<FrameType>(1 + random.below(8)));
      for (std::uint64_t k = random.below(4); k > 0; --k) {
        if (random.chance(0.5)) writer.u32(static_cast<std::uint32_t>(random.below(3)));
        if (random.chance(0.3)) writer.text(std::string(random.below(300), 'x'), 300);
      }
      Bytes frame = random.chance(0.2) ? encode_hello(identity_of()) : writer.finish();
      for (std::uint64_t k = random.below(3); k > 0; --k) {
        frame[random.below(frame.size())] ^= static_cast<std::byte>(1U << random.below(8));
      }
      reader.append(frame);
      while (true) {
        auto next = reader.next();
        if (!next) {
          job.table.corrupt(ProcessId{0}, next.error());
          break;
        }
        if (!next->has_value()) break;
        job.table.receive(ProcessId{0}, **next, random.below(kSecond));
      }
      job.table.tick(random.below(100 * kSecond));
    }
    CHECK((!job.table.verdict() || !job.table.verdict()->reason.empty() ||
           job.table.verdict()->kind == Verdict::Kind::exited ||
           job.table.verdict()->process == ProcessId{0}));
  }
}

TEST_CASE("who did not choose its PEs gets an equal part of the processors that it shares") {
  const auto member = [](std::uint32_t pes, std::uint32_t usable, const std::string& processors,
                         const std::string& host) {
    Identity identity = identity_of();
    identity.pes = pes;
    identity.usable = usable;
    identity.processors = processors;
    identity.host = host;
    return encode_hello(identity);
  };
  Fixture job({.processes = 6, .pes = {}});
  job.feed(0, member(0, 8, "0-7", "a"));
  job.feed(1, member(0, 8, "0-7", "a"));
  job.feed(2, member(0, 8, "0-7", "b"));  // alone on its host
  job.feed(3, member(0, 1, "9", "a"));    // bound by its launcher
  job.feed(4, member(3, 8, "0-7", "a"));  // chose
  job.feed(5, member(0, 1, "9", "a"));    // more processes than processors
  struct Expected {
    std::uint32_t pes, before, total;
  };
  const std::vector<Expected> expected{{2, 0, 7}, {2, 2, 7}, {8, 0, 8},
                                       {1, 0, 2}, {3, 4, 7}, {1, 1, 2}};
  for (std::uint32_t k = 0; k < 6; ++k) {
    CAPTURE(k);
    REQUIRE(job.sent[k].size() == 1);
    PayloadReader reader(std::span(job.sent[k][0]).subspan(kFrameHeader));
    CHECK(reader.u32() == expected[k].before);
    CHECK(reader.u32() == expected[k].total);
    const auto layout = JobLayout::read(reader);
    REQUIRE(layout);
    CHECK(layout.value().pes(ProcessId{k}) == expected[k].pes);
    CHECK(layout.value().total_pes() == 17);
  }
}

TEST_CASE("a hello without PEs and without processors is refused") {
  Fixture job({.processes = 1, .pes = {}});
  Identity identity = identity_of();
  identity.pes = 0;
  job.feed(0, encode_hello(identity));
  CHECK(job.failed());
}

TEST_CASE("where nobody else looks, who leaves before the end has died") {
  for (const bool looks : {false, true}) {
    CAPTURE(looks);
    Fixture job({.processes = 2, .pes = {}, .leaving_fails = !looks});
    Identity identity;
    identity.node = "n1";
    identity.pid = 77;
    job.join_all(identity);
    job.table.leave(ProcessId{1});
    CHECK(job.failed() == !looks);
    if (looks) continue;
    CHECK(job.table.verdict()->process == ProcessId{1});
    CHECK(contains(job.reason(), "its connection ended before the job did"));
    CHECK(job.table.describe(ProcessId{1}) == "process 1 (pid 77 on n1)");
  }
  Fixture ended({.processes = 2, .pes = {}, .leaving_fails = true});
  ended.join_all();
  ended.feed(0, FrameWriter(FrameType::exit).u32(3).finish());
  ended.table.leave(ProcessId{1});
  CHECK(!ended.failed());
}
