// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/quiet_thread.hpp>

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <limits>
#include <system_error>

namespace shoal::comm {

Expected<std::thread> start_quiet_thread(const char* name, std::function<void()> body) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Expected<std::thread> result = std::thread();
  try {
    std::thread thread(std::move(body));
    pthread_setname_np(thread.native_handle(), name);
    result = std::move(thread);
  } catch (const std::system_error& error) {
    result = make_error(ErrorCode::no_memory, fmt::format("no thread: {}", error.what()));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

void signal_eventfd(const Descriptor& eventfd) noexcept {
  const std::uint64_t one = 1;
  while (::write(eventfd.get(), &one, sizeof(one)) < 0 && errno == EINTR) {
  }
}

void clear_eventfd(const Descriptor& eventfd) noexcept {
  std::uint64_t count = 0;
  while (::read(eventfd.get(), &count, sizeof(count)) < 0 && errno == EINTR) {
  }
}

int milliseconds_until(Nanoseconds deadline) noexcept {
  const Nanoseconds now = steady_clock().now();
  if (deadline <= now) return 0;
  const Nanoseconds left = (deadline - now) / kMillisecond + 1;
  return static_cast<int>(std::min<Nanoseconds>(left, std::numeric_limits<int>::max()));
}

}  // namespace shoal::comm
