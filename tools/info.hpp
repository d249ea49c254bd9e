// SPDX-License-Identifier: Apache-2.0
// `shoal info`: what this installation is made of.
#pragma once

#include <string>

namespace shoal::tools {

/// "name: value" lines: version, build, UCX, cores.
std::string describe_installation();

}  // namespace shoal::tools
