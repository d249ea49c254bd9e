// SPDX-License-Identifier: Apache-2.0
// The problem: somebody at another terminal asks what a running job waits for. Offered: a local
// socket in the abstract namespace, so that no file stays behind, where the job's user (and root)
// may ask, and get one text for an answer.
#pragma once

#include <shoal/comm/descriptor.hpp>
#include <shoal/comm/error.hpp>

#include <sys/types.h>

#include <string>
#include <vector>

namespace shoal::comm {

/// At whoever knows the job. One thread.
class Inquiry {
 public:
  /// Of this process. Where it cannot be opened, nobody can ask: no reason for the job to end.
  Inquiry();
  int fd() const noexcept { return listener_.get(); }
  /// Takes those in who ask; true if there is anybody to answer.
  bool accept();
  void answer(const std::string& text);

 private:
  Descriptor listener_;
  std::vector<Descriptor> askers_;
};

/// The processes of this host (and network namespace) that can be asked; with the user they run as.
struct Inquirable {
  pid_t process;
  uid_t user;
};
std::vector<Inquirable> inquirable_processes();

/// Blocks until the answer is there.
Expected<std::string> inquire(const Inquirable& whom);

}  // namespace shoal::comm
