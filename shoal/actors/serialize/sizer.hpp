// SPDX-License-Identifier: Apache-2.0
// The problem: a message is written once, into memory of the right size, so its size comes first;
// and a large array in it should travel from where it lies, uncopied. Offered: `Sizer`, which
// counts the inline bytes of the values it is called with and picks the one run that travels as
// bulk.
//
// The format: plain values as they lie in memory, without alignment; a bool as 0 or 1; a container
// as a 64-bit count and its elements. The top bit of the count says that the elements are the
// message's bulk. At most one run of plain elements is bulk: the first of kBulkThreshold bytes or
// more.
#pragma once

#include <shoal/actors/serialize/serializable.hpp>
#include <shoal/actors/serialize/tracker.hpp>

#include <string>

namespace shoal::actors {

/// Runs of fewer bytes are copied into the message: cheaper than a second piece on the wire.
inline constexpr std::size_t kBulkThreshold = 8192;

/// The bit in a run's count that says: the elements are the bulk.
inline constexpr std::uint64_t kIsBulk = std::uint64_t{1} << 63;

/// How deep containers and pointers may be nested in one message: readers run on a PE's own stack.
inline constexpr std::uint32_t kMaxDepth = 1000;

/// How many elements of no bytes at all (empty structs) one message may hold: they cost the
/// receiver memory that no sent byte pays for.
inline constexpr std::uint64_t kMaxEmptyElements = std::uint64_t{1} << 16;

enum class BulkRule : std::uint8_t {
  none,           ///< everything is copied into the message
  large_runs,     ///< the first run of kBulkThreshold bytes or more is bulk
  reserved_runs,  ///< only runs given to `reserved` are, of any length but 0
};

/// The run that travels beside the message. It belongs to the value that was sized: keep that
/// alive.
struct Bulk {
  const std::byte* data = nullptr;
  std::size_t size = 0;  ///< in bytes; 0: there is none
};

/// What a bug in a `serialize` ends in; the job ends with it.
[[noreturn]] void report_nested_too_deep();
[[noreturn]] void report_too_many_empty_elements();
[[noreturn]] void report_not_serializable_value(const char* what);

// Never defined: a Sizer has already refused the field, unless only another archive is given it;
// then this does not link.
template <class T>
void field_is_not_serializable();

class Sizer {
 public:
  static constexpr bool kReads = false;
  using is_loading = std::false_type;  // the names that cereal's users test
  using is_saving = std::true_type;

  constexpr Sizer() = default;
  explicit constexpr Sizer(BulkRule rule) : rule_(rule) {}

  template <class... Ts>
  constexpr Sizer& operator()(const Ts&... values) {
    // Here, once, for all archives.
    static_assert((owns_its_data<Ts> && ...));
    static_assert(((!owns_its_data<Ts> || Serializable<Ts>)&&...));
    if constexpr (has_fixed_size<Ts...>) {
      size_ += kFixedSize<Ts...>;
    } else {
      (one(values), ...);
    }
    return *this;
  }
  template <class T>
  Sizer& operator&(const T& value) {
    return (*this)(value);
  }

  /// Bytes of the message, without the bulk.
  constexpr std::size_t size() const noexcept { return size_; }
  constexpr Bulk bulk() const noexcept { return bulk_; }

  /// Marks the format of what follows. Returns the version of the stored data: here, `current`.
  std::uint32_t version(std::uint32_t current) {
    size_ += sizeof current;
    return current;
  }

  /// For codecs: `count` plain elements that lie side by side.
  template <Plain T>
  void contiguous(const T* data, std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    const bool large = rule_ == BulkRule::large_runs && bytes >= kBulkThreshold;
    run(data, bytes, large && is_kept(owner_));
  }
  /// For codecs: the same, but bulk of any length if the rule reserves it for such runs. The one
  /// way for memory that the CPU cannot read; then look whether `bulk()` really holds it.
  template <Plain T>
  void reserved(const T* data, std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    const bool large = rule_ == BulkRule::large_runs && bytes >= kBulkThreshold;
    run(data, bytes, large || (rule_ == BulkRule::reserved_runs && bytes > 0));
  }

  /// For codecs: a count of elements, each made of Ts. False if they need not be visited.
  template <class... Ts>
  bool begin_elements(std::size_t count) {
    size_ += sizeof(std::uint64_t);
    if constexpr (!has_fixed_size<Ts...>) return true;
    size_ += count * kFixedSize<Ts...>;
    if (kFixedSize<Ts...> == 0) count_empty(count);
    return false;
  }
  /// For codecs: one element of a container, or what a pointer points to. Limits the depth.
  template <class... Ts>
  void element(const Ts&... values) {
    const std::size_t before = size_;
    if (++depth_ > kMaxDepth) [[unlikely]]
      report_nested_too_deep();
    (*this)(values...);
    --depth_;
    if (size_ == before) count_empty(1);
  }
  /// For codecs of shared pointers.
  Tracker& tracker() { return tracker_.get(); }

  /// For error texts: what this archive is doing and how far it is.
  std::string describe() const;

 private:
  // The addresses at which a field is part of the value being sized. A local variable of a user's
  // `serialize` lies outside: it is gone when the bulk is sent, so it never becomes bulk.
  struct Owner {
    std::uintptr_t first = 0;
    std::uintptr_t last = std::numeric_limits<std::uintptr_t>::max();
  };
  static constexpr Owner kNobody{1, 0};
  static constexpr bool is_kept(Owner owner) { return owner.first <= owner.last; }

  void run(const void* data, std::size_t bytes, bool may_be_bulk) {
    size_ += sizeof(std::uint64_t);
    if (may_be_bulk && bulk_.size == 0) {
      bulk_ = {static_cast<const std::byte*>(data), bytes};
    } else {
      size_ += bytes;
    }
  }

  void count_empty(std::uint64_t count) {
    if (count > empty_left_) [[unlikely]]
      report_too_many_empty_elements();
    empty_left_ -= count;
  }

  template <class T>
  void one(const T& value) {
    if constexpr (has_fixed_size<T>) {
      size_ += kFixedSize<T>;
    } else if constexpr (Serializable<T>) {
      const Owner outer = owner_;
      const auto address = reinterpret_cast<std::uintptr_t>(&value);
      if (address < outer.first || address > outer.last) {
        owner_ = kNobody;
      } else if constexpr (has_a_codec<T>) {
        owner_ = {};  // codecs hand over only what the value owns
      } else {
        owner_ = {address, address + (sizeof(T) - 1)};
      }
      run_serialize(*this, const_cast<T&>(value));
      owner_ = outer;
    }
  }

  std::size_t size_ = 0;
  Bulk bulk_;
  Owner owner_;
  std::uint64_t empty_left_ = kMaxEmptyElements;
  std::uint32_t depth_ = 0;
  BulkRule rule_ = BulkRule::none;
  LazyTracker tracker_;
};

}  // namespace shoal::actors
