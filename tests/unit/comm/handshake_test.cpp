// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/handshake.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace shoal::comm;

namespace {

using Bytes = std::vector<std::byte>;

Secret secret_of(unsigned char fill) {
  std::array<std::byte, Secret::kSize> bytes;
  bytes.fill(static_cast<std::byte>(fill));
  return Secret(bytes);
}

/// Feeds `bytes` in pieces of `step`; the reply to the last one.
template <class Handshake>
Expected<Bytes> feed(Handshake& handshake, const Bytes& bytes, std::size_t step) {
  Expected<Bytes> reply = Bytes{};
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const std::size_t size = std::min(step, bytes.size() - at);
    reply = handshake.receive(std::span(bytes).subspan(at, size));
    if (!reply) return reply;
    if (at + size < bytes.size()) REQUIRE(reply->empty());
  }
  return reply;
}

/// What a client with `secret` and `rank` proves to `server`.
Bytes proof_for(ServerHandshake& server, ClientHandshake& client) {
  auto challenge = server.challenge();
  REQUIRE(challenge);
  REQUIRE(challenge->size() == kChallengeSize);
  auto proof = client.receive(*challenge);
  REQUIRE(proof);
  REQUIRE(proof->size() == kProofSize);
  return *proof;
}

}  // namespace

TEST_CASE("both sides prove themselves, however the bytes are cut") {
  for (const std::size_t step : {1U, 7U, 40U, 100U}) {
    ServerHandshake server(secret_of(1));
    ClientHandshake client(secret_of(1), ProcessId{300});
    const Bytes challenge = server.challenge().value();
    const Bytes proof = feed(client, challenge, step).value();
    CHECK_FALSE(client.done());
    const Bytes answer = feed(server, proof, step).value();
    CHECK(server.peer() == ProcessId{300});
    REQUIRE(answer.size() == kAnswerSize);
    REQUIRE(feed(client, answer, step));
    CHECK(client.done());
    CHECK(client.missing() == 0);
    CHECK(server.missing() == 0);
  }
}

TEST_CASE("nothing at all, received at any moment, changes nothing") {
  ServerHandshake server(secret_of(1));
  ClientHandshake client(secret_of(1), ProcessId{0});
  const Bytes challenge = server.challenge().value();
  CHECK(server.receive({}).value().empty());
  CHECK(client.receive({}).value().empty());
  const Bytes proof = client.receive(challenge).value();
  CHECK(client.receive({}).value().empty());  // it proves itself once
  const Bytes answer = server.receive(proof).value();
  CHECK(server.receive({}).value().empty());
  REQUIRE(client.receive(answer));
  CHECK(client.receive({}).value().empty());
  CHECK(client.done());
}

TEST_CASE("a client with another secret is refused and learns no MAC") {
  ServerHandshake server(secret_of(1));
  ClientHandshake client(secret_of(2), ProcessId{0});
  auto answer = server.receive(proof_for(server, client));
  REQUIRE_FALSE(answer);
  CHECK(answer.error().code == ErrorCode::refused);
}

TEST_CASE("a server with another secret is refused by the client") {
  ServerHandshake honest(secret_of(1));
  ServerHandshake liar(secret_of(2));
  ClientHandshake client(secret_of(1), ProcessId{0});
  REQUIRE(client.receive(liar.challenge().value()));
  // The liar cannot make the answer; the best it has is a MAC under its own secret.
  ClientHandshake accomplice(secret_of(2), ProcessId{0});
  auto answer = liar.receive(accomplice.receive(liar.challenge().value()).value());
  REQUIRE(answer);
  CHECK_FALSE(client.receive(*answer));
  CHECK_FALSE(client.done());
}

TEST_CASE("a client's own MAC, reflected to it, is no answer") {
  ServerHandshake server(secret_of(1));
  ClientHandshake client(secret_of(1), ProcessId{0});
  const Bytes proof = proof_for(server, client);
  CHECK_FALSE(client.receive(std::span(proof).last(kAnswerSize)));
}

TEST_CASE("the server's own nonce, reflected to it, is no proof") {
  ServerHandshake server(secret_of(1));
  const Bytes challenge = server.challenge().value();
  Bytes proof(4);
  proof.insert(proof.end(), challenge.begin() + 8, challenge.end());
  proof.insert(proof.end(), challenge.begin() + 8, challenge.end());
  CHECK_FALSE(server.receive(proof));
}

TEST_CASE("a replayed proof is refused: every connection has a fresh nonce") {
  ServerHandshake first(secret_of(1));
  ServerHandshake second(secret_of(1));
  ClientHandshake client(secret_of(1), ProcessId{0});
  const Bytes proof = proof_for(first, client);
  REQUIRE(first.receive(proof));
  REQUIRE(second.challenge());
  CHECK_FALSE(second.receive(proof));
}

TEST_CASE("a proof holds for its rank only") {
  ServerHandshake server(secret_of(1));
  ClientHandshake client(secret_of(1), ProcessId{1});
  Bytes proof = proof_for(server, client);
  proof[0] = std::byte{2};
  CHECK_FALSE(server.receive(proof));
}

TEST_CASE("every flipped bit of a proof is noticed") {
  for (std::size_t bit = 0; bit < 8 * kProofSize; bit += 5) {
    ServerHandshake server(secret_of(1));
    ClientHandshake client(secret_of(1), ProcessId{1});
    Bytes proof = proof_for(server, client);
    proof[bit / 8] ^= static_cast<std::byte>(1U << (bit % 8));
    CHECK_FALSE(server.receive(proof));
  }
}

TEST_CASE("a truncated proof gets no reply") {
  ServerHandshake server(secret_of(1));
  ClientHandshake client(secret_of(1), ProcessId{0});
  const Bytes proof = proof_for(server, client);
  auto reply = server.receive(std::span(proof).first(kProofSize - 1));
  REQUIRE(reply);
  CHECK(reply->empty());
  CHECK(server.missing() == 1);
}

TEST_CASE("a client proves nothing to what is no rendezvous") {
  ClientHandshake client(secret_of(1), ProcessId{0});
  const Bytes greeting(kChallengeSize, std::byte{'H'});
  auto reply = client.receive(greeting);
  REQUIRE_FALSE(reply);
  CHECK(reply.error().text.find("no rendezvous") != std::string::npos);
}

TEST_CASE("HMAC-SHA256 gives the value of RFC 4231, test case 1 with a padded key") {
  std::array<std::byte, Secret::kSize> key{};
  std::fill_n(key.begin(), 20, std::byte{0x0b});
  const std::string_view text = "Hi There";
  auto mac = hmac_sha256(Secret(key), std::as_bytes(std::span(text)));
  REQUIRE(mac);
  std::string hex;
  for (const std::byte byte : *mac) hex += fmt::format("{:02x}", static_cast<unsigned>(byte));
  CHECK(hex == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
}

TEST_CASE("two secrets are never the same") {
  const auto first = Secret::make();
  const auto second = Secret::make();
  REQUIRE(first);
  REQUIRE(second);
  CHECK_FALSE(equal_in_constant_time(first.value().bytes(), second.value().bytes()));
  CHECK(equal_in_constant_time(first.value().bytes(), first.value().bytes()));
}
