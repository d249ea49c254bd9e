// SPDX-License-Identifier: Apache-2.0
//
// A hello from every PE and the end: what `startup` times from outside.

#include <shoal/shoal.hpp>

#include <cstdio>

namespace startup {

struct Greeter : shoal::Actor<Greeter, shoal::PeIndex> {
  bool hello() {
    std::printf("hello from PE %u of %u\n", pe(), world().pes());
    return true;
  }
};

shoal::Task<> program(shoal::World& world) {
  const auto greeters = world.create_group<Greeter>();
  for (std::uint32_t pe = 0; pe < world.pes(); ++pe) {
    co_await greeters[pe].call<&Greeter::hello>();
  }
  world.exit();
}

}  // namespace startup

int main(int argc, char** argv) { return shoal::run(argc, argv, startup::program); }
