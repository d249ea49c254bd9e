// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/pmix_start.hpp>

#include <shoal/comm/bootstrap/socket.hpp>
#include <shoal/comm/bootstrap/wire.hpp>

#include <array>
#include <charconv>

namespace shoal::comm {

namespace {
constexpr const char* kMeeting = "shoal.meeting";

std::optional<Secret> from_hex(std::string_view text) {
  std::array<std::byte, Secret::kSize> bytes{};
  if (text.size() != 2 * bytes.size()) return std::nullopt;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    unsigned value = 0;
    const char* end = text.data() + 2 * i + 2;
    const auto [stop, error] = std::from_chars(end - 2, end, value, 16);
    if (error != std::errc{} || stop != end) return std::nullopt;
    bytes[i] = static_cast<std::byte>(value);
  }
  return Secret(bytes);
}
}  // namespace

Expected<std::unique_ptr<PmixStart>> PmixStart::join() {
  auto pmix = Pmix::init();
  if (!pmix) return pmix.error();
  auto made = std::make_unique<PmixStart>(Key{}, std::move(*pmix));
  Pmix& job = *made->pmix_;
  if (job.process() == ProcessId{0}) {
    auto secret = Secret::make();
    if (!secret) return secret.error();
    auto address = made->host(*secret);
    if (!address) return address.error();
    if (auto put = job.put(kMeeting, *address + " " + hex(secret->bytes())); !put)
      return put.error();
  }
  if (auto met = job.exchange(); !met) return met.error();
  auto meeting = job.get(ProcessId{0}, kMeeting);
  if (!meeting) return meeting.error();
  const std::size_t space = meeting->find(' ');
  const auto secret =
      space == std::string::npos ? std::nullopt : from_hex(meeting->substr(space + 1));
  if (!secret) return make_error(ErrorCode::bad_data, "PMIx does not say where the job meets");
  made->launch_ =
      Launch{meeting->substr(0, space), job.process(), job.processes(), 0, *secret, true};
  return made;
}

Expected<std::string> PmixStart::host(const Secret& secret) {
  Rendezvous::Options options;
  options.job.processes = pmix_->processes();
  if (pmix_->local_processes() < pmix_->processes()) options.host = kAnyHost;
  auto started = HostedRendezvous::start(std::move(options), secret);
  if (!started) return started.error();
  rendezvous_ = std::move(*started);
  return rendezvous_->address();
}

}  // namespace shoal::comm
