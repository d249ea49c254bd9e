// SPDX-License-Identifier: Apache-2.0
// The problem: where another program than ours starts the processes, nobody runs the rendezvous,
// sees who dies, or tells the others. Offered: a rendezvous on a thread of process 0. A process
// whose connection ends before the job does counts as dead; the first cause is told on stderr, and
// everybody is told to end.
#pragma once

#include <shoal/comm/bootstrap/inquiry.hpp>
#include <shoal/comm/bootstrap/rendezvous.hpp>
#include <shoal/comm/descriptor.hpp>

#include <atomic>
#include <memory>
#include <thread>

namespace shoal::comm {

class HostedRendezvous {
  struct Key {};  // who has one may construct

 public:
  /// How long the destructor waits for the other processes to let go.
  static constexpr Nanoseconds kPartingLimit = 5 * kSecond;

  static Expected<std::unique_ptr<HostedRendezvous>> start(Rendezvous::Options options,
                                                           const Secret& secret);

  HostedRendezvous(Key key, std::unique_ptr<Rendezvous> rendezvous, Descriptor wake);
  ~HostedRendezvous();

  const std::string& address() const noexcept { return rendezvous_->address(); }

 private:
  void serve();
  void wait();
  void judge();
  void tell();

  std::unique_ptr<Rendezvous> rendezvous_;  // the thread's, once it runs
  Descriptor wake_;                         // eventfd: the destructor has been called
  Inquiry inquiry_;
  bool told_ = false;
  Nanoseconds until_ = 0;  // 0: the destructor has not been called
  std::thread thread_;
};

}  // namespace shoal::comm
