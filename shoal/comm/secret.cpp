// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/secret.hpp>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <sys/random.h>

#include <algorithm>
#include <cerrno>

namespace shoal::comm {

Expected<Secret> Secret::make() {
  Secret secret;
  if (auto filled = fill_random(secret.bytes_); !filled) return filled.error();
  return secret;
}

Secret::Secret(std::span<const std::byte, kSize> bytes) noexcept {
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
}

Secret::~Secret() { OPENSSL_cleanse(bytes_.data(), bytes_.size()); }

Expected<Mac> hmac_sha256(const Secret& secret, std::span<const std::byte> text) {
  // The configuration file of OpenSSL costs a millisecond of each start and has no say in this.
  OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
  Mac mac;
  unsigned size = 0;
  const auto key = secret.bytes();
  if (HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()),
           reinterpret_cast<const unsigned char*>(text.data()), text.size(),
           reinterpret_cast<unsigned char*>(mac.data()), &size) == nullptr ||
      size != mac.size()) {
    return make_error(ErrorCode::unsupported, "OpenSSL could not compute an HMAC-SHA256");
  }
  return mac;
}

bool equal_in_constant_time(std::span<const std::byte> a, std::span<const std::byte> b) noexcept {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

Expected<void> fill_random(std::span<std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t got = ::getrandom(bytes.data(), bytes.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("the kernel gave no random bytes", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(got));
  }
  return {};
}

}  // namespace shoal::comm
