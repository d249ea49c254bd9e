// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/handshake.hpp>

#include <algorithm>

namespace shoal::comm {

namespace {

using Bytes = std::vector<std::byte>;
using Nonce = std::span<const std::byte>;

void append(Bytes& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

std::array<std::byte, 4> rank_bytes(ProcessId rank) noexcept {
  std::array<std::byte, 4> bytes{};
  for (unsigned i = 0; i < 4; ++i) bytes[i] = static_cast<std::byte>(number(rank) >> (8 * i));
  return bytes;
}

ProcessId rank_of(std::span<const std::byte> bytes) noexcept {
  std::uint32_t rank = 0;
  for (unsigned i = 0; i < 4; ++i) rank |= static_cast<std::uint32_t>(bytes[i]) << (8 * i);
  return ProcessId{rank};
}

enum class Role { client, server };

Expected<Mac> proof_of(const Secret& secret, Role role, ProcessId rank, Nonce server_nonce,
                       Nonce client_nonce) {
  const std::string_view name = role == Role::client ? "client" : "server";
  Bytes text;
  append(text, std::as_bytes(std::span(kHandshakeMagic)));
  append(text, std::as_bytes(std::span(name)));
  append(text, rank_bytes(rank));
  append(text, server_nonce);
  append(text, client_nonce);
  return hmac_sha256(secret, text);
}

}  // namespace

Expected<Bytes> ServerHandshake::challenge() {
  if (auto filled = fill_random(nonce_); !filled) return filled.error();
  Bytes out;
  append(out, std::as_bytes(std::span(kHandshakeMagic)));
  append(out, nonce_);
  return out;
}

Expected<Bytes> ServerHandshake::receive(std::span<const std::byte> bytes) {
  if (bytes.empty()) return Bytes{};
  SHOAL_CHECK(bytes.size() <= missing(), "{} bytes given, {} wanted", bytes.size(), missing());
  std::copy(bytes.begin(), bytes.end(), proof_.begin() + static_cast<std::ptrdiff_t>(received_));
  received_ += bytes.size();
  if (received_ < kProofSize) return Bytes{};
  const std::span<const std::byte> proof = proof_;
  const Nonce client_nonce = proof.subspan(4, kNonceSize);
  peer_ = rank_of(proof);
  auto expected = proof_of(secret_, Role::client, peer_, nonce_, client_nonce);
  if (!expected) return expected.error();
  if (!equal_in_constant_time(*expected, proof.subspan(4 + kNonceSize))) {
    return make_error(ErrorCode::refused, "the peer does not know the secret of this job");
  }
  auto answer = proof_of(secret_, Role::server, peer_, nonce_, client_nonce);
  if (!answer) return answer.error();
  return Bytes(answer->begin(), answer->end());
}

Expected<Bytes> ClientHandshake::receive(std::span<const std::byte> bytes) {
  if (bytes.empty()) return Bytes{};
  SHOAL_CHECK(bytes.size() <= missing(), "{} bytes given, {} wanted", bytes.size(), missing());
  std::copy(bytes.begin(), bytes.end(), input_.begin() + static_cast<std::ptrdiff_t>(received_));
  received_ += bytes.size();
  if (received_ == kChallengeSize) return prove();
  if (received_ < input_.size()) return Bytes{};
  const std::span<const std::byte> input = input_;
  auto expected = proof_of(secret_, Role::server, self_, input.subspan(8, kNonceSize), nonce_);
  if (!expected) return expected.error();
  if (!equal_in_constant_time(*expected, input.subspan(kChallengeSize))) {
    return make_error(ErrorCode::refused, "the rendezvous does not know the secret of this job");
  }
  done_ = true;
  return Bytes{};
}

Expected<Bytes> ClientHandshake::prove() {
  const std::span<const std::byte> input = input_;
  const auto magic = std::as_bytes(std::span(kHandshakeMagic));
  if (!std::equal(magic.begin(), magic.end(), input.begin())) {
    return make_error(ErrorCode::refused,
                      "what answers at SHOAL_RENDEZVOUS is no rendezvous of this version");
  }
  if (auto filled = fill_random(nonce_); !filled) return filled.error();
  auto mac = proof_of(secret_, Role::client, self_, input.subspan(8, kNonceSize), nonce_);
  if (!mac) return mac.error();
  Bytes out;
  append(out, rank_bytes(self_));
  append(out, nonce_);
  append(out, *mac);
  return out;
}

}  // namespace shoal::comm
