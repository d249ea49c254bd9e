// SPDX-License-Identifier: Apache-2.0
// Slow: it fills the process's table of memory maps.
#include "bare_job.hpp"

#include <doctest/doctest.h>

#include "../../in_child.hpp"

namespace {

constexpr int kFibers = 40'000;

struct Waiting {
  bare::Future<void> start;
  int* count;
};

void wait_and_count(bare::Fiber& fiber, void* argument) {
  const auto& waiting = *static_cast<const Waiting*>(argument);
  fiber.await(waiting.start);
  ++*waiting.count;
}

}  // namespace

TEST_CASE("COMM-10 forty thousand fibers wait at once; beyond the map limit without guards") {
  const ChildEnd end = in_child([] {
    bare::Job job;
    int count = 0;
    bare::Promise<void> promise;
    const Waiting waiting{promise.future(), &count};
    job.send_and_run([&] {
      for (int i = 0; i < kFibers; ++i) {
        bare::start_fiber(job.pe(), {}, &wait_and_count, const_cast<Waiting*>(&waiting));
      }
    });
    job.send_and_run([&] { promise.set(); });
    return count == kFibers ? 0 : 1;
  });
  CHECK(end.exit_code == 0);
  // One line, if the limit is the usual 65,530 maps.
  if (!end.said.empty()) {
    CHECK(says(end.said, "vm.max_map_count"));
    CHECK(std::count(end.said.begin(), end.said.end(), '\n') == 1);
  }
}
