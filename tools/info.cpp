// SPDX-License-Identifier: Apache-2.0
#include <tools/info.hpp>

#include <tools/allowed_cores.hpp>

#include <shoal/comm/build_info.hpp>

#include <fmt/format.h>

namespace shoal::tools {

std::string describe_installation() {
  return fmt::format("version: {}\nbuild: {}\ncores allowed: {}\n", comm::build_description(),
                     comm::build_id(), allowed_cores());
}

}  // namespace shoal::tools
