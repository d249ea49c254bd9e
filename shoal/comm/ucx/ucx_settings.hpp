// SPDX-License-Identifier: Apache-2.0
// The problem: UCX is configured by environment variables that it reads once, at ucp_init, and its
// defaults cost a small message half its speed. Offered: the settings that Shoal wants, made in
// time and never over the user's own.
#pragma once

#include <string>

namespace shoal::comm::detail {

struct UcxSettings {
  bool one_host = true;      ///< every peer runs on this host
  bool peer_errors = false;  ///< peers that die are to be noticed by UCX
};

/// Sets UCX_* variables that the environment lacks; returns the transports that UCX was told to
/// use. Call once, before ucp_init and before other threads read the environment. If this process
/// may not read the memory of another (CMA), it says so in one line and leaves that transport out.
std::string apply_ucx_settings(UcxSettings settings);

/// Whether process_vm_readv on another process of ours works. Forks a child once.
bool may_read_other_processes();

}  // namespace shoal::comm::detail
