// SPDX-License-Identifier: Apache-2.0
// A pointer as a parameter: the receiver may be in another process.
// EXPECT: owns_its_data
#include <shoal/shoal.hpp>

namespace mistake {
using namespace shoal;

struct Summer : Actor<Summer, Index1> {
#ifdef FIXED
  void add(std::vector<double>) {}
#else
  void add(const double*) {}
#endif
};

void use(ArrayProxy<Summer> summers, std::vector<double>& values) {
#ifdef FIXED
  summers[0].send<&Summer::add>(values);
#else
  summers[0].send<&Summer::add>(values.data());
#endif
}
}  // namespace mistake
