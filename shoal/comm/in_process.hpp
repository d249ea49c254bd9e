// SPDX-License-Identifier: Apache-2.0
// The problem: tests, and programs that are started alone, need a transport without a network.
// Offered: one whose PEs all live in this process and each count as a process of their own: frames
// pass by pointer, bulks are announced by pointer and copied once, by the receiver; a sleeper is
// woken through an eventfd.
//
// Limit: none on what is under way; a PE's memory for it is its pool's. Every pool of the PEs must
// outlive every port, because a port that ends gives back what it still holds.
#pragma once

#include <shoal/comm/ids.hpp>
#include <shoal/comm/transport.hpp>

#include <cstdint>
#include <memory>

namespace shoal::comm {

struct InProcessOptions {
  PeId first_pe{0};
  std::uint32_t pes = 1;
  /// True: the job is this process, so nothing is ever sent; ports own no descriptor and sending is
  /// a bug.
  bool alone = false;
};

/// Any thread may open ports of it. It must outlive them.
std::unique_ptr<Transport> make_in_process_transport(InProcessOptions options);

}  // namespace shoal::comm
