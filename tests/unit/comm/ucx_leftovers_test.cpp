// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/descriptor.hpp>
#include <shoal/comm/ucx/ucx_leftovers.hpp>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <string>

using namespace shoal::comm;

namespace {
namespace files = std::filesystem;

struct Folder {
  Folder() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
  ~Folder() { files::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Descriptor make(const std::string& name) const {
    Descriptor file(::open((path + "/" + name).c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
    REQUIRE(file);
    REQUIRE(::ftruncate(file.get(), 4096) == 0);
    return file;
  }
  bool has(const std::string& name) const { return files::exists(path + "/" + name); }
  std::string path = "/tmp/shoal-leftovers-XXXXXX";
};
}  // namespace

TEST_CASE("of UCX's files those that nobody uses are removed, and nothing else") {
  const Folder folder;
  const Descriptor open = folder.make("ucx_shm_posix_open");
  Descriptor mapping = folder.make("ucx_shm_posix_mapped");
  void* const mapped = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, mapping.get(), 0);
  REQUIRE(mapped != MAP_FAILED);
  mapping.reset();
  folder.make("ucx_shm_posix_left").reset();
  folder.make("somebody_elses").reset();
  files::create_symlink("/etc/passwd", folder.path + "/ucx_shm_posix_link");
  CHECK(remove_ucx_leftovers(3600 * kSecond, folder.path) == 0);
  CHECK(remove_ucx_leftovers(0, folder.path) == 1);
  CHECK_FALSE(folder.has("ucx_shm_posix_left"));
  CHECK(folder.has("ucx_shm_posix_open"));
  CHECK(folder.has("ucx_shm_posix_link"));
  CHECK(folder.has("somebody_elses"));
  CHECK(folder.has("ucx_shm_posix_mapped"));
  ::munmap(mapped, 4096);
  CHECK(remove_ucx_leftovers(0, "/nowhere") == 0);
}
