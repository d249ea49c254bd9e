// SPDX-License-Identifier: Apache-2.0
// The problem: a large array should be written once, into the memory where it is wanted. Offered:
// three ways to take an array parameter, and one to send it from where it lies.
//   std::vector<T>   a value: received, then copied into the vector
//   View<T>          read in place, in the buffer that received it; released when the view dies
//   Incoming<T>      announced only: `co_await incoming.into(target)` receives straight into the
//   target lend(span)       sends memory that stays the caller's; the send returns a future,
//   awaited before reuse
// A std::vector or a lent span can be sent to each of them. Within a process all of them pass a
// pointer.
#pragma once

#include <shoal/actors/serialize/core.hpp>
#include <shoal/actors/signature.hpp>
#include <shoal/comm/transport.hpp>
#include <shoal/runtime/future.hpp>

#include <cstring>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace shoal::actors {

using runtime::Pe;

/// Owns bytes that a message brought, or keeps alive those of the sender within the process.
/// Released by whichever PE drops it. Move only.
class BulkOwner {
 public:
  BulkOwner() = default;
  BulkOwner(void* object, void (*drop)(void*) noexcept) noexcept : object_(object), drop_(drop) {}
  BulkOwner(BulkOwner&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), drop_(other.drop_) {}
  BulkOwner& operator=(BulkOwner&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(drop_, other.drop_);
    return *this;
  }
  ~BulkOwner() {
    if (object_ != nullptr) drop_(object_);
  }
  /// Takes over a pooled frame.
  static BulkOwner of_frame(comm::Frame* frame) noexcept;
  /// Takes over any object by moving it to the heap.
  template <class T>
  static BulkOwner of(T object, const T*& where) {
    auto* kept = new T(std::move(object));  // NOLINT: deleted by drop_
    where = kept;
    return BulkOwner(kept, [](void* pointer) noexcept {
      delete static_cast<T*>(pointer);  // NOLINT: made above
    });
  }

 private:
  void* object_ = nullptr;
  void (*drop_)(void*) noexcept = nullptr;
};

template <Plain T>
struct Lent;

/// A promise to whoever lent memory that it is no longer read. Lives until its PE has resolved the
/// lender's future.
struct Lender : runtime::Pooled {
  explicit Lender(Pe& pe) noexcept : home(pe) {}
  /// From the PE that lets go of the memory.
  static void let_go(void* lender) noexcept;
  runtime::Promise<void> promise;
  Pe& home;
};

/// Memory that stays the caller's: sent from where it lies. Made by `lend`.
template <Plain T>
struct Lent {
  std::span<const T> data;
};

/// Sends `data` without copying it. The send returns a Future<void>: await it before the memory
/// changes or ends.
template <class Range>
auto lend(const Range& range) noexcept {
  const std::span data(range);
  return Lent<std::remove_const_t<typename decltype(data)::element_type>>{data};
}

/// The elements that a message brought, where they lie. Move only; hold it as long as they are
/// read.
template <Plain T>
class View {
  static_assert(alignof(T) <= comm::Pool::kLead,
                "what a View reads is aligned to 64 bytes at most");

 public:
  View() = default;
  View(std::vector<T> values) {  // NOLINT: a vector may be sent to a View
    const std::vector<T>* kept = nullptr;
    owner_ = BulkOwner::of(std::move(values), kept);
    data_ = {kept->data(), kept->size()};
  }
  View(std::span<const T> data, BulkOwner owner) noexcept : data_(data), owner_(std::move(owner)) {}

  const T* data() const noexcept { return data_.data(); }
  std::size_t size() const noexcept { return data_.size(); }
  bool empty() const noexcept { return data_.empty(); }
  const T& operator[](std::size_t i) const noexcept { return data_[i]; }
  auto begin() const noexcept { return data_.begin(); }
  auto end() const noexcept { return data_.end(); }
  std::span<const T> span() const noexcept { return data_; }

 private:
  std::span<const T> data_;
  BulkOwner owner_;
};

template <class T>
View<T> borrowed_view(const Lent<T>& lent, Lender* lender) noexcept {
  return View<T>(lent.data, BulkOwner(lender, &Lender::let_go));
}

