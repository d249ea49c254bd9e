// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/job_layout.hpp>

#include <algorithm>
#include <numeric>

namespace shoal::comm {

namespace {
bool all_equal(std::span<const std::uint32_t> values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) == values.end();
}
}  // namespace

JobLayout::JobLayout(std::uint64_t id, std::span<const std::uint32_t> pes,
                     std::span<const std::uint32_t> hosts)
    : id_(id),
      processes_(static_cast<std::uint32_t>(pes.size())),
      pes_of_first_(pes.front()),
      total_pes_(std::accumulate(pes.begin(), pes.end(), 0U)) {
  set_lists(pes, hosts);
}

void JobLayout::set_lists(std::span<const std::uint32_t> pes,
                          std::span<const std::uint32_t> hosts) {
  if (!all_equal(pes)) {
    first_pes_.resize(pes.size() + 1);
    std::partial_sum(pes.begin(), pes.end(), first_pes_.begin() + 1);
  }
  if (!all_equal(hosts)) hosts_.assign(hosts.begin(), hosts.end());
}

PeId JobLayout::first_pe(ProcessId process) const noexcept {
  if (first_pes_.empty()) return PeId{number(process) * pes_of_first_};
  return PeId{first_pes_[number(process)]};
}

std::uint32_t JobLayout::pes(ProcessId process) const noexcept {
  if (first_pes_.empty()) return pes_of_first_;
  return first_pes_[number(process) + 1] - first_pes_[number(process)];
}

ProcessId JobLayout::process_of(PeId pe) const noexcept {
  if (first_pes_.empty()) return ProcessId{number(pe) / pes_of_first_};
  const auto above = std::upper_bound(first_pes_.begin(), first_pes_.end(), number(pe));
  return ProcessId{static_cast<std::uint32_t>(above - first_pes_.begin() - 1)};
}

bool JobLayout::same_host(ProcessId a, ProcessId b) const noexcept {
  return hosts_.empty() || hosts_[number(a)] == hosts_[number(b)];
}

void JobLayout::write(FrameWriter& writer) const {
  writer.u64(id_).u32(processes_).u32(pes_of_first_);
  writer.u8(first_pes_.empty() ? 0 : 1).u8(hosts_.empty() ? 0 : 1);
  if (!first_pes_.empty()) {
    for (std::uint32_t k = 0; k < processes_; ++k) writer.u32(pes(ProcessId{k}));
  }
  for (const std::uint32_t host : hosts_) writer.u32(host);
}

Expected<JobLayout> JobLayout::read(PayloadReader& reader) {
  const auto bad = [] { return make_error(ErrorCode::bad_data, "a job layout does not parse"); };
  const std::uint64_t id = reader.u64();
  const std::uint32_t processes = reader.u32();
  const std::uint32_t pes_of_first = reader.u32();
  const bool listed = reader.u8() != 0;
  const bool hosts_listed = reader.u8() != 0;
  if (!reader.ok() || processes == 0 || processes > kMaxProcesses) return bad();
  const std::size_t lists = (listed ? 1U : 0U) + (hosts_listed ? 1U : 0U);
  if (reader.left() != lists * processes * 4) return bad();
  // Without a list, a few bytes speak of many processes: they get no memory, in the layout or here.
  const auto list = [&](bool there) {
    std::vector<std::uint32_t> values(there ? processes : 0);
    std::generate(values.begin(), values.end(), [&] { return reader.u32(); });
    return values;
  };
  const auto pes = list(listed);
  const auto hosts = list(hosts_listed);
  if (pes_of_first == 0 || std::find(pes.begin(), pes.end(), 0U) != pes.end()) return bad();
  const std::uint64_t total = listed ? std::accumulate(pes.begin(), pes.end(), std::uint64_t{0})
                                     : std::uint64_t{processes} * pes_of_first;
  if (total > kMaxPes || (listed && pes.front() != pes_of_first)) return bad();
  JobLayout layout(pes_of_first);
  layout.id_ = id;
  layout.processes_ = processes;
  layout.total_pes_ = static_cast<std::uint32_t>(total);
  layout.set_lists(pes, hosts);
  return layout;
}

}  // namespace shoal::comm
