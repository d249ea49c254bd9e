// SPDX-License-Identifier: Apache-2.0
// The problem: an entry that waits must give its PE back meanwhile. Offered: Task<R>, the coroutine
// type of entry methods. It starts at once; awaiting it gives its result or throws its exception;
// one that is discarded goes on, owned by the element that started it, and an exception that leaves
// it ends the job. Resumption goes through the PE's queue, and so does the start where half the
// stack is used up already, so neither long chains nor ready results nor deep recursion overflow
// it.
#pragma once

#include <shoal/comm/error.hpp>
#include <shoal/runtime/pooled.hpp>
#include <shoal/runtime/waitable.hpp>

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace shoal::runtime {

class TaskPromiseBase;

/// Tasks that nobody awaits, of one owner; destroys them with it. Belongs to one PE.
class TaskList {
 public:
  TaskList() = default;
  TaskList(const TaskList&) = delete;
  TaskList& operator=(const TaskList&) = delete;
  ~TaskList() { clear(); }
  /// Destroys them all, wherever they wait.
  void clear() noexcept;
  bool empty() const noexcept { return first_ == nullptr; }

 private:
  friend class TaskPromiseBase;
  TaskPromiseBase* first_ = nullptr;
};

/// Starts a task at once, unless the stack is deep.
struct TaskStart {
  bool await_ready() const noexcept {
    const auto* here = static_cast<const std::byte*>(__builtin_frame_address(0));
    return here > this_pe().stack_limit;
  }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> handle) const noexcept {
    handle.promise().waiter.handle = handle;
    Yield{}.suspend(this_pe(), handle.promise().waiter);
  }
  void await_resume() const noexcept {}
};

/// What all tasks' promises share.
class TaskPromiseBase : public Pooled {
 public:
  TaskPromiseBase() noexcept { waiter.who = this_pe().activity(); }
  TaskPromiseBase(const TaskPromiseBase&) = delete;
  TaskPromiseBase& operator=(const TaskPromiseBase&) = delete;
  ~TaskPromiseBase();

  TaskStart initial_suspend() noexcept { return {}; }
  void unhandled_exception() noexcept { error = std::current_exception(); }
  /// The exception is whoever's asked for the result, from now on.
  void rethrow_error() {
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
  }
  /// Nobody will await it: the element that started it owns it now.
  void detach(std::coroutine_handle<> self);
  /// True: the coroutine has ended and its frame is to be destroyed.
  bool ended() noexcept;
  /// Destroys an ended coroutine. A frame may hold the last task of another, and so on: beyond a
  /// few they are destroyed one after the other, not one within the other.
  void destroy(std::coroutine_handle<> self) noexcept;

  CoroutineWaiter waiter;  ///< how this coroutine is resumed
  WaitList awaited_by;
  std::exception_ptr error;

 private:
  friend class TaskList;
  void unlink() noexcept;
  TaskList* owner_ = nullptr;
  TaskPromiseBase* previous_ = nullptr;
  TaskPromiseBase* next_ = nullptr;
};

/// How a task waits for a W.
template <Waitable W>
struct TaskAwaiter {
  W waitable;
  bool await_ready() { return waitable.ready(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> handle) {
    CoroutineWaiter& waiter = handle.promise().waiter;
    waiter.handle = handle;
    waiter.service = false;
    waiter.on = {};
    waitable.suspend(this_pe(), waiter);
  }
  decltype(auto) await_resume() { return waitable.take(); }
};

template <class R>
class TaskPromise;

template <class R = void>
class [[nodiscard]] Task {
 public:
  using promise_type = TaskPromise<R>;
  using Result = R;

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Task& operator=(Task&& other) noexcept {
    if (this != &other) {
      discard();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }
  ~Task() { discard(); }

  bool ready() const noexcept { return handle_.done(); }
  void suspend(Pe& pe, Waiter& waiter) {
    waiter.waits_for = "a task";
    handle_.promise().awaited_by.add(pe, waiter);
  }
  R take() { return handle_.promise().take(); }

 private:
  friend class TaskPromise<R>;
  explicit Task(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}
  void discard() {
    if (!handle_) return;
    if (handle_.done() && !handle_.promise().error) {
      handle_.promise().destroy(handle_);
    } else {
      handle_.promise().detach(handle_);
    }
    handle_ = nullptr;
  }
  std::coroutine_handle<promise_type> handle_;
};

struct TaskEnd {
  bool await_ready() const noexcept { return false; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> handle) const noexcept {
    if (handle.promise().ended()) handle.destroy();
  }
  void await_resume() const noexcept {}
};

template <class R>
class TaskPromise final : public TaskPromiseBase {
 public:
  Task<R> get_return_object() noexcept {
    return Task<R>{std::coroutine_handle<TaskPromise>::from_promise(*this)};
  }
  TaskEnd final_suspend() noexcept { return {}; }
  template <Waitable W>
  TaskAwaiter<W> await_transform(W&& waitable) {
    return {std::forward<W>(waitable)};
  }
  template <class Value>
  requires std::convertible_to<Value, R>
  void return_value(Value&& value) { value_.emplace(std::forward<Value>(value)); }
  R take() {
    rethrow_error();
    return std::move(*value_);
  }

 private:
  std::optional<R> value_;
};

template <>
class TaskPromise<void> final : public TaskPromiseBase {
 public:
  Task<> get_return_object() noexcept {
    return Task<>{std::coroutine_handle<TaskPromise>::from_promise(*this)};
  }
  TaskEnd final_suspend() noexcept { return {}; }
  template <Waitable W>
  TaskAwaiter<W> await_transform(W&& waitable) {
    return {std::forward<W>(waitable)};
  }
  void return_void() const noexcept {}
  void take() { rethrow_error(); }
};

template <class T>
inline constexpr bool kIsTask = false;
template <class R>
inline constexpr bool kIsTask<Task<R>> = true;

}  // namespace shoal::runtime
