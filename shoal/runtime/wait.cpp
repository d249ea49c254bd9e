// SPDX-License-Identifier: Apache-2.0
#include <shoal/runtime/pe.hpp>
#include <shoal/runtime/wait.hpp>

namespace shoal::runtime {

namespace {
Activity describe_waiter(const Message& message) noexcept {
  return static_cast<const Waiter&>(message).who;
}

void resume_coroutine(Pe& pe, Message* message) {
  auto* waiter = static_cast<CoroutineWaiter*>(message);
  --pe.counters.processed;  // no message of the program
  end_wait(pe, *waiter);
  waiter->handle.resume();
}

// The coroutine stays suspended; its owner destroys it.
void drop_waiter(Pe& pe, Message* message) noexcept {
  end_wait(pe, *static_cast<Waiter*>(message));
}
}  // namespace

CoroutineWaiter::CoroutineWaiter() noexcept : Waiter(kType) {}

constexpr MessageType CoroutineWaiter::kType{&resume_coroutine, &drop_waiter, &describe_waiter,
                                             false};

Activity describe_wait(const Message& message) noexcept { return describe_waiter(message); }
void drop_wait(Pe& pe, Message* message) noexcept { drop_waiter(pe, message); }

void WaitList::add(Pe& pe, Waiter& waiter) noexcept {
  waiter.next_same = nullptr;
  waiter.previous_same = last_;
  waiter.list = this;
  (last_ != nullptr ? last_->next_same : first_) = &waiter;
  last_ = &waiter;
  begin_wait(pe, waiter);
}

void WaitList::wake_all(Pe& pe) noexcept {
  Waiter* waiter = first_;
  first_ = last_ = nullptr;
  while (waiter != nullptr) {
    Waiter* next = waiter->next_same;
    waiter->list = nullptr;
    if (pe.stopped()) {
      end_wait(pe, *waiter);  // never resumed: it may be destroyed before the queue is
    } else {
      pe.enqueue(waiter);
    }
    waiter = next;
  }
}

void WaitList::remove(Pe& pe, Waiter& waiter) noexcept {
  (waiter.previous_same != nullptr ? waiter.previous_same->next_same : first_) = waiter.next_same;
  (waiter.next_same != nullptr ? waiter.next_same->previous_same : last_) = waiter.previous_same;
  waiter.list = nullptr;
  end_wait(pe, waiter);
}

}  // namespace shoal::runtime
