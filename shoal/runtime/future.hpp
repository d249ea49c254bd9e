// SPDX-License-Identifier: Apache-2.0
// The problem: a result comes later, once, and several may wait for it. Offered: Promise<R>, which
// is set, and Future<R>, which is awaited as often and by as many as like, by tasks and by fibers
// of its PE. An unresolved one keeps the program from being quiet; a promise that dies unset fails
// its futures.
#pragma once

#include <shoal/runtime/pooled.hpp>
#include <shoal/runtime/waitable.hpp>

#include <exception>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace shoal::runtime {

/// Thrown by awaiting a future whose promise died unset.
class BrokenPromise : public std::runtime_error {
 public:
  BrokenPromise() : std::runtime_error("the promise was dropped before it was set") {}
};

class FutureStateBase : public Pooled {
 public:
  FutureStateBase() noexcept { this_pe().hold(true); }
  FutureStateBase(const FutureStateBase&) = delete;
  FutureStateBase& operator=(const FutureStateBase&) = delete;
  virtual ~FutureStateBase() { end_hold(); }

  void retain() noexcept { ++references_; }
  void release() noexcept {
    if (--references_ == 0) delete this;  // NOLINT: the last reference owns it
  }
  bool ready() const noexcept { return ready_; }
  void fail(std::exception_ptr error) noexcept {
    error_ = std::move(error);
    resolved();
  }
  void suspend(Pe& pe, Waiter& waiter) noexcept {
    if (waiter.service) end_hold();  // nobody owes it: a service may wait for ever
    waiter.waits_for = waits_for;
    waiter.on = on;
    waiters_.add(pe, waiter);
  }

  const char* waits_for = "a promise";
  Activity on;  ///< the entry that was called, for reports

 protected:
  void rethrow_error() const {
    if (error_) std::rethrow_exception(error_);
  }
  void resolved() noexcept {
    ready_ = true;
    end_hold();
    waiters_.wake_all(this_pe());
  }

 private:
  void end_hold() noexcept {
    if (std::exchange(holds_, false)) this_pe().release_hold(true);
  }
  unsigned references_ = 0;
  bool ready_ = false;
  bool holds_ = true;  // the program is not quiet as long as it does
  std::exception_ptr error_;
  WaitList waiters_;
};

template <class R>
class FutureState : public FutureStateBase {
 public:
  void set(R value) {
    value_.emplace(std::move(value));
    resolved();
  }
  const R& get() const {
    rethrow_error();
    return *value_;
  }

 private:
  std::optional<R> value_;
};

template <>
class FutureState<void> : public FutureStateBase {
 public:
  void set() noexcept { resolved(); }
  void get() const { rethrow_error(); }
};

/// Counts references; one PE.
template <class State>
class StateReference {
 public:
  StateReference() = default;
  explicit StateReference(State* state) noexcept : state_(state) { state_->retain(); }
  StateReference(const StateReference& other) noexcept : state_(other.state_) {
    if (state_ != nullptr) state_->retain();
  }
  StateReference(StateReference&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  StateReference& operator=(StateReference other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~StateReference() {
    if (state_ != nullptr) state_->release();
  }
  State* operator->() const noexcept { return state_; }
  State* get() const noexcept { return state_; }
  explicit operator bool() const noexcept { return state_ != nullptr; }

 private:
  State* state_ = nullptr;
};

/// A result to come. Copies share it. Belongs to the PE that made it.
template <class R>
class [[nodiscard]] Future {
 public:
  explicit Future(FutureState<R>* state) noexcept : state_(state) {}
  bool ready() const noexcept { return state_->ready(); }
  void suspend(Pe& pe, Waiter& waiter) const noexcept { state_->suspend(pe, waiter); }
  /// The result, copied, since others may await it too; throws what the callee threw.
  R take() const { return state_->get(); }

 private:
  StateReference<FutureState<R>> state_;
};

/// Sets a result, once. Belongs to one PE.
template <class R>
class Promise {
 public:
  Promise() : state_(new FutureState<R>) {}  // NOLINT: counts its references
  Promise(Promise&&) noexcept = default;
  Promise& operator=(Promise&& other) noexcept {
    if (this == &other) return *this;
    abandon();
    state_ = std::move(other.state_);
    return *this;
  }
  ~Promise() { abandon(); }
  Future<R> future() const noexcept { return Future<R>{state_.get()}; }
  template <class... Value>
  void set(Value&&... value) {
    SHOAL_CHECK(!state_->ready(), "a promise is set twice");
    state_->set(std::forward<Value>(value)...);
  }
  void fail(std::exception_ptr error) {
    SHOAL_CHECK(!state_->ready(), "a promise is set twice");
    state_->fail(std::move(error));
  }

 private:
  void abandon() noexcept {
    if (state_ && !state_->ready()) state_->fail(std::make_exception_ptr(BrokenPromise{}));
  }
  StateReference<FutureState<R>> state_;
};

}  // namespace shoal::runtime
