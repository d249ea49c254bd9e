// SPDX-License-Identifier: Apache-2.0
// The function by which libFuzzer, or replay.cpp, calls a target.
#include "target.hpp"

#include <cstdlib>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A failed check ends a process without a word to libFuzzer, which would lose the input.
  shoal::comm::on_check_failed([](const std::string&) { std::abort(); });
  shoal::fuzz::try_input(std::as_bytes(std::span(data, size)));
  return 0;
}
