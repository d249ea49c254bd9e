// SPDX-License-Identifier: Apache-2.0
// The problem: processes built from different sources, with different entry tables or libraries,
// crash long after they have met. Offered: what a process says of itself when it joins, and the
// text that tells two processes apart, down to the entries that only one of them has.
#pragma once

#include <shoal/comm/bootstrap/wire.hpp>
#include <shoal/comm/ids.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace shoal::comm {

using Digest = std::array<std::byte, 32>;

struct Identity {
  std::uint32_t pes = 1;     ///< of this process; 0: its part of `usable`
  std::uint32_t usable = 0;  ///< PEs that can run at once on `processors`
  std::string processors;    ///< that it may use: equal where processes share them
  Digest entry_digest{};     ///< opaque here
  std::string ucx;           ///< version of the UCX that is loaded
  std::string entries;       ///< one entry a line; travels only when digests differ
  // Filled in by `complete` where empty.
  std::string version;
  std::string build;
  std::string host;  ///< equal where processes may share memory: boot id, PID and IPC namespaces
  std::string node;  ///< the host's name, for people
  std::uint32_t pid = 0;
  std::uint32_t heartbeat_ms = 0;  ///< it says that it lives twice as often; 0: never

  void complete();
  /// The PEs of a process that shares nothing.
  std::uint32_t alone_pes() const noexcept { return pes != 0 ? pes : usable; }
};

/// Texts longer than kMaxIdentityText are cut.
std::vector<std::byte> encode_hello(const Identity& identity);
Expected<Identity> decode_hello(std::span<const std::byte> payload);

struct Named {
  ProcessId process;
  const Identity& identity;
};

/// One line for each difference that forbids a common job (not of entries, PE counts or hosts);
/// empty: none.
std::string differences(Named first, Named second);

/// "only in process 0: …" and "only in process 1: …", at most `kMaxDiffLines` in all, then a count.
std::string entry_differences(Named first, Named second);

inline constexpr std::size_t kMaxDiffLines = 20;

}  // namespace shoal::comm
