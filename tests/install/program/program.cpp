// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/build_info.hpp>

#include <fmt/format.h>

int main() { fmt::print("hello from shoal {}\n", shoal::comm::build_description()); }
