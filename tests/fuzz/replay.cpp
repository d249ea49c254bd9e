// SPDX-License-Identifier: Apache-2.0
// Runs a target once on each of the files and folders given: the kept inputs as a plain test, with
// any compiler. None at all is a failure.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

/// Of the exact size, so that AddressSanitizer sees a read behind the end.
std::vector<std::uint8_t> content_of(const fs::path& path) {
  std::vector<std::uint8_t> content(fs::file_size(path));
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(content.data()), static_cast<std::streamsize>(content.size()));
  return content;
}

}  // namespace

int main(int argc, char** argv) {
  std::set<fs::path> inputs;
  for (int i = 1; i < argc; ++i) {
    if (fs::is_directory(argv[i])) {
      for (const auto& entry : fs::directory_iterator(argv[i])) inputs.insert(entry.path());
    } else {
      inputs.insert(argv[i]);
    }
  }
  for (const fs::path& path : inputs) {
    std::printf("%s\n", path.c_str());
    std::fflush(stdout);
    const auto content = content_of(path);
    LLVMFuzzerTestOneInput(content.data(), content.size());
  }
  std::printf("%zu inputs\n", inputs.size());
  return inputs.empty() ? 1 : 0;
}
