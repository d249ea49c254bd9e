// SPDX-License-Identifier: Apache-2.0
// The part of JobTable that knows which processes live, and what they say that they wait for.
#include <shoal/comm/bootstrap/job_table.hpp>

#include <algorithm>

namespace shoal::comm {

void JobTable::leave(ProcessId process) {
  members_[number(process)].connected = false;
  if (report_deadline_ && !members_[number(process)].report && reports_missing_ > 0) {
    --reports_missing_;
  }
  if (!options_.leaving_fails) return;
  fail(process, kLostCode, "its connection ended before the job did: it was killed, or it crashed");
}

std::string JobTable::describe(ProcessId process) const {
  const Member& member = members_[number(process)];
  if (!member.joined) return fmt::format("process {}", number(process));
  return fmt::format("process {} (pid {} on {})", number(process), member.identity.pid,
                     member.identity.node);
}

void JobTable::hear(ProcessId process, Nanoseconds now) {
  Member& member = members_[number(process)];
  if (std::exchange(member.silent, false)) {
    news_.push_back(fmt::format("{} is heard of again, after {:.1f} s", describe(process),
                                static_cast<double>(now - member.heard) / 1e9));
  }
  member.heard = now;
}

// A live process is heard of twice in a heartbeat. Silence is told after 1.6 of them, and looked
// for often enough that 2 are never over.
void JobTable::look_for_silent(Nanoseconds now) {
  if (!next_look_ || now < *next_look_) return;
  const Nanoseconds heartbeat = members_.front().identity.heartbeat_ms * kMillisecond;
  next_look_ = now + heartbeat / 4;
  for (std::uint32_t k = 0; k < options_.processes; ++k) {
    Member& member = members_[k];
    const bool beats = member.connected && member.identity.heartbeat_ms != 0;
    if (!beats || member.silent || now - member.heard < heartbeat * 8 / 5) continue;
    member.silent = true;
    news_.push_back(fmt::format(
        "{} is stuck: it has not been heard of for {:.1f} s; it was stopped, or its machine is too "
        "busy to run it",
        describe(ProcessId{k}), static_cast<double>(now - member.heard) / 1e9));
  }
}

void JobTable::ask_report(Nanoseconds now) {
  if (report_deadline_) return;
  report_deadline_ = now + kReportLimit;
  const auto ask = FrameWriter(FrameType::ask_report).finish();
  for (std::uint32_t k = 0; k < options_.processes; ++k) {
    members_[k].report.reset();
    if (!members_[k].connected || !layout_) continue;
    ++reports_missing_;
    send_(ProcessId{k}, ask);
  }
}

bool JobTable::take_in_report(Member& member, PayloadReader& reader) {
  std::string text = reader.text(kMaxReason);
  if (!reader.finished()) return false;
  if (!report_deadline_ || member.report) return true;  // it comes too late
  member.report = std::move(text);
  if (reports_missing_ > 0) --reports_missing_;
  return true;
}

std::optional<std::string> JobTable::take_report() {
  if (!report_deadline_ || reports_missing_ > 0) return std::nullopt;
  report_deadline_.reset();
  std::string text;
  for (std::uint32_t k = 0; k < options_.processes; ++k) {
    const Member& member = members_[k];
    text += describe(ProcessId{k});
    if (member.report) {
      text += ":\n" + *member.report;
    } else if (!member.connected) {
      text += member.joined ? " has left\n" : " has not joined\n";
    } else if (!layout_) {
      text += " waits for the others to join\n";
    } else {
      text += fmt::format(" does not answer: it was last heard of after {} steps\n", member.steps);
    }
  }
  return text;
}

}  // namespace shoal::comm
