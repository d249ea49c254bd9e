// SPDX-License-Identifier: Apache-2.0
// Whoever reaches the rendezvous' port without the job's secret does the job no harm, and costs at
// most one log line a second. The state machines themselves are in handshake_test.cpp.
#include "rendezvous_job.hpp"

#include <shoal/comm/random.hpp>

#include <algorithm>
#include <initializer_list>
#include <optional>

using namespace rendezvous_job;  // NOLINT(google-build-using-namespace)

TEST_CASE("SEC-01: ten thousand strangers and their garbage leave a job unharmed") {
  const Quiet quiet;
  const Secret secret = Secret::make().value();
  auto rendezvous = listen_for(2, secret);
  auto first = start_member(*rendezvous, secret, 0, 2, wait_for_stop);
  serve(*rendezvous, [&] { return rendezvous->job().joined(ProcessId{0}); });
  Random random(1);
  for (int i = 0; i < 10'000; ++i) {
    const Descriptor stranger = connect_raw(*rendezvous);
    Bytes garbage(random.below(200));
    for (std::byte& byte : garbage) byte = static_cast<std::byte>(random());
    send_raw(stranger, garbage);
    rendezvous->step();
  }
  CHECK_FALSE(rendezvous->job().verdict());
  auto second = start_member(*rendezvous, secret, 1, 2, wait_for_stop);
  serve(*rendezvous, [&] { return rendezvous->job().complete(); });
  rendezvous->stop(0, "");
  serve(*rendezvous, [&] { return first->done && second->done; });
}

TEST_CASE("SEC-01: refusals cost at most one log line a second") {
  VirtualClock clock;
  Rendezvous::Options options;
  options.clock = &clock;
  auto rendezvous = Rendezvous::listen(std::move(options), Secret::make().value()).value();
  const CapturedErrors errors;
  for (Nanoseconds i = 1; i <= 300; ++i) {
    clock.set(i * 10 * kMillisecond);
    const Descriptor stranger = connect_raw(*rendezvous);
    send_raw(stranger, Bytes(kProofSize));
    serve(*rendezvous, [&] { return closed(stranger); });
  }
  CHECK(errors.lines() >= 2);
  CHECK(errors.lines() <= 4);
}

TEST_CASE("SEC-01: a megabyte of random bytes is cut off after the size of a proof") {
  const Quiet quiet;
  auto rendezvous = listen_for(1, Secret::make().value());
  const Descriptor stranger = connect_raw(*rendezvous);
  Bytes garbage(std::size_t{1} << 20U);
  Random random(2);
  for (std::byte& byte : garbage) byte = static_cast<std::byte>(random());
  send_raw(stranger, garbage);
  serve(*rendezvous, [&] { return closed(stranger); });
  CHECK_FALSE(rendezvous->job().verdict());
}

TEST_CASE("SEC-01: who sends one byte at a time is cut off at the limit, by the clock") {
  const Quiet quiet;
  VirtualClock clock;
  Rendezvous::Options options;
  options.clock = &clock;
  auto rendezvous = Rendezvous::listen(std::move(options), Secret::make().value()).value();
  const Descriptor stranger = connect_raw(*rendezvous);
  serve(*rendezvous, [&] { return rendezvous->deadline().has_value(); });
  CHECK(*rendezvous->deadline() == Rendezvous::kProofLimit);
  for (Nanoseconds second = 1; second < 5; ++second) {
    clock.set(second * kSecond);
    send_raw(stranger, Bytes(1));
    rendezvous->step();
    CHECK_FALSE(closed(stranger));
  }
  clock.set(Rendezvous::kProofLimit);
  serve(*rendezvous, [&] { return closed(stranger); });
  CHECK_FALSE(rendezvous->deadline());
}

TEST_CASE("SEC-01: silent strangers beyond the limit make the oldest of them give way") {
  const Quiet quiet;
  auto rendezvous = listen_for(1, Secret::make().value());
  std::vector<Descriptor> strangers;
  for (std::size_t i = 0; i < Rendezvous::kMaxUnproven + 1; ++i) {
    strangers.push_back(connect_raw(*rendezvous));
    rendezvous->step();
  }
  CHECK_FALSE(closed(strangers.front()));
  strangers.push_back(connect_raw(*rendezvous));
  serve(*rendezvous, [&] { return closed(strangers.front()); });
  CHECK_FALSE(closed(strangers[1]));
}

