// SPDX-License-Identifier: Apache-2.0
// A struct that does not say how it travels.
// EXPECT: Serializable
// EXPECT: mistake::Point
#include <shoal/shoal.hpp>

namespace mistake {
using namespace shoal;

struct Point {
  double x, y;
#ifdef FIXED
  void serialize(auto& ar) { ar(x, y); }
#endif
};

struct Plotter : Actor<Plotter, Index1> {
  void plot(Point) {}
};

void use(ArrayProxy<Plotter> plotters) { plotters[0].send<&Plotter::plot>(Point{1, 2}); }
}  // namespace mistake
