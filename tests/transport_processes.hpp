// SPDX-License-Identifier: Apache-2.0
// The problem: a transport between processes must be shown between real ones, which share neither
// an address book nor a failure. Offered: both in memory that they share, and a driver that forks a
// process a party.
#pragma once

#include "transport_threads.hpp"

#include <shoal/comm/address_book.hpp>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <optional>

namespace contract {

/// Memory that this process and those it forks share, holding one T.
template <class T>
class Shared {
 public:
  Shared()
      : memory_(
            mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        value_(::new (memory_) T) {}
  ~Shared() { munmap(memory_, sizeof(T)); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  T& operator*() { return *value_; }
  T* operator->() { return value_; }

 private:
  void* memory_;
  T* value_;
};

/// Any thread, and any process that shares its memory.
class SmallAddressBook final : public AddressBook {
 public:
  Expected<void> publish(PeId pe, std::span<const std::byte> address) override {
    Entry& entry = entries_.at(number(pe));
    if (address.size() > entry.bytes.size()) {
      return make_error(ErrorCode::bad_argument, "an address is too long for the test's book");
    }
    std::memcpy(entry.bytes.data(), address.data(), address.size());
    entry.size.store(address.size(), std::memory_order_release);  // pairs with lookup
    return {};
  }
  Expected<std::vector<std::byte>> lookup(PeId pe) override {
    const Entry& entry = entries_.at(number(pe));
    const std::size_t size = entry.size.load(std::memory_order_acquire);
    if (size == 0) return make_error(ErrorCode::unreachable, "nobody published that address");
    return std::vector<std::byte>(entry.bytes.data(), entry.bytes.data() + size);
  }

 private:
  struct Entry {
    std::atomic<std::size_t> size{0};
    std::array<std::byte, 2'000> bytes{};
  };
  std::array<Entry, 8> entries_;
};

/// What forked parties have in common.
struct Common {
  Meetings meetings;
  SmallAddressBook addresses;
  std::array<std::array<char, 400>, 8> failures{};
};

/// Sets an environment variable for a while; nullptr unsets it.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) {
    if (const char* before = getenv(name)) before_ = before;
    value == nullptr ? unsetenv(name) : setenv(name, value, 1);
  }
  ~Environment() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

/// Waits for `child`, which is killed at `give_up`. Nothing, or how it ended badly.
inline std::string reap(pid_t child, Nanoseconds give_up) {
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (steady_clock().now() > give_up) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return "a process had to be killed";
    }
    usleep(1'000);  // lint: allow(sleep): waitpid knows no deadline
  }
  if (WIFSIGNALED(status)) return fmt::format("a process died of signal {}", WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("a process exited {}", WEXITSTATUS(status));
}

/// Each party in a process of its own, with the transport that `make(first_pe, addresses)` gives
/// there.
template <class Make>
std::string run_in_processes(const Scenario& scenario, Make&& make) {
  Shared<Common> common;
  std::vector<pid_t> children;
  for (unsigned i = 0; i < scenario.parties; ++i) {
    const pid_t child = fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    {
      Seat seat;
      Expected<std::unique_ptr<Transport>> transport = make(PeId{i}, common->addresses);
      if (!transport) {
        fmt::format_to_n(common->failures[i].data(), 399, "{}", to_string(transport.error()));
        _exit(0);
      }
      if (seat.open(scenario, i, **transport, 0)) drive_beside_others(seat, common->meetings);
      fmt::format_to_n(common->failures[i].data(), 399, "{}", seat.party->failure);
      seat.port.reset();
    }
    _exit(0);
  }
  std::string failure;
  const Nanoseconds give_up = steady_clock().now() + kPatience + 10 * kSecond;
  for (pid_t child : children) {
    const std::string end = reap(child, give_up);
    if (failure.empty()) failure = end;
  }
  for (const auto& text : common->failures) {
    if (failure.empty()) failure = text.data();
  }
  return failure;
}

}  // namespace contract
