// SPDX-License-Identifier: Apache-2.0
#include <tools/child.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace shoal::tools {

using comm::Descriptor;
using comm::Error;
using comm::Expected;
using comm::number;
using comm::system_error;

namespace {

// More than a pipe holds; an heir that writes on and on is not followed for ever.
constexpr int kMostPumps = 64;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Expected<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("cannot make a pipe", errno);
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Everything the child needs after fork, where it may neither allocate nor lock.
struct Plan {
  const char* path;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  int stdin_fd;  // -1: keep the launcher's
  int stdout_fd;
  int stderr_fd;
  int secret_fd;
  int failure_fd;
  pid_t launcher;
};

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

[[noreturn]] void become(const Plan& plan, const Launchpad& launchpad) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != plan.launcher) ::_exit(128 + SIGKILL);  // it died before the line above
  const rlimit now = [] {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return limit;
  }();
  const rlimit before{launchpad.open_files, now.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &before);
  ::signal(SIGPIPE, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &launchpad.signal_mask, nullptr);
  const bool wired = (plan.stdin_fd < 0 || ::dup2(plan.stdin_fd, STDIN_FILENO) >= 0) &&
                     ::dup2(plan.stdout_fd, STDOUT_FILENO) >= 0 &&
                     ::dup2(plan.stderr_fd, STDERR_FILENO) >= 0 &&
                     ::fcntl(plan.secret_fd, F_SETFD, 0) == 0;
  if (wired) ::execve(plan.path, plan.arguments.data(), plan.environment.data());
  const int error = errno;
  if (::write(plan.failure_fd, &error, sizeof(error)) < 0) ::_exit(126);
  ::_exit(127);
}

Expected<Pipe> secret_pipe(const comm::Secret& secret) {
  auto pipe = make_pipe();
  if (!pipe) return pipe;
  const auto bytes = secret.bytes();
  if (::write(pipe->write.get(), bytes.data(), bytes.size()) !=
      static_cast<ssize_t>(bytes.size())) {
    return system_error("cannot hand the secret to a process", errno);
  }
  pipe->write.reset();
  return pipe;
}

std::vector<std::string> environment_of(const Launchpad& launchpad, comm::ProcessId rank,
                                        int secret_fd) {
  auto environment = launchpad.environment;
  environment.push_back(fmt::format("SHOAL_RANK={}", number(rank)));
  environment.push_back(fmt::format("SHOAL_PROCESSES={}", launchpad.pes.size()));
  environment.push_back(fmt::format("SHOAL_PES={}", launchpad.pes[number(rank)]));
  environment.push_back(fmt::format("SHOAL_SECRET_FD={}", secret_fd));
  return environment;
}

Stream make_stream(Pipe& pipe, Sink* sink, const LineForwarder::Style& style) {
  // The write end is the child's alone, or its end would never be seen.
  pipe.write.reset();
  ::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  return {std::move(pipe.read), LineForwarder(*sink, style), sink};
}

}  // namespace

Expected<Child> start(const Launchpad& launchpad, comm::ProcessId rank) {
  auto out = make_pipe();
  auto error = make_pipe();
  auto failure = make_pipe();
  auto secret = secret_pipe(launchpad.secret);
  for (auto* pipe : {&out, &error, &failure, &secret}) {
    if (!*pipe) return pipe->error();
  }
  Descriptor nothing;
  if (number(rank) != 0) nothing.reset(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const auto environment = environment_of(launchpad, rank, secret->read.get());
  const Plan plan{launchpad.path.c_str(),
                  pointers(launchpad.command),
                  pointers(environment),
                  nothing.get(),
                  out->write.get(),
                  error->write.get(),
                  secret->read.get(),
                  failure->write.get(),
                  ::getpid()};
  const pid_t pid = ::fork();
  if (pid == 0) become(plan, launchpad);
  if (pid < 0) return system_error("cannot start another process", errno);
  Descriptor pidfd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!pidfd) {
    const int reason = errno;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    return system_error("cannot watch a process by pidfd", reason);
  }
  const LineForwarder::Style style{launchpad.prefix ? fmt::format("[{}] ", number(rank)) : "",
                                   launchpad.prefix || launchpad.pes.size() > 1};
  return Child{rank,
               pid,
               std::move(pidfd),
               std::move(failure->read),
               make_stream(*out, launchpad.out, style),
               make_stream(*error, launchpad.error, style),
               comm::steady_clock().now(),
               std::nullopt};
}

Expected<void> await_program(Child& child) {
  int error = 0;
  ssize_t size;
  do {
    size = ::read(child.failure.get(), &error, sizeof(error));
  } while (size < 0 && errno == EINTR);
  child.failure.reset();
  if (size == sizeof(error)) return system_error("the kernel refuses the program", error);
  return {};
}

bool Stream::pump() {
  std::array<char, 1U << 16U> room;
  ssize_t size;
  do {
    size = ::read(pipe.get(), room.data(), room.size());
  } while (size < 0 && errno == EINTR);
  if (size > 0) lines.add(std::string_view(room.data(), static_cast<std::size_t>(size)));
  if (size > 0 || (size < 0 && errno == EAGAIN)) return true;
  finish();
  return false;
}

void Stream::drain() {
  pollfd entry{pipe.get(), POLLIN, 0};
  for (int i = 0; i < kMostPumps && pipe && ::poll(&entry, 1, 0) > 0 && pump(); ++i) {
  }
}

void Stream::finish() {
  lines.finish();
  pipe.reset();
}

void Child::signal(int signal_number) const noexcept {
  if (alive()) ::kill(pid, signal_number);
}

std::string describe(int status) {
  if (!WIFSIGNALED(status)) return fmt::format("exited with code {}", WEXITSTATUS(status));
  const int number = WTERMSIG(status);
  const char* name = ::sigabbrev_np(number);
  return fmt::format("was killed by {}", name != nullptr ? fmt::format("SIG{}", name)
                                                         : fmt::format("signal {}", number));
}

int code_of(int status) {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace shoal::tools
