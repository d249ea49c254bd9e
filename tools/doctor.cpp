// SPDX-License-Identifier: Apache-2.0
#include <tools/doctor.hpp>

#include <tools/info.hpp>

#include <shoal/comm/ucx/ucx_settings.hpp>

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>

#include <array>
#include <cstdint>
#include <fstream>
#include <string>

namespace shoal::tools {

namespace {

enum class Grade { good, slower, bad };

struct Finding {
  Grade grade;
  std::string text;
  std::string advice = {};
};

std::string mebibytes(std::uint64_t bytes) { return fmt::format("{} MiB", bytes >> 20U); }

Finding examine_ucx() {
  const std::string ucx = describe_ucx();
  if (!ucx.starts_with("none")) return {Grade::good, "UCX " + ucx};
  return {Grade::bad, "UCX " + ucx, "install it (Debian: libucx0), or set LD_LIBRARY_PATH"};
}

Finding examine_other_memory() {
  if (comm::detail::may_read_other_processes()) {
    return {Grade::good, "processes may read each other's memory: large messages are copied once"};
  }
  return {
      Grade::slower, "processes may not read each other's memory: large messages take twice",
      "sysctl kernel.yama.ptrace_scope=1 or less; in a container, a seccomp profile that allows "
      "process_vm_readv"};
}

Finding examine_shared_memory() {
  constexpr std::uint64_t kEnough = std::uint64_t{64} << 20U;  // some tens of processes
  struct statvfs volume {};
  if (::statvfs("/dev/shm", &volume) != 0) {
    return {Grade::bad, "there is no /dev/shm", "mount a tmpfs there"};
  }
  const std::uint64_t room = std::uint64_t{volume.f_bavail} * volume.f_frsize;
  const std::string text = mebibytes(room) + " free in /dev/shm";
  if (room >= kEnough) return {Grade::good, text};
  return {Grade::bad, text + ": too few for many processes",
          "mount -o remount,size=1G /dev/shm; docker run --shm-size=1g"};
}

Finding examine_open_files() {
  constexpr rlim_t kEnough = 1024;  // a launcher needs five a process
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const std::string text = fmt::format("{} open files (up to {})", limit.rlim_cur, limit.rlim_max);
  if (limit.rlim_max >= kEnough) return {Grade::good, text};
  return {Grade::slower, text + ": jobs of some hundred processes do not fit", "ulimit -n 65536"};
}

Finding examine_maps() {
  constexpr std::uint64_t kEnough = 65'530;  // Linux' default; two a fiber
  std::uint64_t maps = 0;
  std::ifstream("/proc/sys/vm/max_map_count") >> maps;
  const std::string text = fmt::format("{} memory maps a process: about {} fibers", maps, maps / 2);
  if (maps >= kEnough) return {Grade::good, text};
  return {Grade::slower, text, "sysctl vm.max_map_count=1048576"};
}

Finding examine_pmix() {
  void* library = ::dlopen("libpmix.so.2", RTLD_LAZY | RTLD_LOCAL);
  if (library != nullptr) {
    return {Grade::good, "PMIx: programs start under mpirun, prterun and srun --mpi=pmix"};
  }
  return {Grade::slower, "no PMIx: programs start by shoal run only",
          "install it (Debian: libpmix2), if mpirun or srun is to start them"};
}

}  // namespace

int examine_machine() {
  constexpr std::array kChecks{&examine_ucx,        &examine_other_memory, &examine_shared_memory,
                               &examine_open_files, &examine_maps,         &examine_pmix};
  bool works = true;
  for (const auto check : kChecks) {
    const Finding finding = check();
    static constexpr std::array kMarks{"good  ", "slower", "bad   "};
    fmt::print("{}  {}\n", kMarks[static_cast<std::size_t>(finding.grade)], finding.text);
    if (!finding.advice.empty()) fmt::print("        {}\n", finding.advice);
    works &= finding.grade != Grade::bad;
  }
  return works ? 0 : 1;
}

}  // namespace shoal::tools
