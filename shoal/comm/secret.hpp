// SPDX-License-Identifier: Apache-2.0
// The problem: whoever reaches a port of the job must not be able to join it or to run code in it.
// Offered: the job's 256-bit secret, made by the kernel's generator and wiped when dropped, and
// HMAC-SHA256 (RFC 2104, by OpenSSL) to prove its possession without showing it.
#pragma once

#include <shoal/comm/error.hpp>

#include <array>
#include <cstddef>
#include <span>

namespace shoal::comm {

class Secret {
 public:
  static constexpr std::size_t kSize = 32;

  /// From getrandom(2).
  static Expected<Secret> make();
  explicit Secret(std::span<const std::byte, kSize> bytes) noexcept;
  Secret(const Secret&) = default;
  Secret& operator=(const Secret&) = default;
  ~Secret();

  std::span<const std::byte, kSize> bytes() const noexcept { return bytes_; }

 private:
  Secret() = default;
  std::array<std::byte, kSize> bytes_{};
};

using Mac = std::array<std::byte, 32>;

/// Fails only if OpenSSL has no SHA-256 or no memory.
Expected<Mac> hmac_sha256(const Secret& secret, std::span<const std::byte> text);

/// Compares in a time that depends on the sizes only.
bool equal_in_constant_time(std::span<const std::byte> a, std::span<const std::byte> b) noexcept;

/// Unpredictable bytes from getrandom(2).
Expected<void> fill_random(std::span<std::byte> bytes);

}  // namespace shoal::comm
