// SPDX-License-Identifier: Apache-2.0
// The problem: many processes print at once, their lines must stay whole, and a reader that is slow
// must not keep the launcher from noticing a death. Offered: a sink that never blocks, and for each
// stream of a child a forwarder that hands it whole lines.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace shoal::tools {

/// Where lines go: the launcher's stdout or stderr.
class Sink {
 public:
  /// More than this waiting, and the children are not read on; they block in turn.
  static constexpr std::size_t kFull = std::size_t{1} << 20U;

  explicit Sink(int fd);
  int fd() const noexcept { return fd_; }
  /// Takes `text` over; `writer` tells streams apart, so that one may not go on in another's line.
  void add(const void* writer, std::string_view text);
  bool pending() const noexcept { return sent_ < waiting_.size(); }
  bool full() const noexcept { return waiting_.size() >= kFull; }
  /// The errno of the write that failed, EPIPE where nobody reads; since then what is added is
  /// dropped. 0: none did.
  int error() const noexcept { return error_; }
  /// Writes as much as goes without blocking.
  void flush();

 private:
  std::string_view next_piece() const noexcept;

  int fd_;
  std::size_t piece_limit_;
  std::string waiting_;
  std::size_t sent_ = 0;          // of `waiting_`, while flush runs
  const void* writer_ = nullptr;  // whose line is unfinished
  int error_ = 0;
};

/// Cuts one stream into lines.
class LineForwarder {
 public:
  /// A line longer than this goes in pieces.
  static constexpr std::size_t kLongestLine = std::size_t{64} << 10U;
  static constexpr std::size_t kLastWords = 300;

  struct Style {
    std::string prefix;      ///< before each line
    bool hold_lines = true;  ///< false: nobody else prints, pass everything at once
  };

  LineForwarder(Sink& sink, Style style) : sink_(&sink), style_(std::move(style)) {}
  void add(std::string_view bytes);
  /// The stream has ended: what is held goes out as it is.
  void finish();
  /// The last line that says something (no rule, no backtrace), cut to kLastWords.
  const std::string& last_words() const noexcept { return last_line_; }

 private:
  void forward(std::string_view text);
  void remember(std::string_view text);

  Sink* sink_;
  Style style_;
  std::string held_;      // an unfinished line
  bool in_line_ = false;  // a piece of the current line has gone out
  std::string last_line_;
};

}  // namespace shoal::tools
