// SPDX-License-Identifier: Apache-2.0
// The problem: PEs of different processes exchange messages over shared memory on one host and over
// networks between hosts. Offered: the Transport that does it by UCX active messages, with one
// context a process and one single-threaded worker a PE. Endpoints are made at the first send to a
// peer, so that neither connections nor memory grow with the job.
//
// Closing. A port's `close` flushes what it sent. Its worker lives on until the port is destroyed,
// because a peer may still be sending to it: between `close` and destruction the job passes a
// barrier that does not go through UCX, and while it waits there a PE goes on calling `progress`.
//
// Limits. Up to kMostFrames (ucx_port.hpp) unfinished frames a peer are with UCX; more wait in the
// port, in their own memory. Frames sent beside a bulk are copied together with it when they are
// longer than UCX's header limit (about 8 KiB): correct, slow, and for host memory only.
#pragma once

#include <shoal/comm/address_book.hpp>
#include <shoal/comm/error.hpp>
#include <shoal/comm/ids.hpp>
#include <shoal/comm/transport.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace shoal::comm {

struct UcxOptions {
  PeId first_pe{0};       ///< of this process
  std::uint32_t pes = 1;  ///< of this process
  bool one_host = true;   ///< every peer runs on this host
  bool peer_errors =
      false;  ///< let UCX look for dead peers; shuts the fast path for large messages
  AddressBook* addresses = nullptr;  ///< outlives the transport
  /// Called on the PE's thread, within `send` or `progress`, once a peer and port, when a peer
  /// cannot be reached (any more); what is sent to it from then on is dropped.
  std::function<void(PeId peer, const std::string& text)> on_lost = nullptr;
};

/// Call once a process, before other threads read the environment (it sets UCX_* variables).
Expected<std::unique_ptr<Transport>> make_ucx_transport(UcxOptions options);

}  // namespace shoal::comm