namespace detail {
template <class T>
inline constexpr bool kBorrows<std::vector<T>, Lent<T>> = true;
template <class T>
inline constexpr bool kBorrows<View<T>, Lent<T>> = true;

/// Pooled bytes: the frame of an arrived bulk, taken over; or a copy of an inline run.
comm::Frame* take_arrived(Reader::Run run);
/// The handle of an announced bulk, taken over.
comm::BulkHandle take_announced();

/// An announced bulk of another process, at the PE that received it.
class RemoteBulk {
 public:
  RemoteBulk() = default;
  explicit RemoteBulk(comm::BulkHandle handle);
  RemoteBulk(RemoteBulk&& other) noexcept
      : handle_(other.handle_), pe_(std::exchange(other.pe_, nullptr)) {}
  RemoteBulk& operator=(RemoteBulk&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(pe_, other.pe_);
    return *this;
  }
  ~RemoteBulk();
  explicit operator bool() const noexcept { return pe_ != nullptr; }
  /// Starts the transfer; the future resolves when the bytes are in `target`.
  runtime::Future<void> receive(std::span<std::byte> target);

 private:
  comm::BulkHandle handle_;
  Pe* pe_ = nullptr;
};
}  // namespace detail

/// An array that has been announced, not received: the entry chooses the memory. Not serializable.
/// One that dies unread releases the sender's data.
template <Plain T>
class Incoming {
 public:
  Incoming() = default;
  Incoming(std::vector<T> values) : count_(values.size()), here_(std::move(values)) {}  // NOLINT
  Incoming(View<T> view) noexcept : count_(view.size()), here_(std::move(view)) {}      // NOLINT
  Incoming(std::size_t count, detail::RemoteBulk remote) noexcept
      : count_(count), remote_(std::move(remote)) {}

  std::size_t count() const noexcept { return count_; }

  /// Receives into `target`, of at least count() elements, once. Await the result; `target` must
  /// live till then.
  runtime::Future<void> into(std::span<T> target) {
    SHOAL_CHECK(!std::exchange(taken_, true), "into() is called twice: it has been received");
    SHOAL_CHECK(target.size() >= count_, "into() got room for {} elements, {} arrive",
                target.size(), count_);
    if (remote_) return remote_.receive(std::as_writable_bytes(target));
    if (count_ != 0) std::memcpy(target.data(), here_.data(), count_ * sizeof(T));
    here_ = {};
    runtime::Promise<void> done;
    auto future = done.future();
    done.set();
    return future;
  }
  runtime::Future<void> into(std::vector<T>& target) { return into(std::span<T>(target)); }

 private:
  friend struct Codec<Incoming>;
  std::size_t count_ = 0;
  bool taken_ = false;
  View<T> here_;
  detail::RemoteBulk remote_;
};

template <Plain T>
struct Codec<View<T>> {
  static constexpr bool kSupported = true;
  static constexpr std::size_t kLeastSize = sizeof(std::uint64_t);
  template <class Ar>
  static void run(Ar& ar, View<T>& value) {
    if constexpr (Ar::kReads) {
      const Reader::Run run = ar.contiguous(sizeof(T));
      if (run.bytes == 0) {
        value = {};
        return;
      }
      comm::Frame* frame = detail::take_arrived(run);
      value = View<T>({reinterpret_cast<const T*>(frame->data()), run.count},
                      BulkOwner::of_frame(frame));
    } else {
      ar.contiguous(value.data(), value.size());
    }
  }
};

template <Plain T>
struct Codec<Incoming<T>> {
  static constexpr bool kSupported = true;
  static constexpr std::size_t kLeastSize = sizeof(std::uint64_t);
  template <class Ar>
  static void run(Ar& ar, Incoming<T>& value) {
    if constexpr (Ar::kReads) {
      const Reader::Run run = ar.announced(sizeof(T));
      if (run.is_bulk && run.data == nullptr) {
        value = Incoming<T>(run.count, detail::RemoteBulk(detail::take_announced()));
      } else if (run.bytes != 0) {
        comm::Frame* frame = detail::take_arrived(run);
        value = Incoming<T>(View<T>({reinterpret_cast<const T*>(frame->data()), run.count},
                                    BulkOwner::of_frame(frame)));
      }
    } else {
      SHOAL_CHECK(!value.remote_, "an Incoming that has not been received cannot be sent on");
      if (value.count_ * sizeof(T) >= kBulkThreshold) {
        ar.reserved(value.here_.data(), value.count_);
      } else {
        ar.contiguous(value.here_.data(), value.count_);
      }
    }
  }
};

namespace detail {
template <class T>
inline constexpr bool kBorrows<Incoming<T>, Lent<T>> = true;

template <class T>
inline constexpr bool kIsIncoming = false;
template <class T>
inline constexpr bool kIsIncoming<Incoming<T>> = true;
template <class T>
inline constexpr bool kIsLent = false;
template <class T>
inline constexpr bool kIsLent<Lent<T>> = true;
}  // namespace detail

template <class Tuple>
inline constexpr bool kTakesIncoming = false;
template <class... S>
inline constexpr bool kTakesIncoming<std::tuple<S...>> = (detail::kIsIncoming<S> || ...);

}  // namespace shoal::actors
