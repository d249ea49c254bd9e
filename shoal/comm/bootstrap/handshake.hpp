// SPDX-License-Identifier: Apache-2.0
// The problem: before a process and the rendezvous believe each other, every byte may come from
// anybody. Offered: the mutual proof as two state machines without sockets. Three messages of fixed
// size:
//
//   server: magic[8] nonce[32]             a challenge, fresh for each connection
//   client: rank[4] nonce[32] mac[32]      mac over (client, rank, both nonces)
//   server: mac[32]                        mac over (server, rank, both nonces)
//
// The role in the MAC stops a reflected challenge, the fresh nonces a replay, and the server shows
// no MAC to one that has not proved itself. Nothing but the magic and the rank is read before the
// MACs agree.
#pragma once

#include <shoal/comm/ids.hpp>
#include <shoal/comm/secret.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace shoal::comm {

/// The last byte is the version of the handshake and of the frames behind it.
inline constexpr std::string_view kHandshakeMagic{"SHOALrv\x01", 8};
inline constexpr std::size_t kNonceSize = 32;
inline constexpr std::size_t kChallengeSize = 8 + kNonceSize;
inline constexpr std::size_t kProofSize = 4 + kNonceSize + sizeof(Mac);
inline constexpr std::size_t kAnswerSize = sizeof(Mac);

/// Fed with received bytes, `missing()` at most at a time, until it is done or has failed.
class ServerHandshake {
 public:
  explicit ServerHandshake(const Secret& secret) : secret_(secret) {}

  /// The first bytes to send. Call once, first.
  Expected<std::vector<std::byte>> challenge();
  std::size_t missing() const noexcept { return kProofSize - received_; }
  /// The bytes to send back: empty until the proof is complete. An error: the peer is not of this
  /// job.
  Expected<std::vector<std::byte>> receive(std::span<const std::byte> bytes);
  /// Whom the peer proved to be; may be out of range for the job.
  ProcessId peer() const noexcept { return peer_; }

 private:
  Secret secret_;
  std::array<std::byte, kNonceSize> nonce_{};
  std::array<std::byte, kProofSize> proof_{};
  std::size_t received_ = 0;
  ProcessId peer_{};
};

class ClientHandshake {
 public:
  ClientHandshake(const Secret& secret, ProcessId self) : secret_(secret), self_(self) {}

  std::size_t missing() const noexcept {
    return (received_ < kChallengeSize ? kChallengeSize : input_.size()) - received_;
  }
  bool done() const noexcept { return done_; }
  /// The bytes to send, if any. An error: the other side does not know the secret.
  Expected<std::vector<std::byte>> receive(std::span<const std::byte> bytes);

 private:
  Expected<std::vector<std::byte>> prove();

  Secret secret_;
  ProcessId self_;
  std::array<std::byte, kNonceSize> nonce_{};
  std::array<std::byte, kChallengeSize + kAnswerSize> input_{};
  std::size_t received_ = 0;
  bool done_ = false;
};

}  // namespace shoal::comm
