// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/hosted_rendezvous.hpp>

#include <shoal/comm/log.hpp>
#include <shoal/comm/quiet_thread.hpp>
#include <shoal/comm/ucx/ucx_leftovers.hpp>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>

namespace shoal::comm {

Expected<std::unique_ptr<HostedRendezvous>> HostedRendezvous::start(Rendezvous::Options options,
                                                                    const Secret& secret) {
  options.job.leaving_fails = true;
  auto rendezvous = Rendezvous::listen(std::move(options), secret);
  if (!rendezvous) return rendezvous.error();
  Descriptor wake(::eventfd(0, EFD_CLOEXEC));
  if (!wake) return system_error("cannot make an eventfd", errno);
  auto made = std::make_unique<HostedRendezvous>(Key{}, std::move(*rendezvous), std::move(wake));
  auto thread = start_quiet_thread("shoal-meeting", [host = made.get()] { host->serve(); });
  if (!thread) return thread.error();
  made->thread_ = std::move(*thread);
  return made;
}

HostedRendezvous::HostedRendezvous(Key /*key*/, std::unique_ptr<Rendezvous> rendezvous,
                                   Descriptor wake)
    : rendezvous_(std::move(rendezvous)), wake_(std::move(wake)) {}

HostedRendezvous::~HostedRendezvous() {
  if (!thread_.joinable()) return;
  signal_eventfd(wake_);
  thread_.join();
  const auto& verdict = rendezvous_->job().verdict();
  const bool failed = verdict && verdict->kind == Verdict::Kind::failed;
  if (failed) remove_ucx_leftovers(0);  // of processes that were killed while they started
}

void HostedRendezvous::serve() {
  while (until_ == 0 || (rendezvous_->connected() > 0 && steady_clock().now() < until_)) {
    wait();
    rendezvous_->step();
    judge();
    tell();
  }
}

void HostedRendezvous::wait() {
  auto due = rendezvous_->deadline();
  if (until_ != 0) due = std::min(due.value_or(until_), until_);
  const int limit = due ? milliseconds_until(*due) : -1;
  std::array<pollfd, 3> polled{pollfd{rendezvous_->fd(), POLLIN, 0},
                               pollfd{until_ == 0 ? wake_.get() : -1, POLLIN, 0},
                               pollfd{inquiry_.fd(), POLLIN, 0}};
  if (::poll(polled.data(), polled.size(), limit) < 0 && errno != EINTR) {
    check_failed("poll", fmt::format("error {}", errno));
  }
  if (polled[2].revents != 0 && inquiry_.accept()) rendezvous_->ask_report();
  if (polled[1].revents != 0) until_ = steady_clock().now() + kPartingLimit;
}

void HostedRendezvous::tell() {
  for (const std::string& line : rendezvous_->take_news()) log_line(Level::error, line);
  if (const auto report = rendezvous_->take_report()) inquiry_.answer(*report);
}

void HostedRendezvous::judge() {
  const auto& verdict = rendezvous_->job().verdict();
  if (!verdict || told_) return;
  told_ = true;
  if (verdict->kind == Verdict::Kind::exited) return rendezvous_->stop(verdict->code, "");
  const std::string who = verdict->process
                              ? rendezvous_->job().describe(*verdict->process) + " failed: "
                              : "the job was refused: ";
  log_line(Level::error, who + verdict->reason);
  rendezvous_->stop(verdict->code, verdict->reason);
}

}  // namespace shoal::comm
