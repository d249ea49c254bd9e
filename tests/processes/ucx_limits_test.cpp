// SPDX-License-Identifier: Apache-2.0
// What the UCX transport does where the machine, the library or a peer does not play along.
#include <shoal/comm/ucx/packed.hpp>
#include <shoal/comm/ucx/ucx_library.hpp>
#include <shoal/comm/ucx/ucx_settings.hpp>
#include <shoal/comm/ucx/ucx_transport.hpp>

#include <doctest/doctest.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "../transport_contract.hpp"
#include "../transport_processes.hpp"

using namespace shoal::comm;  // NOLINT(google-build-using-namespace)

namespace {

/// From here on, process_vm_readv and process_vm_writev fail with EPERM in this process.
bool forbid_reading_other_processes() {
  sock_filter rules[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{std::size(rules), rules};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/// The exit code of `body`, run in a process of its own.
template <class Body>
int exit_code_of(Body&& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

struct Ended : Completion {
  Ended() {
    run = [](Completion& self, bool well) noexcept {
      auto& ended = static_cast<Ended&>(self);
      ++(well ? ended.succeeded : ended.failed);
    };
  }
  int succeeded = 0;
  int failed = 0;
};

/// Counts, and leaves bulks alone.
struct Counter final : Receiver {
  void arrived(const Arrival& /*arrival*/) override { ++count; }
  std::uint64_t count = 0;
};

TEST_CASE("BLD-01 an older UCX than the one compiled against is refused with both versions named") {
  const UcxLibrary old{"/somewhere/libucp.so.0", "1.12.1", 1, 12};
  const auto checked = detail::check_ucx_version(old, 1, 13);
  REQUIRE_FALSE(checked);
  CHECK(checked.error().code == ErrorCode::mismatch);
  CHECK(checked.error().text.find("UCX 1.13") != std::string::npos);
  CHECK(checked.error().text.find("UCX 1.12.1 was loaded from /somewhere") != std::string::npos);
  CHECK(detail::check_ucx_version(old, 1, 12));
  CHECK(detail::check_ucx_version(old, 0, 99));
  CHECK_FALSE(detail::check_ucx_version(old, 2, 0));
}

TEST_CASE("the loaded UCX library is known by path and version") {
  const auto library = ucx_library();
  REQUIRE(library);
  const UcxLibrary& loaded = library.value();
  CHECK(loaded.path.find("libucp") != std::string::npos);
  CHECK(loaded.version.find(fmt::format("{}.{}.", loaded.major, loaded.minor)) == 0);
}

TEST_CASE("COMM-01 lengths around and above 2 and 4 GiB survive the packed header") {
  for (const std::uint64_t frame : {0ULL, 1ULL, 2147483647ULL, 2147483648ULL, 4294967299ULL}) {
    for (const std::uint64_t bulk :
         {1ULL, 2147483647ULL, 2147483648ULL, 2147483649ULL, 4294967299ULL}) {
      const detail::PackedLayout layout{frame, bulk};
      std::array<std::byte, detail::PackedLayout::kHead> head{};
      layout.write_head(head.data());
      const auto read = detail::PackedLayout::read(head, layout.total());
      REQUIRE(read);
      CHECK(read->frame_size == frame);
      CHECK(read->bulk_size == bulk);
      CHECK(read->bulk_at() + read->bulk_size == layout.total());
    }
  }
}

TEST_CASE("a packed header that contradicts the message's length is refused") {
  std::array<std::byte, detail::PackedLayout::kHead> head{};
  detail::PackedLayout{100, 1}.write_head(head.data());
  CHECK(detail::PackedLayout::read(head, 109));
  CHECK_FALSE(detail::PackedLayout::read(head, 108));  // no bulk
  CHECK_FALSE(detail::PackedLayout::read(head, 7));
  CHECK_FALSE(detail::PackedLayout::read(std::span(head).first(7), 109));
  detail::PackedLayout{~std::uint64_t{0} - 4, 1}.write_head(head.data());
  CHECK_FALSE(detail::PackedLayout::read(head, 109));
}

TEST_CASE("COMM-08 where processes may not read each other, messages go through shared memory") {
  const contract::Environment tls("UCX_TLS", nullptr);
  const auto make = [](PeId pe, AddressBook& addresses) -> Expected<std::unique_ptr<Transport>> {
    if (!forbid_reading_other_processes() || detail::may_read_other_processes()) {
      return make_error(ErrorCode::unsupported, "this machine does not let the test forbid CMA");
    }
    auto made = make_ucx_transport({.first_pe = pe, .addresses = &addresses});
    if (made && (*made)->description().find("cma") != std::string::npos) {
      return make_error(ErrorCode::system, "CMA is still in use: " + (*made)->description());
    }
    return made;
  };
  for (const std::size_t size :
       {std::size_t{1} << 10U, std::size_t{64} << 10U, std::size_t{1} << 20U}) {
    const contract::Exchange::Plan plan{{{size, 0}, {8, size}}, 3, contract::Exchange::Take::late};
    const contract::Scenario scenario{
        "", 2, [&](unsigned) { return std::make_unique<contract::Exchange>(plan); }};
    CHECK(contract::run_in_processes(scenario, make) == "");
  }
}

TEST_CASE("the user's own UCX settings are left as they are") {
  const contract::Environment tls("UCX_TLS", "self,tcp");
  const contract::Environment fifo("UCX_POSIX_FIFO_ELEM_SIZE", "512");
  CHECK(detail::apply_ucx_settings({}) == "self,tcp");
  CHECK(getenv("UCX_POSIX_FIFO_ELEM_SIZE") == std::string("512"));
}

TEST_CASE("shared memory has its settings only where UCX_TLS lets UCX use it") {
  const std::vector<std::pair<const char*, bool>> lists{
      {"self,posix,cma", true}, {"all", true},     {"shm", true},     {"^tcp", true},
      {"self,tcp", false},      {"^posix", false}, {"^sm,tcp", false}};
  for (const auto& [list, used] : lists) {
    CAPTURE(list);
    const contract::Environment tls("UCX_TLS", list);
    const contract::Environment fifo("UCX_POSIX_FIFO_ELEM_SIZE", nullptr);
    (void)detail::apply_ucx_settings({});
    CHECK((getenv("UCX_POSIX_FIFO_ELEM_SIZE") != nullptr) == used);
  }
}

#ifndef NDEBUG
TEST_CASE("COMM-14 a port that a second thread uses ends the job in a debug build") {
  CHECK(exit_code_of([] {
          contract::SmallAddressBook addresses;
          auto transport = make_ucx_transport({.addresses = &addresses});
          Pool pool;
          auto port = (*transport)->open(PeId{0}, pool);
          std::thread([&] {
            Counter counter;
            (*port)->progress(counter);
          }).join();
          return 0;
        }) == kCheckFailed);
}
#endif

TEST_CASE("a peer whose address nobody published is lost once, and sending to it fails quietly") {
  contract::SmallAddressBook addresses;
  std::vector<std::string> lost;
  auto transport =
      make_ucx_transport({.addresses = &addresses,
                          .on_lost = [&](PeId, const std::string& text) { lost.push_back(text); }});
  REQUIRE(transport);
  Pool pool;
  auto port = (*transport)->open(PeId{0}, pool);
  REQUIRE(port);
  Counter counter;
  Ended ended;
  const std::array<std::byte, 100> bulk{};
  for (int i = 0; i < 3; ++i) {
    (*port)->send(PeId{3}, take_frame(pool, 8));
    (*port)->send(PeId{3}, take_frame(pool, 8), {bulk, &ended});
    (*port)->progress(counter);
  }
  CHECK(lost.size() == 1);
  CHECK(lost.at(0).find("PE 3 is lost") == 0);
  CHECK(ended.failed == 3);
  CHECK((*port)->close(counter, steady_clock().now() + kSecond));
}

TEST_CASE("COMM-17 with peer errors on, a killed peer is lost once and sending to it goes on") {
  const contract::Environment tls("UCX_TLS", "self,tcp");
  contract::Shared<contract::Common> common;
  const auto open = [&](unsigned pe, Pool& pool, std::vector<std::string>& lost) {
    auto transport = make_ucx_transport(
        {.first_pe = PeId{pe},
         .peer_errors = true,
         .addresses = &common->addresses,
         .on_lost = [&lost](PeId, const std::string& text) { lost.push_back(text); }});
    auto port = (*transport)->open(PeId{pe}, pool);
    return std::move(*port);
  };
  std::vector<std::string> lost;
  Pool pool;
  Counter counter;
  const pid_t child = fork();
  if (child == 0) {
    auto port = open(1, pool, lost);
    common->meetings.opened.came.fetch_add(1);
    while (true) port->progress(counter);
  }
  auto port = open(0, pool, lost);
  while (common->meetings.opened.came.load() == 0) sched_yield();
  const Nanoseconds give_up = steady_clock().now() + 20 * kSecond;
  for (int i = 0; i < 1'000; ++i) {
    port->send(PeId{1}, take_frame(pool, 8));
    port->progress(counter);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  while (lost.empty() && steady_clock().now() < give_up) {
    port->send(PeId{1}, take_frame(pool, 8));
    port->progress(counter);
  }
  for (int i = 0; i < 1'000; ++i) port->send(PeId{1}, take_frame(pool, 8));
  REQUIRE(lost.size() == 1);
  CHECK(lost[0].find("PE 1 is lost") == 0);
}

TEST_CASE("COMM-16 close gives up at its deadline when a peer takes nothing, and ends cleanly") {
  contract::SmallAddressBook addresses;
  auto transport = make_ucx_transport({.pes = 2, .addresses = &addresses});
  REQUIRE(transport);
  Pool pool;
  auto port = (*transport)->open(PeId{0}, pool);
  auto idle = (*transport)->open(PeId{1}, pool);  // never progresses
  REQUIRE(port);
  REQUIRE(idle);
  Counter counter;
  Ended ended;
  std::vector<std::byte> bulk(1U << 20U);
  (*port)->send(PeId{1}, take_frame(pool, 8), {bulk, &ended});
  for (int i = 0; i < 2'000; ++i) (*port)->send(PeId{1}, take_frame(pool, 96));
  const Nanoseconds began = steady_clock().now();
  const auto closed = (*port)->close(counter, began + 50 * kMillisecond);
  REQUIRE_FALSE(closed);
  CHECK(closed.error().code == ErrorCode::timed_out);
  CHECK(steady_clock().now() - began < 20 * kSecond);
  port->reset();
  idle->reset();
  CHECK(ended.succeeded == 0);
}

TEST_CASE("COMM-04 what a busy receiver has not taken waits in the sender's own frames") {
  contract::SmallAddressBook addresses;
  auto transport = make_ucx_transport({.pes = 2, .addresses = &addresses});
  REQUIRE(transport);
  Pool pool;
  auto sender = (*transport)->open(PeId{0}, pool);
  auto busy = (*transport)->open(PeId{1}, pool);
  Counter none;
  Counter counter;
  constexpr std::uint64_t kMessages = 50'000;
  (*sender)->progress(none);
  for (std::uint64_t i = 0; i < kMessages; ++i) {
    (*sender)->send(PeId{1}, take_frame(pool, 96));
  }
  CHECK_FALSE((*sender)->arm());  // it may not sleep on what it has to send
  CHECK(pool.reserved_bytes() < (kMessages + 1'000) * 256);
  while (counter.count < kMessages) {
    (*busy)->progress(counter);
    (*sender)->progress(none);
  }
  CHECK((*sender)->close(none, steady_clock().now() + 10 * kSecond));
  CHECK(counter.count == kMessages);
}

}  // namespace
