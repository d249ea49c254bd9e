// SPDX-License-Identifier: Apache-2.0
// The problem: UCX makes its shared memory as a file, maps it and removes the name; a process that
// is killed in between leaves the file behind, and with it memory. Offered: removing those that
// nobody uses.
#pragma once

#include <shoal/comm/clock.hpp>

#include <string>

namespace shoal::comm {

/// Removes UCX's files in `folder` that are this user's, were written to no later than `least_age`
/// ago, and are neither open nor mapped in any process that this one can see; returns how many.
/// Reads /proc only if there are files.
unsigned remove_ucx_leftovers(Nanoseconds least_age, const std::string& folder = "/dev/shm");

}  // namespace shoal::comm
