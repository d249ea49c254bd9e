// SPDX-License-Identifier: Apache-2.0
// A coroutine entry that keeps a reference to an argument, which is gone when it goes on.
// EXPECT: task_takes_its_parameters_by_value
#include <shoal/shoal.hpp>

namespace mistake {
using namespace shoal;

struct Printer : Actor<Printer, Index1> {
#ifdef FIXED
  Task<> print(std::string) { co_await Yield{}; }
#else
  Task<> print(const std::string&) { co_await Yield{}; }
#endif
};

void use(ArrayProxy<Printer> printers) { printers[0].send<&Printer::print>("text"); }
}  // namespace mistake
