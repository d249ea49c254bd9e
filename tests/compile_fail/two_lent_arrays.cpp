// SPDX-License-Identifier: Apache-2.0
// One send that lends two arrays.
// EXPECT: a send can lend one array
#include <shoal/shoal.hpp>

namespace mistake {
using namespace shoal;

struct Summer : Actor<Summer, Index1> {
  void add(View<double>, View<double>) {}
};

Task<> use(ArrayProxy<Summer> summers, std::vector<double> a, std::vector<double> b) {
#ifdef FIXED
  co_await summers[0].send<&Summer::add>(lend(a), b);
#else
  co_await summers[0].send<&Summer::add>(lend(a), lend(b));
#endif
}
}  // namespace mistake
