// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/log.hpp>
#include <shoal/runtime/fiber.hpp>
#include <shoal/runtime/pooled.hpp>

#include <boost/context/detail/fcontext.hpp>

#include <cxxabi.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#define SHOAL_ASAN 1
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define SHOAL_TSAN 1
#include <sanitizer/tsan_interface.h>
#endif

namespace shoal::runtime {

namespace context = boost::context::detail;

namespace {
// What the sanitizers must know of a switch: which stack is entered, and where the one left was
// parked.
class SwitchNotes {
 public:
  SwitchNotes() {
#ifdef SHOAL_TSAN
    fiber_ = __tsan_create_fiber(0);
#endif
  }
  SwitchNotes(const SwitchNotes&) = delete;
  SwitchNotes& operator=(const SwitchNotes&) = delete;
  ~SwitchNotes() {
#ifdef SHOAL_TSAN
    __tsan_destroy_fiber(fiber_);
#endif
  }
  /// The frames of a fiber's last switch never return: what they poisoned must not outlive them.
  static void stack_is_free([[maybe_unused]] const Stack& stack) {
#ifdef SHOAL_ASAN
    __asan_unpoison_memory_region(stack.bottom, stack.size);
#endif
  }
  void before_enter([[maybe_unused]] const Stack& stack) {
#ifdef SHOAL_ASAN
    __sanitizer_start_switch_fiber(&scheduler_fake_, stack.bottom, stack.size);
#endif
#ifdef SHOAL_TSAN
    scheduler_ = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber_, 0);
#endif
  }
  void after_enter() {
#ifdef SHOAL_ASAN
    __sanitizer_finish_switch_fiber(scheduler_fake_, nullptr, nullptr);
#endif
  }
  void before_leave([[maybe_unused]] bool for_good) {
#ifdef SHOAL_ASAN
    __sanitizer_start_switch_fiber(for_good ? nullptr : &own_fake_, scheduler_bottom_,
                                   scheduler_size_);
#endif
#ifdef SHOAL_TSAN
    __tsan_switch_to_fiber(scheduler_, 0);
#endif
  }
  void arrived_inside() {
#ifdef SHOAL_ASAN
    __sanitizer_finish_switch_fiber(own_fake_, &scheduler_bottom_, &scheduler_size_);
#endif
  }

 private:
#ifdef SHOAL_ASAN
  void* scheduler_fake_ = nullptr;
  void* own_fake_ = nullptr;
  const void* scheduler_bottom_ = nullptr;
  std::size_t scheduler_size_ = 0;
#endif
#ifdef SHOAL_TSAN
  void* fiber_ = nullptr;
  void* scheduler_ = nullptr;
#endif
};

// The exceptions that are being handled: the language keeps them by thread, but a fiber may wait
// while it handles one. The first two members of __cxa_eh_globals (Itanium C++ ABI, 2.2.2).
struct HandledExceptions {
  void* caught = nullptr;
  unsigned uncaught = 0;

  void swap_with_thread() noexcept {
    auto* thread = reinterpret_cast<HandledExceptions*>(abi::__cxa_get_globals());
    std::swap(caught, thread->caught);
    std::swap(uncaught, thread->uncaught);
  }
};

void resume_fiber(Pe& pe, Message* message);

constexpr MessageType kFiberResumes{&resume_fiber, &drop_wait, &describe_wait, false};

// How often a fiber that is unwound may wait before its stack is given up.
constexpr unsigned kMostWaits = 1'000;

// The fiber that runs on this thread, for the report of a stack overflow.
thread_local FiberState* running_fiber = nullptr;
}  // namespace

class FiberState : public Pooled {
 public:
  struct FiberWaiter : Waiter {
    explicit FiberWaiter(FiberState& state) noexcept : Waiter(kFiberResumes), fiber(&state) {}
    FiberState* fiber;
  };

  FiberState(Pe& pe, const Activity& who, void (*what)(Fiber&, void*), void* with)
      : stack(pe.stacks().take()), waiter(*this), body(what), argument(with), next_(pe.fibers) {
    waiter.who = who;
    inside_ = context::make_fcontext(stack.bottom + stack.size, stack.size, &FiberState::main);
    if (next_ != nullptr) next_->previous_ = this;
    pe.fibers = this;
  }
  FiberState(const FiberState&) = delete;
  FiberState& operator=(const FiberState&) = delete;
  ~FiberState() {
    Pe& pe = this_pe();
    (previous_ != nullptr ? previous_->next_ : pe.fibers) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
    SwitchNotes::stack_is_free(stack);
    pe.stacks().give(stack);
  }

