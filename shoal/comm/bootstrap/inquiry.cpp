// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/inquiry.hpp>

#include <shoal/comm/bootstrap/socket.hpp>

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace shoal::comm {

namespace {
constexpr std::size_t kMostAskers = 16;
constexpr Nanoseconds kAnswerLimit = 10 * kSecond;

struct Address {
  sockaddr_un address{};
  socklen_t size = 0;

  explicit Address(const Inquirable& whom) {
    const std::string name = fmt::format("shoal-{}-{}", whom.user, whom.process);
    address.sun_family = AF_UNIX;  // the name begins with a zero byte: it is no file
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

bool may_ask(const Descriptor& asker) {
  ucred who{};
  socklen_t size = sizeof(who);
  return ::getsockopt(asker.get(), SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 &&
         (who.uid == ::geteuid() || who.uid == 0);
}
}  // namespace

Inquiry::Inquiry() : listener_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
  const Address own({::getpid(), ::geteuid()});
  if (listener_ && (::bind(listener_.get(), own.get(), own.size) != 0 ||
                    ::listen(listener_.get(), kMostAskers) != 0)) {
    listener_.reset();
  }
}

bool Inquiry::accept() {
  while (listener_ && askers_.size() < kMostAskers) {
    Descriptor asker(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!asker) break;
    if (may_ask(asker)) askers_.push_back(std::move(asker));
  }
  return !askers_.empty();
}

// A report fits a socket's buffer, or is cut: nobody who does not read holds up the job.
void Inquiry::answer(const std::string& text) {
  for (const Descriptor& asker : askers_) {
    (void)::send(asker.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  askers_.clear();
}

std::vector<Inquirable> inquirable_processes() {
  std::vector<Inquirable> found;
  std::ifstream table("/proc/net/unix");
  for (std::string line; std::getline(table, line);) {
    const std::size_t at = line.find("@shoal-");
    unsigned user = 0;
    int process = 0;
    if (at == std::string::npos ||
        std::sscanf(line.c_str() + at, "@shoal-%u-%d", &user, &process) != 2) {  // NOLINT: checked
      continue;
    }
    const bool known = !found.empty() && found.back().process == process;  // a connection's line
    if (!known) found.push_back({process, user});
  }
  return found;
}

Expected<std::string> inquire(const Inquirable& whom) {
  const Descriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Address address(whom);
  if (!socket || ::connect(socket.get(), address.get(), address.size) != 0) {
    return system_error(fmt::format("cannot ask process {}", whom.process), errno);
  }
  const Nanoseconds deadline = steady_clock().now() + kAnswerLimit;
  std::string text;
  std::array<std::byte, 1U << 16U> room;
  while (wait_for(socket.get(), POLLIN, deadline)) {
    const auto got = read_some(socket.get(), room);
    if (got.state != ReadEnd::more) {
      if (!text.empty()) return text;
      return make_error(ErrorCode::refused, fmt::format("process {} does not answer: it ends, or "
                                                        "is another user's",
                                                        whom.process));
    }
    text.append(reinterpret_cast<const char*>(room.data()), got.size);
  }
  return make_error(ErrorCode::timed_out,
                    fmt::format("process {} does not answer: is it stopped?", whom.process));
}

}  // namespace shoal::comm
