// SPDX-License-Identifier: Apache-2.0
// The problem: the values that a Sizer has measured must be written once, into memory that somebody
// else owns, at the speed of plain moves. Offered: `Writer`. It trusts the measured size for single
// values (debug builds assert) and checks it for runs; one that does not fit is a `serialize` that
// does not do the same thing twice, and ends the job.
#pragma once

#include <shoal/actors/serialize/sizer.hpp>

#include <cassert>
#include <cstring>

namespace shoal::actors {

[[noreturn]] void report_overrun(std::size_t wanted, std::size_t left);

class Writer {
 public:
  static constexpr bool kReads = false;
  using is_loading = std::false_type;
  using is_saving = std::true_type;

  /// Writes to `size` bytes at `to`: the size that a Sizer found, with the bulk that it chose.
  Writer(std::byte* to, std::size_t size, Bulk bulk = {})
      : begin_(to), at_(to), end_(to + size), bulk_(bulk) {}

  template <class... Ts>
  Writer& operator()(const Ts&... values) {
    (one(values), ...);
    return *this;
  }
  template <class T>
  Writer& operator&(const T& value) {
    return (*this)(value);
  }

  std::size_t written() const noexcept { return static_cast<std::size_t>(at_ - begin_); }
  /// All that was measured has been written, and the bulk was met.
  bool complete() const noexcept { return at_ == end_ && bulk_.size == 0; }

  std::uint32_t version(std::uint32_t current) {
    one(current);
    return current;
  }

  /// For codecs: as in Sizer.
  template <Plain T>
  void contiguous(const T* data, std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    // The Sizer chose the first run that could be bulk: the first with its address is that run.
    if (bytes != 0 && bytes == bulk_.size && static_cast<const void*>(data) == bulk_.data) {
      bulk_ = {};
      return one(count | kIsBulk);
    }
    if (bytes + sizeof(std::uint64_t) > left()) [[unlikely]]
      report_overrun(bytes, left());
    one(std::uint64_t{count});
    if (bytes != 0) std::memcpy(at_, data, bytes);
    at_ += bytes;
  }
  template <Plain T>
  void reserved(const T* data, std::size_t count) {
    contiguous(data, count);
  }

  template <class... Ts>
  bool begin_elements(std::size_t count) {
    if (sizeof count > left()) [[unlikely]]
      report_overrun(sizeof count, left());
    one(std::uint64_t{count});
    return true;
  }
  template <class... Ts>
  void element(const Ts&... values) {
    (*this)(values...);
  }
  Tracker& tracker() { return tracker_.get(); }

  /// Whether containers without an order are to be written in one that depends on their content
  /// only: for comparing bytes.
  bool canonical() const noexcept { return canonical_; }
  void set_canonical() noexcept { canonical_ = true; }

  std::string describe() const;

 private:
  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }

  template <class T>
  void one(const T& value) {
    if constexpr (Plain<T>) {
      assert(sizeof value <= left());
      std::memcpy(at_, &value, sizeof value);
      at_ += sizeof value;
    } else if constexpr (std::is_same_v<T, bool>) {
      one(value ? std::uint8_t{1} : std::uint8_t{0});
    } else if constexpr (Serializable<T>) {
      run_serialize(*this, const_cast<T&>(value));
    } else {
      field_is_not_serializable<T>();
    }
  }

  std::byte* begin_;
  std::byte* at_;
  std::byte* end_;
  Bulk bulk_;
  bool canonical_ = false;
  LazyTracker tracker_;
};

}  // namespace shoal::actors
