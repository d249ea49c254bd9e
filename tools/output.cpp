// SPDX-License-Identifier: Apache-2.0
#include <tools/output.hpp>

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>

namespace shoal::tools {

namespace {

// A pipe or terminal that poll calls writable takes this much without blocking (PIPE_BUF is 4096 on
// Linux).
constexpr std::size_t kSafePiece = 4096;
constexpr std::size_t kFilePiece = std::size_t{1} << 20U;

bool writable(int fd) {
  pollfd entry{fd, POLLOUT, 0};
  return ::poll(&entry, 1, 0) > 0;
}

/// False for rules, and for what the crash handler of UCX prints behind a program's last words: the
/// signal, which the launcher names itself, and a frame of a backtrace a line (" 3  /lib/…", "#3
/// 0x…").
bool says_something(std::string_view line) {
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  if (std::none_of(line.begin(), line.end(), is_letter)) return false;
  if (line.starts_with("==== backtrace") || line.find("] Caught signal ") != line.npos)
    return false;
  line.remove_prefix(std::min(line.find_first_not_of(" #"), line.size()));
  const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
  line.remove_prefix(digits);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return digits == 0 || !(line.starts_with('/') || line.starts_with("0x"));
}

}  // namespace

Sink::Sink(int fd) : fd_(fd), piece_limit_(kSafePiece) {
  struct stat status {};
  if (::fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) piece_limit_ = kFilePiece;
}

void Sink::add(const void* writer, std::string_view text) {
  if (error_ != 0 || text.empty()) return;
  if (writer_ != nullptr && writer_ != writer) waiting_ += '\n';
  waiting_ += text;
  writer_ = text.back() == '\n' ? nullptr : writer;
}

// Whole lines where they fit, so that what others write to the same place falls between lines.
std::string_view Sink::next_piece() const noexcept {
  const std::string_view rest = std::string_view(waiting_).substr(sent_);
  if (rest.size() <= piece_limit_) return rest;
  const std::size_t end = rest.rfind('\n', piece_limit_ - 1);
  return rest.substr(0, end == std::string_view::npos ? piece_limit_ : end + 1);
}

void Sink::flush() {
  while (pending() && writable(fd_)) {
    const std::string_view piece = next_piece();
    const ssize_t size = ::write(fd_, piece.data(), piece.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (size < 0) {
      error_ = errno;
      sent_ = waiting_.size();
      break;
    }
    sent_ += static_cast<std::size_t>(size);
  }
  waiting_.erase(0, sent_);
  sent_ = 0;
}

void LineForwarder::add(std::string_view bytes) {
  if (!style_.hold_lines) return forward(bytes);
  const std::size_t end = bytes.rfind('\n');
  if (end != std::string_view::npos) {
    held_ += bytes.substr(0, end + 1);
    forward(held_);
    held_.clear();
    bytes.remove_prefix(end + 1);
  }
  held_ += bytes;
  if (held_.size() < kLongestLine) return;
  forward(held_);
  held_.clear();
}

void LineForwarder::finish() {
  forward(held_);
  held_.clear();
}

void LineForwarder::forward(std::string_view text) {
  if (text.empty()) return;
  remember(text);
  if (style_.prefix.empty()) return sink_->add(this, text);
  std::string prefixed;
  while (!text.empty()) {
    const std::size_t size = std::min(text.find('\n'), text.size() - 1) + 1;
    if (!in_line_) prefixed += style_.prefix;
    prefixed += text.substr(0, size);
    in_line_ = text[size - 1] != '\n';
    text.remove_prefix(size);
  }
  sink_->add(this, prefixed);
}

void LineForwarder::remember(std::string_view text) {
  while (!text.empty()) {
    const std::size_t before = text.find_last_of('\n');
    const std::size_t start = before == std::string_view::npos ? 0 : before + 1;
    const std::string_view line = text.substr(start);
    if (says_something(line)) {
      last_line_ = line.substr(0, std::min(line.find_last_not_of("\r ") + 1, kLastWords));
      return;
    }
    text = text.substr(0, start == 0 ? 0 : start - 1);
  }
}

}  // namespace shoal::tools
