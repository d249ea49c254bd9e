// SPDX-License-Identifier: Apache-2.0
// Finds the program that the user named before anything is started, so that a wrong name is one
// clear line.
#pragma once

#include <shoal/comm/error.hpp>

#include <string>

namespace shoal::tools {

/// The path to execute: `name` itself if it holds a slash, else its first executable match in PATH.
comm::Expected<std::string> find_program(const std::string& name);

}  // namespace shoal::tools
