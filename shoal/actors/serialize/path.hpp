// SPDX-License-Identifier: Apache-2.0
// The codec of std::filesystem::path: its native string.
#pragma once

#include <shoal/actors/serialize/core.hpp>

#include <filesystem>

namespace shoal::actors {

template <>
struct Codec<std::filesystem::path> {
  static constexpr bool kSupported = true;
  static constexpr std::size_t kLeastSize = sizeof(std::uint64_t);

  template <class Ar>
  static void run(Ar& ar, std::filesystem::path& value) {
    if constexpr (Ar::kReads) {
      value = ar.template read<std::filesystem::path::string_type>();
    } else {
      ar(value.native());
    }
  }
};

}  // namespace shoal::actors
