// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/job_table.hpp>

#include <algorithm>

namespace shoal::comm {

namespace {
// A mixed job is refused within a second, with or without the lists.
constexpr Nanoseconds kEntryListLimit = 500 * kMillisecond;

std::string hex_prefix(const Digest& digest) { return hex(std::span(digest).first(6)); }
}  // namespace

JobTable::JobTable(Options options, std::uint64_t job_id, Send send)
    : options_(std::move(options)),
      job_id_(job_id),
      send_(std::move(send)),
      members_(options_.processes) {}

bool JobTable::arrive(ProcessId process) {
  if (number(process) >= members_.size() || members_[number(process)].connected) return false;
  return members_[number(process)].connected = true;
}

void JobTable::receive(ProcessId process, const WireFrame& frame, Nanoseconds now) {
  // An orderly end takes a while: its barriers are still served.
  if (verdict_ && verdict_->kind == Verdict::Kind::failed) return;
  Member& member = members_[number(process)];
  hear(process, now);
  PayloadReader reader(frame.payload);
  bool good = true;
  switch (frame.type) {
    case FrameType::hello:
      return hello(process, frame, now);
    case FrameType::entry_list:
      return entry_list(process, frame);
    case FrameType::exit: {
      const auto code = static_cast<int>(reader.u32());
      good = reader.finished() && layout_.has_value();
      if (good && !verdict_) verdict_ = Verdict{Verdict::Kind::exited, process, code, {}};
      break;
    }
    case FrameType::failed: {
      const auto code = static_cast<int>(reader.u32());
      std::string reason = reader.text(kMaxReason);
      good = reader.finished();
      if (good) fail(process, code, std::move(reason));
      break;
    }
    case FrameType::heartbeat:
      member.steps = reader.u64();
      good = reader.finished();
      break;
    case FrameType::report:
      good = take_in_report(member, reader);
      break;
    default:
      good = layout_ && serve(process, frame);
      break;
  }
  if (!good) {
    fail(process, 1,
         fmt::format("it sent the rendezvous a bad frame of type {}",
                     static_cast<unsigned>(frame.type)));
  }
}

void JobTable::corrupt(ProcessId process, const Error& error) {
  fail(process, 1, fmt::format("its connection to the rendezvous cannot be read: {}", error.text));
}

void JobTable::fail(std::optional<ProcessId> process, int code, std::string reason) {
  if (verdict_) return;
  verdict_ = Verdict{Verdict::Kind::failed, process, code == 0 ? 1 : code, std::move(reason)};
}

void JobTable::hello(ProcessId process, const WireFrame& frame, Nanoseconds now) {
  Member& member = members_[number(process)];
  auto identity = decode_hello(frame.payload);
  if (!identity) return corrupt(process, identity.error());
  if (member.joined || (identity->pes == 0 && identity->usable == 0)) {
    return fail(process, 1, "it said hello twice, or has no PE");
  }
  member.identity = std::move(*identity);
  member.joined = true;
  ++joined_;
  if (!start_deadline_) start_deadline_ = now + options_.start_limit;
  if (!mismatch_) compare(process, now);
  if (complete() && !mismatch_ && !verdict_) welcome_all();
  if (layout_ && member.identity.heartbeat_ms != 0) next_look_ = now;
}

void JobTable::compare(ProcessId process, Nanoseconds now) {
  const auto lowest = std::find_if(members_.begin(), members_.end(), [&](const Member& member) {
    return member.joined && &member != &members_[number(process)];
  });
  if (lowest == members_.end()) return;
  const ProcessId other{static_cast<std::uint32_t>(lowest - members_.begin())};
  const ProcessId first = std::min(process, other);
  const ProcessId second = std::max(process, other);
  std::string text = differences(named(first), named(second)) + pe_difference(first, second);
  const Digest& first_digest = members_[number(first)].identity.entry_digest;
  const Digest& second_digest = members_[number(second)].identity.entry_digest;
  const bool entries_differ = first_digest != second_digest;
  if (entries_differ) {
    text += fmt::format("\n  entry methods: process {} has the table {}, process {} has {}",
                        number(first), hex_prefix(first_digest), number(second),
                        hex_prefix(second_digest));
  }
  if (text.empty()) return;
  mismatch_ = Mismatch{first, second, std::move(text), now + kEntryListLimit};
  if (!entries_differ) return conclude_mismatch();
  const auto ask = FrameWriter(FrameType::list_entries).finish();
  send_(first, ask);
  send_(second, ask);
}

// Counts may differ where the launcher gave different ones, or where all processes agree against
// it.
std::string JobTable::pe_difference(ProcessId first, ProcessId second) const {
  const std::uint32_t a = members_[number(first)].identity.pes;
  const std::uint32_t b = members_[number(second)].identity.pes;
  const bool as_told = !options_.pes.empty() && a == options_.pes[number(first)] &&
                       b == options_.pes[number(second)];
  const bool to_be_chosen = a == 0 || b == 0;
  if (a == b || as_told || to_be_chosen) return {};
  return fmt::format("\n  PEs: process {} has {}, process {} has {}", number(first), a,
                     number(second), b);
}

void JobTable::entry_list(ProcessId process, const WireFrame& frame) {
  if (!mismatch_ || (process != mismatch_->first && process != mismatch_->second)) {
    return fail(process, 1, "it sent its entries unasked");
  }
  Member& member = members_[number(process)];
  PayloadReader reader(frame.payload);
  member.identity.entries = reader.text(kMaxBootstrapFrame);
  member.listed = true;
  if (!reader.finished()) return fail(process, 1, "its list of entries does not parse");
  if (members_[number(mismatch_->first)].listed && members_[number(mismatch_->second)].listed) {
    conclude_mismatch();
  }
}

void JobTable::conclude_mismatch() {
  const ProcessId first = mismatch_->first;
  const ProcessId second = mismatch_->second;
  std::string reason = fmt::format("processes {} and {} cannot work together:{}", number(first),
                                   number(second), mismatch_->text);
  if (members_[number(first)].listed && members_[number(second)].listed) {
    reason += entry_differences(named(first), named(second));
  }
  fail(std::nullopt, 1, reason.substr(0, kMaxReason));
}

void JobTable::welcome_all() {
  const std::vector<Share> shares = share_processors();
  std::vector<std::uint32_t> pes;
  std::vector<std::uint32_t> hosts;
  std::unordered_map<std::string_view, std::uint32_t> known_hosts;
  std::uint64_t total = 0;
  for (const Member& member : members_) {
    pes.push_back(member.identity.pes);
    total += member.identity.pes;
    const auto next = static_cast<std::uint32_t>(known_hosts.size());
    hosts.push_back(known_hosts.try_emplace(member.identity.host, next).first->second);
  }
  if (total > kMaxPes) return fail(std::nullopt, 1, fmt::format("{} PEs are too many", total));
  layout_.emplace(job_id_, pes, hosts);
  for (std::uint32_t k = 0; k < options_.processes; ++k) {
    FrameWriter writer(FrameType::welcome);
    writer.u32(shares[k].before).u32(shares[k].total);
    layout_->write(writer);
    send_(ProcessId{k}, writer.finish());
  }
}

// Processes of a host that may use the same processors share them: who did not choose its number of
// PEs gets an equal part.
std::vector<Share> JobTable::share_processors() {
  std::unordered_map<std::string, std::vector<std::uint32_t>> groups;
  for (std::uint32_t k = 0; k < options_.processes; ++k) {
    const Identity& identity = members_[k].identity;
    groups[identity.host + '\n' + identity.processors].push_back(k);
  }
  std::vector<Share> shares(options_.processes);
  for (const auto& [where, processes] : groups) {
    const auto count = static_cast<std::uint32_t>(processes.size());
    std::uint32_t total = 0;
    for (const std::uint32_t k : processes) {
      Identity& identity = members_[k].identity;
      if (identity.pes == 0) identity.pes = std::max(1U, identity.usable / count);
      shares[k].before = total;
      total += identity.pes;
    }
    for (const std::uint32_t k : processes) shares[k].total = total;
  }
  return shares;
}

bool JobTable::serve(ProcessId process, const WireFrame& frame) {
  PayloadReader reader(frame.payload);
  switch (frame.type) {
    case FrameType::put_address:
      return put_address(process, reader);
    case FrameType::get_address:
      return get_address(process, reader);
    case FrameType::barrier:
      return barrier(process, reader);
    default:
      return false;  // a frame that only the rendezvous sends
  }
}

bool JobTable::put_address(ProcessId process, PayloadReader& reader) {
  const PeId pe{reader.u32()};
  const auto address = reader.bytes(kMaxAddress);
  if (!reader.finished() || number(pe) >= layout_->total_pes()) return false;
  if (layout_->process_of(pe) != process) return false;
  addresses_[number(pe)].assign(address.begin(), address.end());
  if (const auto waiting = parked_.extract(number(pe))) {
    for (const ProcessId asker : waiting.mapped()) send_address(asker, pe);
  }
  return true;
}

bool JobTable::get_address(ProcessId process, PayloadReader& reader) {
  const PeId pe{reader.u32()};
  if (!reader.finished() || number(pe) >= layout_->total_pes()) return false;
  if (addresses_.contains(number(pe))) {
    send_address(process, pe);
    return true;
  }
  auto& askers = parked_[number(pe)];
  if (std::find(askers.begin(), askers.end(), process) == askers.end()) askers.push_back(process);
  return true;
}

void JobTable::send_address(ProcessId process, PeId pe) {
  send_(process,
        FrameWriter(FrameType::address).u32(number(pe)).bytes(addresses_[number(pe)]).finish());
}

bool JobTable::barrier(ProcessId process, PayloadReader& reader) {
  const std::string name = reader.text(kMaxName);
  if (!reader.finished()) return false;
  if (!barriers_.contains(name) && barriers_.size() >= kMaxBarriers) return false;
  Barrier& barrier = barriers_[name];
  barrier.reached.resize(options_.processes);
  if (barrier.reached[number(process)]) return true;  // it gave up waiting and came again
  barrier.reached[number(process)] = true;
  if (++barrier.count < options_.processes) return true;
  barriers_.erase(name);
  const auto frame = FrameWriter(FrameType::released).text(name, kMaxName).finish();
  for (std::uint32_t k = 0; k < options_.processes; ++k) send_(ProcessId{k}, frame);
  return true;
}

std::optional<Nanoseconds> JobTable::deadline() const noexcept {
  const auto report = reports_missing_ > 0 ? report_deadline_ : std::nullopt;
  if (verdict_) return report;
  if (mismatch_) return mismatch_->deadline;
  if (!complete()) return start_deadline_;
  if (!report || !next_look_) return report ? report : next_look_;
  return std::min(*report, *next_look_);
}

void JobTable::tick(Nanoseconds now) {
  const auto due = deadline();
  if (!due || now < *due) return;
  if (report_deadline_ && now >= *report_deadline_) reports_missing_ = 0;
  if (verdict_) return;
  if (mismatch_) return conclude_mismatch();
  if (complete()) return look_for_silent(now);
  std::string missing;
  std::size_t named_ranks = 0;
  for (std::uint32_t k = 0; k < options_.processes; ++k) {
    if (members_[k].joined) continue;
    if (++named_ranks > 8) continue;
    missing += fmt::format("{}{}", missing.empty() ? "" : ", ", k);
  }
  fail(std::nullopt, 1,
       fmt::format("{} of {} processes joined within {} s; not there: {}{}", joined_,
                   options_.processes, options_.start_limit / kSecond, missing,
                   named_ranks > 8 ? ", …" : ""));
}

}  // namespace shoal::comm
