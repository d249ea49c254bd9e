// SPDX-License-Identifier: Apache-2.0
#include <tools/command_line.hpp>
#include <tools/standard_files.hpp>

int main(int argc, char** argv) {
  if (!shoal::tools::open_standard_files()) return 1;
  return shoal::tools::run_command_line(argc, argv);
}
