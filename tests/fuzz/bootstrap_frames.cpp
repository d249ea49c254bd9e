// SPDX-License-Identifier: Apache-2.0
// The rendezvous' knowledge of a job, fed with frames and bytes from processes that have proved
// themselves and are wrong all the same. What it sends goes to processes that exist and parses, its
// first verdict stands, and whatever it fails says why.
#include "target.hpp"

#include <shoal/comm/bootstrap/job_table.hpp>

#include <vector>

namespace shoal::fuzz {

using namespace comm;  // NOLINT(google-build-using-namespace): what is tried

namespace {

constexpr std::uint32_t kMostProcesses = 4;
constexpr std::size_t kMostSteps = 100;

void check_layout(Bytes payload) {
  PayloadReader reader(payload);
  auto layout = JobLayout::read(reader);
  if (!layout) return;
  SHOAL_CHECK(layout->total_pes() <= kMaxPes && layout->processes() <= kMaxProcesses, "its limits");
  const std::uint32_t last = layout->total_pes() - 1;
  const ProcessId process = layout->process_of(PeId{last});
  SHOAL_CHECK(number(process) == layout->processes() - 1, "its last PE is of process {}",
              number(process));
  SHOAL_CHECK(number(layout->first_pe(process)) + layout->pes(process) == last + 1, "its PEs");
}

class Game {
 public:
  explicit Game(Input& input)
      : input_(input),
        processes_(1 + input.below(kMostProcesses)),
        readers_(processes_),
        broken_(processes_),
        table_({.processes = processes_, .pes = {}}, 42,
               [this](ProcessId to, Bytes frame) { check_sent(to, frame); }) {
    if (input.flag()) {
      for (std::uint32_t k = 0; k < processes_; ++k) {
        table_.arrive(ProcessId{k});
        give(k, encode_hello(identity()));
      }
    }
  }

  void play() {
    for (std::size_t step = 0; step < kMostSteps && !input_.empty(); ++step) {
      const std::uint32_t process = input_.below(processes_);
      move(process);
      check_verdict();
    }
  }

 private:
  void move(std::uint32_t process) {
    switch (input_.below(6)) {
      case 0:  // bytes, however they are cut
        return give(process, input_.piece());
      case 1:  // a frame that is whole, with any payload
        return give(process, whole(input_.byte(), input_.piece()));
      case 2:  // a frame with a number and a text
        return give(process, FrameWriter(static_cast<FrameType>(input_.byte()))
                                 .u32(static_cast<std::uint32_t>(input_.number(4)))
                                 .text(input_.text(), 256)
                                 .finish());
      case 3:
        return give(process, encode_hello(identity()));
      case 4:
        now_ += input_.number(2) * 10 * kMillisecond;
        table_.tick(now_);
        if (now_ % (30 * kMillisecond) == 0) table_.ask_report(now_);
        (void)table_.take_report();
        (void)table_.take_news();
        return;
      default:
        table_.leave(ProcessId{process});
        readers_[process] = {};
        broken_[process] = false;
        SHOAL_CHECK(table_.arrive(ProcessId{process}), "a process that has left may come again");
        SHOAL_CHECK(!table_.arrive(ProcessId{processes_}), "there is no such process");
    }
  }

  Identity identity() {
    Identity identity;
    identity.pes = static_cast<std::uint32_t>(input_.flag() ? input_.number(4) : 1);
    identity.entry_digest[0] = static_cast<std::byte>(input_.below(2));
    identity.version = "1";
    identity.build = input_.flag() ? input_.text() : "build";
    identity.ucx = "1.13.1";
    identity.host = input_.flag() ? input_.text() : "here";
    return identity;
  }

  static std::vector<std::byte> whole(std::uint8_t type, Bytes payload) {
    std::vector<std::byte> frame{static_cast<std::byte>(payload.size()), std::byte{0}, std::byte{0},
                                 std::byte{0}, static_cast<std::byte>(type)};
    frame.insert(frame.end(), payload.begin(), payload.end());
    return frame;
  }

  void give(std::uint32_t process, Bytes bytes) {
    if (broken_[process]) return;
    FrameReader& reader = readers_[process];
    reader.append(bytes);
    while (true) {
      auto frame = reader.next();
      if (!frame) {
        broken_[process] = true;
        SHOAL_CHECK(!frame.error().text.empty(), "an error without a text");
        return table_.corrupt(ProcessId{process}, frame.error());
      }
      if (!frame->has_value()) return;
      if ((*frame)->type == FrameType::welcome) check_layout((*frame)->payload);
      table_.receive(ProcessId{process}, **frame, now_);
    }
  }

  void check_sent(ProcessId to, Bytes bytes) const {
    SHOAL_CHECK(number(to) < processes_, "it sends to process {}", number(to));
    FrameReader reader;
    reader.append(bytes);
    auto frame = reader.next();
    SHOAL_CHECK(frame && frame->has_value() && reader.buffered() == 0, "it sends what is no frame");
    SHOAL_CHECK((*frame)->type >= FrameType::welcome, "it sends what only a process sends");
    if ((*frame)->type != FrameType::welcome) return;
    PayloadReader payload((*frame)->payload);
    const std::uint32_t before = payload.u32();
    SHOAL_CHECK(before < payload.u32(), "a process without a part of the processors");
    SHOAL_CHECK(static_cast<bool>(JobLayout::read(payload)), "its welcome does not parse");
    check_layout((*frame)->payload.subspan(8));
  }

  void check_verdict() {
    const auto& verdict = table_.verdict();
    SHOAL_CHECK(verdict || !was_failed_, "a verdict was taken back");
    if (!verdict) return;
    if (verdict->process) SHOAL_CHECK(number(*verdict->process) < processes_, "a process");
    if (verdict->kind == Verdict::Kind::failed) {
      SHOAL_CHECK(verdict->code != 0, "a failure without a code");
      SHOAL_CHECK(verdict->reason.size() <= kMaxReason, "{} bytes", verdict->reason.size());
      SHOAL_CHECK(verdict->process || !verdict->reason.empty(), "a refusal without a reason");
      was_failed_ = true;
    } else {
      SHOAL_CHECK(!was_failed_ && table_.complete(), "an exit of a job that never stood");
    }
  }

  Input& input_;
  std::uint32_t processes_;
  std::vector<FrameReader> readers_;
  std::vector<bool> broken_;
  JobTable table_;
  Nanoseconds now_ = 0;
  bool was_failed_ = false;
};

}  // namespace

void try_input(Bytes input) {
  check_layout(input);
  Input choices(input);
  Game(choices).play();
}

}  // namespace shoal::fuzz
