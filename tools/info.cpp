// SPDX-License-Identifier: Apache-2.0
#include <tools/info.hpp>

#include <tools/allowed_cores.hpp>

#include <shoal/comm/build_info.hpp>
#include <shoal/comm/ucx/ucx_library.hpp>

#include <fmt/format.h>

namespace shoal::tools {

std::string describe_installation() {
  const auto ucx = comm::ucx_library();
  return fmt::format("version: {}\nbuild: {}\nUCX: {}\ncores allowed: {}\n",
                     comm::build_description(), comm::build_id(),
                     ucx ? fmt::format("{} ({})", ucx.value().version, ucx.value().path)
                         : comm::to_string(ucx.error()),
                     allowed_cores());
}

}  // namespace shoal::tools
