// SPDX-License-Identifier: Apache-2.0
// The problem: processes and their rendezvous exchange small messages over a byte stream, and even
// a proven peer may be of another build. Offered: frames (u32 length of what follows the type, u8
// type; integers are little-endian), a reader that checks every length before it keeps a byte, and
// the two halves of a codec.
#pragma once

#include <shoal/comm/error.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::comm {

enum class FrameType : std::uint8_t {
  // From a process.
  hello = 1,    ///< its Identity
  entry_list,   ///< text, one entry a line
  put_address,  ///< u32 pe, bytes
  get_address,  ///< u32 pe
  barrier,      ///< text
  exit,         ///< u32 code
  failed,       ///< u32 code, text
  heartbeat,    ///< u64 step counter
  report,       ///< text
  // From the rendezvous.
  welcome = 65,  ///< the JobLayout
  list_entries,  ///< nothing
  address,       ///< u32 pe, bytes
  released,      ///< text
  stop,          ///< u32 code, text
  ask_report,    ///< nothing
};

inline constexpr std::size_t kFrameHeader = 5;
inline constexpr std::size_t kMaxBootstrapFrame = std::size_t{64} << 20U;
inline constexpr std::size_t kMaxReason = std::size_t{64} << 10U;
inline constexpr std::size_t kMaxAddress = std::size_t{64} << 10U;
inline constexpr std::size_t kMaxName = 256;
inline constexpr std::size_t kMaxIdentityText = 1024;

/// Two digits a byte, for people and for channels of text.
std::string hex(std::span<const std::byte> bytes);

/// The most that may follow a header of this type; nothing for a type that does not exist.
std::optional<std::size_t> payload_limit(std::uint8_t type) noexcept;

struct WireFrame {
  FrameType type;
  std::span<const std::byte> payload;  ///< valid until the reader is touched again
};

/// Cuts a byte stream into frames. Holds at most one unfinished frame and what was appended behind
/// it.
class FrameReader {
 public:
  void append(std::span<const std::byte> bytes);
  /// The next whole frame, or nothing yet. An error is final: the stream cannot be read on.
  Expected<std::optional<WireFrame>> next();
  std::size_t buffered() const noexcept { return buffer_.size() - consumed_; }

 private:
  std::vector<std::byte> buffer_;
  std::size_t consumed_ = 0;
};

/// Builds one frame, header included.
class FrameWriter {
 public:
  explicit FrameWriter(FrameType type);
  FrameWriter& u8(std::uint8_t value);
  FrameWriter& u32(std::uint32_t value);
  FrameWriter& u64(std::uint64_t value);
  /// u32 size, then the bytes.
  FrameWriter& bytes(std::span<const std::byte> value);
  /// As bytes; what exceeds `limit` is cut off.
  FrameWriter& text(std::string_view value, std::size_t limit);
  std::vector<std::byte> finish();  ///< once, last

 private:
  std::vector<std::byte> frame_;
};

/// Reads a payload. After the first field that does not fit, every read gives an empty value and
/// `finished` is false.
class PayloadReader {
 public:
  explicit PayloadReader(std::span<const std::byte> payload) : rest_(payload) {}
  std::uint8_t u8() { return static_cast<std::uint8_t>(integer(1)); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(integer(4)); }
  std::uint64_t u64() { return integer(8); }
  std::span<const std::byte> bytes(std::size_t limit);
  std::string text(std::size_t limit);
  /// Bytes not read yet.
  std::size_t left() const noexcept { return rest_.size(); }
  /// Everything fitted and nothing is left over.
  bool finished() const noexcept { return ok_ && rest_.empty(); }
  bool ok() const noexcept { return ok_; }

 private:
  std::uint64_t integer(std::size_t size);

  std::span<const std::byte> rest_;
  bool ok_ = true;
};

}  // namespace shoal::comm
