// SPDX-License-Identifier: Apache-2.0
#include <tools/job.hpp>

#include <tools/program.hpp>

#include <shoal/comm/log.hpp>
#include <shoal/comm/quiet_thread.hpp>
#include <shoal/comm/ucx/ucx_leftovers.hpp>

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace shoal::tools {

using comm::Expected;
using comm::kSecond;
using comm::Nanoseconds;
using comm::number;
using comm::ProcessId;
using comm::steady_clock;
using comm::Verdict;

namespace {

constexpr int kCannotRun = 127;  // as a shell's
constexpr int kOutputLost = 1;
constexpr int kEndedByForce = 1;

bool same_file(int a, int b) {
  struct stat first {};
  struct stat second {};
  return ::fstat(a, &first) == 0 && ::fstat(b, &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

/// Each child costs five descriptors; gives back the limit that the children keep.
unsigned long raise_open_files() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  const unsigned long before = limit.rlim_cur;
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
  return before;
}

std::vector<std::string> environment_for(const RunOptions& options, const std::string& address) {
  std::vector<std::string> environment;
  for (char** entry = ::environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    const bool ours = name == "SHOAL_RENDEZVOUS" || name == "SHOAL_RANK" ||
                      name == "SHOAL_PROCESSES" || name == "SHOAL_PES" || name == "SHOAL_SECRET_FD";
    const bool replaced = std::any_of(
        options.environment.begin(), options.environment.end(),
        [&](const std::string& other) { return other.substr(0, other.find('=')) == name; });
    if (!ours && !replaced) environment.emplace_back(text);
  }
  environment.insert(environment.end(), options.environment.begin(), options.environment.end());
  environment.push_back("SHOAL_RENDEZVOUS=" + address);
  return environment;
}

std::string seconds(Nanoseconds time) {
  return fmt::format("{:.2f} s", static_cast<double>(time) / static_cast<double>(kSecond));
}

}  // namespace

Job::Job(RunOptions options)
    : options_(std::move(options)),
      out_(STDOUT_FILENO),
      own_error_(same_file(STDOUT_FILENO, STDERR_FILENO) ? nullptr
                                                         : std::make_unique<Sink>(STDERR_FILENO)),
      error_(own_error_ ? own_error_.get() : &out_) {}

int Job::run() {
  if (auto started = start_all(); !started) {
    comm::log_line(comm::Level::error, started.error().text);
    signal_all(SIGKILL, false);
    for (Child& child : children_) ::waitpid(child.pid, nullptr, 0);
    return kCannotRun;
  }
  while (alive() > 0) loop_once();
  // Whoever inherited a pipe and lives on is not waited for.
  for (Child& child : children_) {
    for (Stream* stream : {&child.out, &child.error}) stream->finish();
  }
  if (stage_ == Stage::running && cause_ && cause_->rank != Rank::left) {
    say(cause_->text);
    code_ = cause_->code;
  }
  if (code_ != 0) comm::remove_ucx_leftovers(0);  // of those that were killed while they started
  finish_output();
  return code_ == 0 && output_lost_ ? kOutputLost : code_;
}

/// Waits for readers, but not against the user's will.
void Job::finish_output() {
  while (out_.pending() || error_->pending()) {
    polls_ = {{out_.pending() ? out_.fd() : -1, POLLOUT, 0},
              {error_->pending() ? error_->fd() : -1, POLLOUT, 0},
              {interrupts_.fd(), POLLIN, 0}};
    ::poll(polls_.data(), polls_.size(), -1);
    out_.flush();
    error_->flush();
    check_writes();
    if (interrupts_.next()) break;
  }
}

Expected<void> Job::start_all() {
  auto path = find_program(options_.command.front());
  if (!path) return path.error();
  auto secret = comm::Secret::make();
  if (!secret) return secret.error();
  comm::Rendezvous::Options meeting;
  meeting.job.processes = static_cast<std::uint32_t>(options_.pes.size());
  meeting.job.pes = options_.pes;
  meeting.job.start_limit = options_.start_limit;
  const unsigned long open_files = raise_open_files();
  auto rendezvous = comm::Rendezvous::listen(std::move(meeting), *secret);
  if (!rendezvous) return rendezvous.error();
  rendezvous_ = std::move(*rendezvous);
  const Launchpad launchpad{
      *path,        options_.command, environment_for(options_, rendezvous_->address()),
      options_.pes, *secret,          interrupts_.previous_mask(),
      open_files,   options_.prefix,  &out_,
      error_};
  children_.reserve(options_.pes.size());
  for (std::uint32_t k = 0; k < options_.pes.size(); ++k) {
    auto child = start(launchpad, ProcessId{k});
    if (!child) return child.error();
    children_.push_back(std::move(*child));
  }
  for (Child& child : children_) {
    auto running = await_program(child);
    if (!running) {
      return comm::make_error(comm::ErrorCode::bad_argument,
                              fmt::format("cannot run '{}': {}", *path, running.error().text));
    }
  }
  return {};
}

void Job::loop_once() {
  collect_polls();
  if (::poll(polls_.data(), polls_.size(), wait_ms()) < 0 && errno != EINTR) {
    comm::check_failed("poll", std::strerror(errno));
  }
  while (const auto signal = interrupts_.next()) take_signal(*signal);
  serve_polls();
  tell();
  out_.flush();
  error_->flush();
  check_readers();
  check_writes();
  const Nanoseconds now = steady_clock().now();
  take_verdict();
  judge_leavers();
  if (cause_ && stage_ == Stage::running && now >= cause_->settled) {
    say(cause_->text);
    end(cause_->code, cause_->text, options_.grace);
    signal_all(SIGTERM, true);
  }
  escalate(now);
}

int Job::wait_ms() const {
  std::optional<Nanoseconds> due = rendezvous_->deadline();
  const auto sooner = [&](Nanoseconds other) { due = std::min(due.value_or(other), other); };
  if (stage_ == Stage::running && cause_) sooner(cause_->settled);
  if (stage_ == Stage::asked || stage_ == Stage::terminated) sooner(next_stage_);
  return due ? comm::milliseconds_until(*due) : -1;
}

void Job::collect_polls() {
  polls_.clear();
  polls_.push_back({interrupts_.fd(), POLLIN, 0});
  polls_.push_back({rendezvous_->fd(), POLLIN, 0});
  polls_.push_back({inquiry_.fd(), POLLIN, 0});
  polls_.push_back({out_.pending() ? out_.fd() : -1, POLLOUT, 0});
  polls_.push_back({error_->pending() ? error_->fd() : -1, POLLOUT, 0});
  for (const Child& child : children_) {
    polls_.push_back({child.alive() ? child.pidfd.get() : -1, POLLIN, 0});
    for (const Stream* stream : {&child.out, &child.error}) {
      polls_.push_back({stream->sink->full() ? -1 : stream->pipe.get(), POLLIN, 0});
    }
  }
}

void Job::serve_polls() {
  constexpr std::size_t kFirstChild = 5;
  if (polls_[1].revents != 0 || rendezvous_->deadline()) rendezvous_->step();
  if (polls_[2].revents != 0 && inquiry_.accept()) rendezvous_->ask_report();
  for (std::size_t i = 0; i < children_.size(); ++i) {
    Child& child = children_[i];
    const pollfd* polled = &polls_[kFirstChild + 3 * i];
    if (polled[1].revents != 0) child.out.pump();
    if (polled[2].revents != 0) child.error.pump();
    if (polled[0].revents != 0) bury(child);
  }
}

void Job::bury(Child& child) {
  int status = 0;
  if (::waitpid(child.pid, &status, WNOHANG) != child.pid) return;
  child.status = status;
  // What it sent and printed before its death is still in the socket and the pipes.
  rendezvous_->drain(child.rank);
  child.out.drain();
  child.error.drain();
  take_verdict();
  if (stage_ == Stage::running) return judge_death(child);
  judge_late_death(child);
}

void Job::judge_death(const Child& child) {
  const int status = *child.status;
  if (status == 0) return;  // see judge_leavers
  const Nanoseconds now = steady_clock().now();
  const bool killed = WIFSIGNALED(status);
  suspect({killed ? Rank::killed : Rank::exited, code_of(status),
           fmt::format("{} {} after {}{}{}", name_of(child), describe(status),
                       seconds(now - child.started), killed ? group_.describe_new_kills() : "",
                       last_words_of(child)),
           killed ? now : now + kSettleTime});
}

/// A process that ended well without an exit() of the job, while others have joined and wait for
/// it.
void Job::judge_leavers() {
  const comm::JobTable& job = rendezvous_->job();
  const auto waits = [&](const Child& child) { return child.alive() && job.joined(child.rank); };
  if (stage_ != Stage::running || cause_ ||
      std::none_of(children_.begin(), children_.end(), waits)) {
    return;
  }
  const Nanoseconds now = steady_clock().now();
  for (const Child& child : children_) {
    if (child.alive()) continue;
    const bool joined = job.joined(child.rank);
    return suspect({Rank::left, 1,
                    fmt::format("{} ended with code 0 {}", name_of(child),
                                joined ? "but the job did not, and others need it"
                                       : "without joining the job"),
                    now + (joined ? kOrderlyLimit : kSettleTime)});
  }
}

/// A process that dies badly during an orderly end makes it a bad end; one that was told to end
/// may.
void Job::judge_late_death(const Child& child) {
  const int code = code_of(*child.status);
  if (!orderly_ || stage_ != Stage::asked || code == 0 || code == code_) return;
  say(fmt::format("{} {} while the job was ending with code {}{}", name_of(child),
                  describe(*child.status), code_, last_words_of(child)));
  if (code_ == 0) code_ = code;
}

void Job::suspect(Cause cause) {
  if (stage_ != Stage::running) return;
  if (cause_ && cause_->rank <= cause.rank) return;
  cause_ = std::move(cause);
}

void Job::take_verdict() {
  const auto& verdict = rendezvous_->job().verdict();
  if (!verdict || stage_ != Stage::running) return;
  const Nanoseconds now = steady_clock().now();
  if (verdict->kind == Verdict::Kind::exited) {
    if (cause_ && cause_->rank != Rank::left) return;
    const int code = verdict->code & 0xff;
    orderly_ = true;
    return end(code == 0 && verdict->code != 0 ? 1 : code, "", kOrderlyLimit);
  }
  if (cause_ && cause_->rank <= Rank::reported) return;
  if (!verdict->process) {
    suspect({Rank::reported, verdict->code, "the job was refused: " + verdict->reason, now});
    return;
  }
  const Child& child = children_[number(*verdict->process)];
  suspect({Rank::reported, verdict->code,
           fmt::format("{} failed after {}: {}", name_of(child), seconds(now - child.started),
                       verdict->reason),
           now + kSettleTime});
}

/// Of SIGQUIT, Ctrl-\, that is: it asks, and ends nothing.
void Job::ask_report() {
  rendezvous_->ask_report();
  asked_by_terminal_ = true;
}

void Job::tell() {
  for (const std::string& line : rendezvous_->take_news()) say(line);
  const auto report = rendezvous_->take_report();
  if (!report) return;
  if (std::exchange(asked_by_terminal_, false)) say("what the job waits for:\n" + *report);
  inquiry_.answer(*report);
}

void Job::take_signal(Interrupts::Signal signal) {
  if (signal.number == SIGQUIT) return ask_report();
  if (stage_ != Stage::running) {
    if (code_ == 0 && alive() > 0) code_ = 128 + signal.number;
    signal_all(SIGKILL, false);
    stage_ = Stage::killed;
    return;
  }
  const std::string name = fmt::format("SIG{}", ::sigabbrev_np(signal.number));
  say(fmt::format("got {}; ending {} process{}, at once if it comes again", name, alive(),
                  alive() == 1 ? "" : "es"));
  end(128 + signal.number, "the launcher got " + name, options_.grace);
  if (!signal.from_terminal) signal_all(signal.number, true);
}

/// Nobody reads what the job prints (`| head`): it ends as one that got SIGPIPE would, without a
/// word.
void Job::check_readers() {
  if (out_.error() != EPIPE || stage_ != Stage::running) return;
  end(128 + SIGPIPE, "nobody reads the job's output", options_.grace);
  signal_all(SIGTERM, true);
}

/// What the job prints cannot be kept, as on a full disk: that is told once, and is no success.
void Job::check_writes() {
  if (out_.error() == 0 || out_.error() == EPIPE || output_lost_) return;
  output_lost_ = true;
  const std::string text =
      fmt::format("cannot write the job's output: {}", std::strerror(out_.error()));
  say(text);
  if (stage_ != Stage::running || cause_ || alive() == 0) return;
  end(kOutputLost, text, options_.grace);
  signal_all(SIGTERM, true);
}

void Job::end(int code, const std::string& reason, Nanoseconds limit) {
  code_ = code;
  stage_ = Stage::asked;
  next_stage_ = steady_clock().now() + limit;
  rendezvous_->stop(code, reason);
}

void Job::escalate(Nanoseconds now) {
  if ((stage_ != Stage::asked && stage_ != Stage::terminated) || now < next_stage_) return;
  if (stage_ == Stage::asked) {
    const int asked_code = code_;
    for (const Child& child : children_) {
      if (!child.alive() || !orderly_) continue;
      say(fmt::format("{} did not end within {} of exit({}); it is ended", name_of(child),
                      seconds(kOrderlyLimit), asked_code));
      if (code_ == 0) code_ = kEndedByForce;
    }
    signal_all(SIGTERM, false);
    stage_ = Stage::terminated;
    next_stage_ = now + kTermLimit;
    return;
  }
  signal_all(SIGKILL, false);
  stage_ = Stage::killed;
}

/// Strangers are processes that did not join and so cannot be asked.
void Job::signal_all(int signal_number, bool strangers_only) {
  for (const Child& child : children_) {
    if (strangers_only && rendezvous_->job().joined(child.rank)) continue;
    child.signal(signal_number);
  }
}

void Job::say(const std::string& text) {
  error_->add(this, fmt::format("shoal: {}\n", text));
  error_->flush();
}

std::string Job::name_of(const Child& child) const {
  return fmt::format("process {} (pid {})", number(child.rank), child.pid);
}

std::string Job::last_words_of(const Child& child) const {
  const std::string& words = child.error.lines.last_words().empty()
                                 ? child.out.lines.last_words()
                                 : child.error.lines.last_words();
  return words.empty() ? "" : fmt::format("; its last words: \"{}\"", words);
}

std::size_t Job::alive() const noexcept {
  return static_cast<std::size_t>(std::count_if(children_.begin(), children_.end(),
                                                [](const Child& child) { return child.alive(); }));
}

}  // namespace shoal::tools