  /// From the scheduler into the fiber, until it blocks or ends. True: it has ended.
  bool enter() {
    Pe& pe = this_pe();
    FiberState* before = std::exchange(running_fiber, this);
    const std::byte* limit = std::exchange(pe.stack_limit, stack.bottom + stack.size / 2);
    exceptions_.swap_with_thread();
    notes_.before_enter(stack);
    inside_ = context::jump_fcontext(inside_, this).fctx;
    notes_.after_enter();
    exceptions_.swap_with_thread();
    pe.stack_limit = limit;
    running_fiber = before;
    return ended_;
  }
  /// From the fiber back to the scheduler. Throws if it is to end instead of going on.
  void leave() {
    notes_.before_leave(ended_);
    scheduler_ = context::jump_fcontext(scheduler_, nullptr).fctx;
    notes_.arrived_inside();
    if (unwinding_) throw FiberUnwound{};
  }
  /// It will never be resumed: destroys what its stack holds.
  void unwind(Pe& pe) {
    if (waiter.list != nullptr) waiter.list->remove(pe, waiter);
    unwinding_ = true;
    for (unsigned waits = 0; !enter(); ++waits) {  // again, in a destructor or a catch (...)
      if (waiter.list != nullptr) waiter.list->remove(pe, waiter);
      if (waits < kMostWaits) continue;
      pe.process().host->say(fmt::format(
          "the fiber of {} waits again and again although the program has ended: what its stack "
          "holds is not destroyed; let FiberUnwound pass through its catch (...)",
          pe.process().layer->describe(pe, waiter.who)));
      return;
    }
  }

  const Stack stack;
  FiberWaiter waiter;
  void (*body)(Fiber&, void*);
  void* argument;

 private:
  static void main(context::transfer_t from) {
    auto& self = *static_cast<FiberState*>(from.data);
    self.scheduler_ = from.fctx;
    self.notes_.arrived_inside();
    try {
      Fiber fiber{self};
      self.body(fiber, self.argument);
    } catch (const FiberUnwound&) {
      self.unwinding_ = false;  // its stack is empty now: all is done
    }
    self.ended_ = true;
    self.leave();
    std::abort();  // an ended fiber is never entered
  }

  SwitchNotes notes_;
  HandledExceptions exceptions_;  // those of whichever side does not run
  context::fcontext_t inside_ = nullptr;
  context::fcontext_t scheduler_ = nullptr;
  FiberState* previous_ = nullptr;
  FiberState* next_;
  bool unwinding_ = false;
  bool ended_ = false;
};

namespace {
void run_until_it_blocks(FiberState* fiber) {
  if (fiber->enter()) delete fiber;  // NOLINT: it lives as long as the entry it runs, across calls
}

void resume_fiber(Pe& pe, Message* message) {
  auto* waiter = static_cast<FiberState::FiberWaiter*>(message);
  --pe.counters.processed;  // no message of the program
  end_wait(pe, *waiter);
  run_until_it_blocks(waiter->fiber);
}

void on_fault(int signal_number, siginfo_t* info, void*) {
  const FiberState* fiber = running_fiber;
  const auto* at = static_cast<const std::byte*>(info->si_addr);
  if (fiber != nullptr && at >= fiber->stack.bottom - fiber->stack.guard &&
      at < fiber->stack.bottom) {
    ::alarm(5);  // naming the entry allocates: should the heap be the victim, die all the same
    Pe& pe = this_pe();
    comm::log_line(
        comm::Level::error,
        fmt::format("stack overflow in fiber of {} (size {} KiB): raise it with "
                    "--shoal-fiber-stack",
                    pe.process().layer->describe(pe, fiber->waiter.who), fiber->stack.size / 1024));
  }
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}
}  // namespace

Waiter& Fiber::waiter() noexcept {
  state_.waiter.service = false;
  state_.waiter.on = {};
  return state_.waiter;
}

void Fiber::block() { state_.leave(); }

void start_fiber(Pe& pe, const Activity& who, void (*body)(Fiber&, void*), void* argument) {
  run_until_it_blocks(new FiberState(pe, who, body, argument));  // NOLINT: see above
}

void unwind_fibers(Pe& pe) noexcept {
  while (FiberState* fiber = pe.fibers) {
    fiber->unwind(pe);
    delete fiber;  // NOLINT: see above
  }
}

void watch_stack_overflow() {
#if !defined(SHOAL_ASAN) && !defined(SHOAL_TSAN)
  constexpr std::size_t kSize = std::size_t{64} << 10U;
  thread_local const std::unique_ptr<std::byte[]> memory{
      new std::byte[kSize]};  // NOLINT: make_unique would fill it
  stack_t own{};
  own.ss_sp = memory.get();
  own.ss_size = kSize;
  ::sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_sigaction = &on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigaction(SIGSEGV, &action, nullptr);
  ::sigaction(SIGBUS, &action, nullptr);
#else
  (void)&on_fault;
#endif
}

}  // namespace shoal::runtime
