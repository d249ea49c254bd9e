// SPDX-License-Identifier: Apache-2.0
// A std::string_view as a parameter: the characters stay behind.
// EXPECT: owns_its_data
// EXPECT: string_view
#include <shoal/shoal.hpp>

#include <string>

namespace mistake {
using namespace shoal;

struct Greeter : Actor<Greeter, Index1> {
#ifdef FIXED
  void greet(const std::string&) {}
#else
  void greet(std::string_view) {}
#endif
};

void use(ArrayProxy<Greeter> greeters) {
  greeters[0].send<&Greeter::greet>(std::string("everybody"));
}
}  // namespace mistake
