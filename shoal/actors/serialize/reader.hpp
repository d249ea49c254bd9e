// SPDX-License-Identifier: Apache-2.0
// The problem: bytes from outside may be cut short, damaged or hostile, and reading them must
// neither run over the end nor allocate what a wrong count asks for. Offered: `Reader`. It checks
// every length before use and never throws. The first fault is kept, with its place; from then on
// every value reads as T{} and every container as empty, so that a `serialize` needs no checks.
// Look at `failed()` or `fully_read()` before using what was read.
#pragma once

#include <shoal/actors/serialize/sizer.hpp>

#include <cstring>

namespace shoal::actors {

class Reader {
 public:
  static constexpr bool kReads = true;
  using is_loading = std::true_type;
  using is_saving = std::false_type;

  /// Both spans must outlive the reader. A bulk with a size but no data is one that has not
  /// arrived.
  explicit Reader(std::span<const std::byte> message, Bulk bulk = {})
      : begin_(message.data()), at_(begin_), end_(begin_ + message.size()), bulk_(bulk) {}
  Reader(std::span<const std::byte> message, std::span<const std::byte> bulk)
      : Reader(message, Bulk{bulk.data(), bulk.size()}) {}

  template <class... Ts>
  Reader& operator()(Ts&... values) {
    static_assert(!(std::is_const_v<Ts> || ...), "a const field cannot be read into");
    if constexpr (has_fixed_size<Ts...>) {
      if (kFixedSize < Ts... >> remaining()) [[unlikely]] {
        fail("the message ends before its values", kFixedSize<Ts...>);
        (reset(values), ...);
        return *this;
      }
      Checked checked{*this, at_};
      at_ += kFixedSize<Ts...>;
      checked(values...);
    } else {
      (one(values), ...);
    }
    return *this;
  }
  template <class T>
  Reader& operator&(T& value) {
    return (*this)(value);
  }
  /// A new T, read.
  template <Serializable T>
  T read() {
    T value{};
    (*this)(value);
    return value;
  }

  bool failed() const noexcept { return fault_ != nullptr; }
  /// Nothing failed and nothing is left over, the bulk included.
  bool fully_read() const noexcept { return !failed() && at_ == end_ && bulk_.size == 0; }
  /// "reading byte 12 of 40", and the fault, if there was one.
  std::string describe() const;

  /// For a `serialize` or codec that finds what was read impossible. `why` must be a literal.
  void fail(const char* why, std::uint64_t number = 0) {
    if (fault_ == nullptr) {
      fault_ = why;
      fault_number_ = number;
      fault_at_ = at_;
    }
    at_ = end_;
    bulk_ = {};
  }

  /// The version that the writer gave; fails if it is above `current`.
  std::uint32_t version(std::uint32_t current) {
    std::uint32_t stored = current;
    (*this)(stored);
    if (stored > current) fail("the data was written by a newer version of this class", stored);
    return stored;
  }

