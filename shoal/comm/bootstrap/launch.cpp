// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/launch.hpp>

#include <shoal/comm/bootstrap/job_layout.hpp>
#include <shoal/comm/descriptor.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <string>

namespace shoal::comm {

namespace {

// Written once by take_launch, before there are other threads.
bool launch_taken = false;

struct Range {
  std::uint32_t least;
  std::uint32_t most;
};

Expected<std::uint32_t> number_from(const char* name, Range range) {
  const char* text = std::getenv(name);
  const std::string digits = text != nullptr ? text : "";
  std::uint32_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc{} || stop != end || value < range.least || value > range.most) {
    return make_error(ErrorCode::bad_argument,
                      fmt::format("{} is '{}', but must be a number from {} to {}", name, digits,
                                  range.least, range.most));
  }
  return value;
}

Expected<Secret> read_secret(int fd) {
  const Descriptor pipe(fd);
  std::array<std::byte, Secret::kSize> bytes{};
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t size = ::read(pipe.get(), bytes.data() + got, bytes.size() - got);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) {
      return make_error(
          ErrorCode::refused,
          "SHOAL_SECRET_FD holds no secret: was it read before, or closed by a wrapper?");
    }
    got += static_cast<std::size_t>(size);
  }
  const Secret secret(bytes);
  std::fill(bytes.begin(), bytes.end(), std::byte{0});
  return secret;
}

}  // namespace

bool started_by_launcher() noexcept {
  return launch_taken || std::getenv("SHOAL_RENDEZVOUS") != nullptr;
}

std::optional<std::string> lone_start_warning() {
  struct Starter {
    const char* size;
    const char* rank;
    const char* name;
    const char* advice;
  };
  static constexpr std::array<Starter, 2> kStarters{{
      {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun", "srun --mpi=pmix"},
      {"PMI_SIZE", "PMI_RANK", "an MPI launcher", "one that has PMIx, such as Open MPI's mpirun"},
  }};
  if (std::getenv("SHOAL_RANK") != nullptr) return std::nullopt;  // started by a member of a job
  for (const Starter& starter : kStarters) {
    auto size = number_from(starter.size, {2, kMaxProcesses});
    const auto rank = number_from(starter.rank, {0, 0});
    if (!size || !rank) continue;
    return fmt::format(
        "this process is one of {} that {} started, but without PMIx, so it is a job "
        "of its own: start it with {}, or with shoal run",
        *size, starter.name, starter.advice);
  }
  return std::nullopt;
}

std::optional<std::uint32_t> pes_from_launcher() {
  if (!started_by_launcher()) return std::nullopt;
  auto pes = number_from("SHOAL_PES", {1, kMaxPes});
  if (!pes) return std::nullopt;
  return *pes;
}

Expected<Launch> take_launch() {
  const char* rendezvous = std::getenv("SHOAL_RENDEZVOUS");
  if (rendezvous == nullptr) {
    return make_error(ErrorCode::bad_argument, "SHOAL_RENDEZVOUS is not set");
  }
  auto processes = number_from("SHOAL_PROCESSES", {1, kMaxProcesses});
  if (!processes) return processes.error();
  auto rank = number_from("SHOAL_RANK", {0, *processes - 1});
  if (!rank) return rank.error();
  auto pes = number_from("SHOAL_PES", {1, kMaxPes});
  if (!pes) return pes.error();
  auto fd = number_from("SHOAL_SECRET_FD", {3, 1U << 30U});
  if (!fd) return fd.error();
  auto secret = read_secret(static_cast<int>(*fd));
  if (!secret) return secret.error();
  Launch launch{rendezvous, ProcessId{*rank}, *processes, *pes, *secret, false};
  ::unsetenv("SHOAL_RENDEZVOUS");
  ::unsetenv("SHOAL_SECRET_FD");
  launch_taken = true;
  return launch;
}

}  // namespace shoal::comm
