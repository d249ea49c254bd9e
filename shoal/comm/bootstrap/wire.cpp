// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/wire.hpp>

#include <algorithm>

namespace shoal::comm {

std::string hex(std::span<const std::byte> bytes) {
  std::string text;
  for (const std::byte one : bytes) text += fmt::format("{:02x}", static_cast<unsigned>(one));
  return text;
}

std::optional<std::size_t> payload_limit(std::uint8_t type) noexcept {
  switch (static_cast<FrameType>(type)) {
    case FrameType::hello:
      return 8 * kMaxIdentityText;
    case FrameType::put_address:
    case FrameType::address:
      return 8 + kMaxAddress;
    case FrameType::get_address:
      return 4;
    case FrameType::barrier:
    case FrameType::released:
      return 4 + kMaxName;
    case FrameType::exit:
      return 4;
    case FrameType::failed:
    case FrameType::stop:
      return 8 + kMaxReason;
    case FrameType::heartbeat:
      return 8;
    case FrameType::report:
      return 4 + kMaxReason;
    case FrameType::list_entries:
    case FrameType::ask_report:
      return 0;
    case FrameType::entry_list:
    case FrameType::welcome:
      return kMaxBootstrapFrame;
  }
  return std::nullopt;
}

void FrameReader::append(std::span<const std::byte> bytes) {
  if (consumed_ > 0) {
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<std::ptrdiff_t>(consumed_));
    consumed_ = 0;
  }
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
}

Expected<std::optional<WireFrame>> FrameReader::next() {
  const auto rest = std::span<const std::byte>(buffer_).subspan(consumed_);
  if (rest.size() < kFrameHeader) return std::optional<WireFrame>{};
  PayloadReader header(rest.first(kFrameHeader));
  const std::size_t size = header.u32();
  const std::uint8_t type = header.u8();
  const auto limit = payload_limit(type);
  if (!limit) return make_error(ErrorCode::bad_data, fmt::format("no frame has the type {}", type));
  if (size > *limit) {
    return make_error(
        ErrorCode::bad_data,
        fmt::format("a frame of type {} has {} bytes, more than {}", type, size, *limit));
  }
  if (rest.size() < kFrameHeader + size) return std::optional<WireFrame>{};
  consumed_ += kFrameHeader + size;
  return std::optional(WireFrame{static_cast<FrameType>(type), rest.subspan(kFrameHeader, size)});
}

FrameWriter::FrameWriter(FrameType type) {
  u32(0);  // the size, known at the end
  u8(static_cast<std::uint8_t>(type));
}

FrameWriter& FrameWriter::u8(std::uint8_t value) {
  frame_.push_back(static_cast<std::byte>(value));
  return *this;
}

FrameWriter& FrameWriter::u32(std::uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) frame_.push_back(static_cast<std::byte>(value >> (8 * i)));
  return *this;
}

FrameWriter& FrameWriter::u64(std::uint64_t value) {
  for (unsigned i = 0; i < 8; ++i) frame_.push_back(static_cast<std::byte>(value >> (8 * i)));
  return *this;
}

FrameWriter& FrameWriter::bytes(std::span<const std::byte> value) {
  u32(static_cast<std::uint32_t>(value.size()));
  frame_.insert(frame_.end(), value.begin(), value.end());
  return *this;
}

FrameWriter& FrameWriter::text(std::string_view value, std::size_t limit) {
  return bytes(std::as_bytes(std::span(value.substr(0, limit))));
}

std::vector<std::byte> FrameWriter::finish() {
  const std::size_t size = frame_.size() - kFrameHeader;
  SHOAL_CHECK(size <= kMaxBootstrapFrame, "{} bytes", size);
  for (unsigned i = 0; i < 4; ++i) frame_[i] = static_cast<std::byte>(size >> (8 * i));
  return std::move(frame_);
}

std::uint64_t PayloadReader::integer(std::size_t size) {
  if (!ok_ || rest_.size() < size) return ok_ = false, 0;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) value |= static_cast<std::uint64_t>(rest_[i]) << (8 * i);
  rest_ = rest_.subspan(size);
  return value;
}

std::span<const std::byte> PayloadReader::bytes(std::size_t limit) {
  const std::size_t size = u32();
  if (!ok_ || size > limit || size > rest_.size()) return ok_ = false, std::span<const std::byte>{};
  const auto value = rest_.first(size);
  rest_ = rest_.subspan(size);
  return value;
}

std::string PayloadReader::text(std::size_t limit) {
  const auto value = bytes(limit);
  return {reinterpret_cast<const char*>(value.data()), value.size()};
}

}  // namespace shoal::comm
