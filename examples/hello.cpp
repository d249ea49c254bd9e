// SPDX-License-Identifier: Apache-2.0
// Hello, world: an array of actors over all PEs greets along the array; PE 0 waits until all is
// quiet.
#include <shoal/shoal.hpp>

#include <fmt/core.h>

namespace hello {
using namespace shoal;

struct Hello : Actor<Hello, Index1> {
  void hi(std::int64_t from) {
    fmt::print("element {} on PE {} was greeted by {}\n", index()[0], pe(), from);
    if (index()[0] + 1 < array().size()) array()[index()[0] + 1].send<&Hello::hi>(index()[0]);
  }
};

Task<> program(World& world) {
  auto hellos = world.create<Hello>(2 * world.pes());
  hellos[0].send<&Hello::hi>(-1);
  co_await world.quiescence();
  fmt::print("{} elements on {} PEs of {} processes\n", hellos.size(), world.pes(),
             world.processes());
}
}  // namespace hello

int main(int argc, char** argv) { return shoal::run(argc, argv, hello::program); }
