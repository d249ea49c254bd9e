// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/build_info.hpp>
#include <shoal/shoal.hpp>

#include <fmt/core.h>

namespace program {
using namespace shoal;

struct Greeter : Actor<Greeter, Index1> {
  void greet() {
    fmt::print("element {} of {} says hello from shoal {}\n", index()[0], array().size(),
               comm::build_description());
  }
};

Task<> greetings(World& world) {
  auto greeters = world.create<Greeter>(world.pes());
  for (std::int64_t i = 0; i < greeters.size(); ++i) greeters[i].send<&Greeter::greet>();
  co_await world.quiescence();
}

}  // namespace program

int main(int argc, char** argv) { return shoal::run(argc, argv, program::greetings); }