namespace {

/// What the rendezvous sends next: all `size` bytes, or fewer when it closes.
Bytes receive(Rendezvous& rendezvous, const Descriptor& socket, std::size_t size) {
  Bytes bytes(size);
  std::size_t got = 0;
  bool open = true;
  serve(rendezvous, [&] {
    if (got == size || !open) return true;
    const auto piece = read_some(socket.get(), std::span(bytes).subspan(got));
    got += piece.size;
    open = piece.state != ReadEnd::closed;
    return false;
  });
  bytes.resize(got);
  return bytes;
}

/// The job of two processes goes on as if nothing had happened: they join, and hear its end.
void check_unharmed(Rendezvous& rendezvous, const Secret& secret) {
  CHECK_FALSE(rendezvous.job().verdict());
  auto first = start_member(rendezvous, secret, 0, 2, wait_for_stop);
  auto second = start_member(rendezvous, secret, 1, 2, wait_for_stop);
  serve(rendezvous, [&] { return rendezvous.job().complete(); });
  rendezvous.stop(7, "");
  serve(rendezvous, [&] { return first->done && second->done; });
  CHECK(first->stop_code == 7);
  CHECK(second->stop_code == 7);
}

Bytes concatenated(std::initializer_list<std::span<const std::byte>> pieces) {
  Bytes all;
  for (const auto& piece : pieces) all.insert(all.end(), piece.begin(), piece.end());
  return all;
}

}  // namespace

TEST_CASE("SEC-01: a proof that was overheard is refused, while its process is there and after") {
  const Quiet quiet;
  const Secret secret = Secret::make().value();
  auto rendezvous = listen_for(2, secret);
  Descriptor honest = connect_raw(*rendezvous);
  ClientHandshake client(secret, ProcessId{0});
  const Bytes proof = client.receive(receive(*rendezvous, honest, kChallengeSize)).value();
  const auto replay = [&] {
    const Descriptor stranger = connect_raw(*rendezvous);
    CHECK(receive(*rendezvous, stranger, kChallengeSize).size() == kChallengeSize);
    send_raw(stranger, proof);
    CHECK(receive(*rendezvous, stranger, 1).empty());
  };
  replay();
  send_raw(honest, proof);
  REQUIRE(client.receive(receive(*rendezvous, honest, kAnswerSize)));
  CHECK(client.done());
  replay();
  honest.reset();
  serve(*rendezvous, [&, steps = 0]() mutable { return ++steps > 3; });
  replay();
  check_unharmed(*rendezvous, secret);
}

TEST_CASE("SEC-01: who has to give way stays if its proof has come meanwhile") {
  const Quiet quiet;
  const Secret secret = Secret::make().value();
  auto rendezvous = listen_for(1, secret);
  const Descriptor honest = connect_raw(*rendezvous);
  ClientHandshake client(secret, ProcessId{0});
  const Bytes proof = client.receive(receive(*rendezvous, honest, kChallengeSize)).value();
  std::vector<Descriptor> strangers;
  for (std::size_t i = 0; i < Rendezvous::kMaxUnproven; ++i) {
    strangers.push_back(connect_raw(*rendezvous));
    rendezvous->step();
  }
  strangers.push_back(connect_raw(*rendezvous));  // seen before the proof, within one step
  send_raw(honest, proof);
  REQUIRE(client.receive(receive(*rendezvous, honest, kAnswerSize)));
  CHECK(client.done());
}

TEST_CASE("SEC-01: challenges that are reflected are no proof, and bring out no MAC") {
  const Quiet quiet;
  const Secret secret = Secret::make().value();
  auto rendezvous = listen_for(2, secret);
  const Descriptor first = connect_raw(*rendezvous);
  const Descriptor second = connect_raw(*rendezvous);
  const Bytes a = receive(*rendezvous, first, kChallengeSize);
  const Bytes b = receive(*rendezvous, second, kChallengeSize);
  const auto nonce = [](const Bytes& challenge) { return std::span(challenge).subspan(8); };
  const Bytes rank(4);
  send_raw(first, concatenated({rank, nonce(a), nonce(a)}));
  send_raw(second, concatenated({rank, nonce(a), nonce(b)}));
  CHECK(receive(*rendezvous, first, 1).empty());
  CHECK(receive(*rendezvous, second, 1).empty());
  check_unharmed(*rendezvous, secret);
}

