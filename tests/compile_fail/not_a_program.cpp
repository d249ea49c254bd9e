// SPDX-License-Identifier: Apache-2.0
// A program that does not take the World.
// EXPECT: is_a_program
#include <shoal/shoal.hpp>

namespace mistake {
#ifdef FIXED
shoal::Task<> program(shoal::World&) { co_return; }
#else
shoal::Task<> program() { co_return; }
#endif
}  // namespace mistake

int main(int argc, char** argv) { return shoal::run(argc, argv, mistake::program); }
