// SPDX-License-Identifier: Apache-2.0
// The problem: a PMIx launcher starts processes that know their ranks, but neither where to meet
// nor a secret. Offered: process 0 opens a rendezvous and publishes where it is, and a fresh
// secret, through PMIx; the others find both there. From then on the job is one like any other.
#pragma once

#include <shoal/comm/bootstrap/hosted_rendezvous.hpp>
#include <shoal/comm/bootstrap/launch.hpp>
#include <shoal/comm/bootstrap/pmix.hpp>

#include <memory>
#include <optional>

namespace shoal::comm {

/// Lives longer than the process's connection. One thread.
class PmixStart {
  struct Key {};  // who has one may construct

 public:
  static Expected<std::unique_ptr<PmixStart>> join();

  PmixStart(Key /*key*/, std::unique_ptr<Pmix> pmix) : pmix_(std::move(pmix)) {}

  const Launch& launch() const noexcept { return *launch_; }

 private:
  Expected<std::string> host(const Secret& secret);

  std::unique_ptr<Pmix> pmix_;  // first: the launcher is told last that this process ends
  std::unique_ptr<HostedRendezvous> rendezvous_;  // process 0 only
  std::optional<Launch> launch_;
};

}  // namespace shoal::comm