TEST_CASE("SEC-01: a process refuses a rendezvous that only reflects what it is sent") {
  auto listener = listen_at("127.0.0.1");
  REQUIRE(listener);
  std::atomic<bool> ended = false;
  std::optional<Error> refusal;
  std::thread process([&] {
    const Launch launch{listener->address, ProcessId{0}, 2, 1, Secret::make().value()};
    auto bootstrap = Bootstrap::connect(launch, small_identity(), nullptr);
    if (!bootstrap) refusal = bootstrap.error();
    ended = true;
  });
  const Bytes nonce(kNonceSize, std::byte{5});
  while (!ended) {
    const Nanoseconds soon = steady_clock().now() + 10 * kMillisecond;
    if (!wait_for(listener->socket.get(), POLLIN, soon)) continue;
    const Descriptor peer = accept_next(listener->socket);
    send_raw(peer, concatenated({std::as_bytes(std::span(kHandshakeMagic)), nonce}));
    std::array<std::byte, kProofSize> proof;
    std::size_t got = 0;
    while (got < proof.size() && wait_for(peer.get(), POLLIN, steady_clock().now() + kPatience)) {
      got += read_some(peer.get(), std::span(proof).subspan(got)).size;
    }
    send_raw(peer, std::span(proof).last(kAnswerSize));
  }
  process.join();
  REQUIRE(refusal);
  CHECK(refusal->code == ErrorCode::refused);
}

TEST_CASE("SEC-01: processes with another secret are refused, and the job stands without them") {
  const Secret secret = Secret::make().value();
  auto rendezvous = listen_for(2, secret);
  std::atomic<int> joined = 0;
  const Body body = [&](Bootstrap&, Member&) { ++joined; };
  const Nanoseconds start = steady_clock().now();
  const CapturedErrors errors;
  std::vector<std::unique_ptr<Member>> impostors;
  impostors.reserve(16);
  for (std::uint32_t i = 0; i < 16; ++i) {
    impostors.push_back(start_member(*rendezvous, Secret::make().value(), i % 2, 2, body));
  }
  serve(*rendezvous, [&] {
    return std::all_of(impostors.begin(), impostors.end(),
                       [](const auto& impostor) { return impostor->done.load(); });
  });
  CHECK(joined == 0);
  check_unharmed(*rendezvous, secret);
  const auto seconds = static_cast<long>((steady_clock().now() - start) / kSecond);
  CHECK(errors.lines() <= seconds + 1);
}

namespace {

/// A stranger's connections, one after the other: silent ones, which it keeps for a while, pieces
/// of a proof, garbage of more than a proof.
void flood(const Rendezvous& rendezvous, std::uint64_t seed, std::atomic<int>& connections,
           int most) {
  constexpr std::size_t kKept = 300;
  Random random(seed);
  std::vector<Descriptor> kept(kKept);
  while (connections < most) {
    auto stranger = connect_to(rendezvous.address(), kPatience);
    if (!stranger) return;
    const linger at_once{1, 0};  // leaves the kernel no port to remember
    ::setsockopt(stranger->get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    Bytes garbage(random.chance(0.3) ? 0 : random.below(2 * kProofSize));
    for (std::byte& byte : garbage) byte = static_cast<std::byte>(random());
    send_raw(*stranger, garbage);
    kept[random.below(kKept)] = std::move(*stranger);
    ++connections;
  }
}

}  // namespace

TEST_CASE("SEC-01: processes join while ten thousand strangers connect, at a line a second") {
  constexpr int kStrangers = 10'000;
  const Secret secret = Secret::make().value();
  auto rendezvous = listen_for(3, secret);
  const Nanoseconds start = steady_clock().now();
  const CapturedErrors errors;
  std::atomic<int> connections = 0;
  std::vector<std::jthread> strangers;
  for (const std::uint64_t seed : {1U, 2U}) {
    strangers.emplace_back([&, seed] { flood(*rendezvous, seed, connections, kStrangers); });
  }
  std::vector<std::unique_ptr<Member>> members;
  for (const std::uint32_t rank : {0U, 1U, 2U}) {
    const int when = static_cast<int>(rank) * kStrangers / 2;  // the last one when they are through
    serve(*rendezvous, [&] { return connections >= when; });
    members.push_back(start_member(*rendezvous, secret, rank, 3, wait_for_stop));
    serve(*rendezvous,
          [&] { return rendezvous->job().joined(ProcessId{rank}) || members.back()->done; });
    CHECK(rendezvous->job().joined(ProcessId{rank}));
  }
  strangers.clear();
  CHECK(connections >= kStrangers);
  CHECK_FALSE(rendezvous->job().verdict());
  rendezvous->stop(0, "");
  serve(*rendezvous, [&] {
    return std::all_of(members.begin(), members.end(),
                       [](const auto& member) { return member->done.load(); });
  });
  const auto seconds = static_cast<long>((steady_clock().now() - start) / kSecond);
  CHECK(errors.lines() <= seconds + 1);
}
