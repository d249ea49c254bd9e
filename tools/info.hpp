// SPDX-License-Identifier: Apache-2.0
// `shoal info`: what this installation is made of.
#pragma once

#include <string>

namespace shoal::tools {

/// "name: value" lines: version, build, UCX, cores.
std::string describe_installation();

/// The UCX that a program linked as this one would load, "1.13.1 (/usr/lib/…/libucp.so.0)", or
/// "none (why)".
std::string describe_ucx();

}  // namespace shoal::tools
