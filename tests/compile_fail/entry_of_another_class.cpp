// SPDX-License-Identifier: Apache-2.0
// An entry of one class, sent to an actor of another.
// EXPECT: is_an_entry_of
#include <shoal/shoal.hpp>

namespace mistake {
using namespace shoal;

struct Counter : Actor<Counter, Index1> {
  void add(int) {}
};
struct Printer : Actor<Printer, Index1> {
  void print(int) {}
};

void use(ArrayProxy<Printer> printers) {
#ifdef FIXED
  printers[0].send<&Printer::print>(1);
#else
  printers[0].send<&Counter::add>(1);
#endif
}
}  // namespace mistake