  std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - at_); }

  /// A run of plain elements, where it lies in the message or the bulk. No alignment is promised.
  struct Run {
    const std::byte* data = nullptr;
    std::size_t count = 0;  ///< elements
    std::size_t bytes = 0;
    bool is_bulk = false;
  };
  /// For codecs: the next run, of elements of `element_bytes` bytes. Fails if it is a bulk that has
  /// not arrived.
  Run contiguous(std::size_t element_bytes) {
    Run run = announced(element_bytes);
    if (run.is_bulk && run.data == nullptr) [[unlikely]] {
      fail("the bulk has not arrived", run.bytes);
      return {};
    }
    return run;
  }
  /// For codecs that can wait: the same, but `data` is null for a bulk that has not arrived.
  Run announced(std::size_t element_bytes) {
    std::uint64_t count = 0;
    (*this)(count);
    const bool is_bulk = (count & kIsBulk) != 0;
    count &= ~kIsBulk;
    const std::size_t there = is_bulk ? bulk_.size : remaining();
    // A bulk is never empty: without that, a count of none would be taken for one.
    const bool misfits = is_bulk && (count == 0 || count * element_bytes != there);
    if (count > there / element_bytes || misfits) [[unlikely]] {
      fail(is_bulk ? "a run does not have the bulk's size" : "a run is longer than the message",
           count);
      return {};
    }
    const std::size_t bytes = count * element_bytes;
    const std::byte* data = is_bulk ? bulk_.data : at_;
    if (is_bulk) {
      bulk_ = {};
    } else {
      at_ += bytes;
    }
    return {data, count, bytes, is_bulk};
  }

  /// For codecs: the count before elements, each made of Ts: never more than can follow.
  template <class... Ts>
  std::size_t begin_elements() {
    std::uint64_t count = 0;
    (*this)(count);
    constexpr std::size_t least = kLeastSize<Ts...>;
    if constexpr (least > 0) {
      if (count <= remaining() / least) [[likely]]
        return count;
    } else if constexpr (has_fixed_size<Ts...>) {
      if (count <= empty_left_) {
        empty_left_ -= count;
        return count;
      }
    } else {
      if (count <= remaining() + empty_left_) return count;
    }
    fail("a container has more elements than the message can hold", count);
    return 0;
  }
  /// For codecs: how many of `count` elements to reserve memory for before having seen them.
  template <class T>
  std::size_t worth_reserving(std::size_t count) const {
    if constexpr (kLeastSize < T >> 0) return count;
    const std::size_t paid = remaining() / sizeof(T) + 1;
    return count < paid ? count : paid;
  }
  /// For codecs: as in Sizer.
  template <class... Ts>
  void element(Ts&... values) {
    if constexpr ((kLeastSize<Ts...>) > 0 || has_fixed_size<Ts...>) {
      nested(values...);
    } else {
      const std::byte* before = at_;
      nested(values...);
      if (at_ == before && empty_left_-- == 0) fail("too many elements without any bytes");
    }
  }
  Tracker& tracker() { return tracker_.get(); }

 private:
  // Reads values of fixed size whose bytes are known to be there.
  struct Checked {
    static constexpr bool kReads = true;
    Reader& reader;
    const std::byte* at;

    template <class... Ts>
    void operator()(Ts&... values) {
      (one(values), ...);
    }

    template <class T>
    void one(T& value) {
      if constexpr (Plain<T>) {
        std::memcpy(&value, at, sizeof value);
        at += sizeof value;
      } else if constexpr (std::is_same_v<T, bool>) {
        const auto byte = static_cast<std::uint8_t>(*at++);
        if (byte > 1) [[unlikely]]
          reader.fail("a bool is neither 0 nor 1", byte);
        value = byte != 0;
      } else {
        Codec<T>::run(*this, value);
      }
    }
  };

  template <class T>
  static void reset(T& value) {
    if constexpr (std::is_array_v<T>) {
      for (auto& element : value) reset(element);
    } else {
      value = T{};
    }
  }

  template <class T>
  void one(T& value) {
    if constexpr (has_fixed_size<T>) {
      (*this)(value);
    } else if constexpr (Serializable<T>) {
      run_serialize(*this, value);
    } else {
      field_is_not_serializable<T>();
    }
  }

  template <class... Ts>
  void nested(Ts&... values) {
    if constexpr (has_fixed_size<Ts...>) {
      (*this)(values...);
    } else {
      if (++depth_ > kMaxDepth) [[unlikely]]
        fail("values are nested too deep", kMaxDepth);
      if (!failed()) (*this)(values...);
      --depth_;
    }
  }

  const std::byte* begin_;
  const std::byte* at_;
  const std::byte* end_;
  Bulk bulk_;
  const char* fault_ = nullptr;
  const std::byte* fault_at_ = nullptr;
  std::uint64_t fault_number_ = 0;
  std::uint64_t empty_left_ = kMaxEmptyElements;
  std::uint32_t depth_ = 0;
  LazyTracker tracker_;
};

}  // namespace shoal::actors
