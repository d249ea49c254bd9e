// SPDX-License-Identifier: Apache-2.0
// The problem: a PE that wants to reach another needs the bytes by which the transport finds it,
// and only the bootstrap can carry them before there is a connection. Offered: a table of the job's
// addresses. What is published is seen by every process; addresses are opaque here and fetched on
// first use.
#pragma once

#include <shoal/comm/error.hpp>
#include <shoal/comm/ids.hpp>

#include <cstddef>
#include <span>
#include <vector>

namespace shoal::comm {

/// Any thread.
class AddressBook {
 public:
  virtual ~AddressBook() = default;
  virtual Expected<void> publish(PeId pe, std::span<const std::byte> address) = 0;
  /// Waits until `pe` has published, up to the implementation's limit (then: timed_out).
  virtual Expected<std::vector<std::byte>> lookup(PeId pe) = 0;
};

}  // namespace shoal::comm
