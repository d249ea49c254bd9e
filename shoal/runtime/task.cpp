// SPDX-License-Identifier: Apache-2.0
#include <shoal/runtime/task.hpp>

namespace shoal::runtime {

void TaskList::clear() noexcept {
  while (TaskPromiseBase* task = first_) {
    task->unlink();
    task->waiter.handle.destroy();
  }
}

TaskPromiseBase::~TaskPromiseBase() {
  unlink();
  if (waiter.list != nullptr) waiter.list->remove(this_pe(), waiter);
}

void TaskPromiseBase::unlink() noexcept {
  if (owner_ == nullptr) return;
  (previous_ != nullptr ? previous_->next_ : owner_->first_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
  owner_ = nullptr;
  previous_ = next_ = nullptr;
}

namespace {
constexpr unsigned kDeepest = 32;  // frames destroyed within each other's destruction
// Of this thread; both are as they were when `destroy` returns.
constinit thread_local unsigned depth = 0;
constinit thread_local Waiter* postponed = nullptr;
}  // namespace

void TaskPromiseBase::destroy(std::coroutine_handle<> self) noexcept {
  if (depth == kDeepest) {
    waiter.handle = self;
    waiter.next_same = std::exchange(postponed, &waiter);
    return;
  }
  ++depth;
  self.destroy();
  --depth;
  while (depth == 0 && postponed != nullptr) {
    auto& next = static_cast<CoroutineWaiter&>(*postponed);
    postponed = next.next_same;
    depth = 1;
    next.handle.destroy();
    depth = 0;
  }
}

void TaskPromiseBase::detach(std::coroutine_handle<> self) {
  Pe& pe = this_pe();
  if (self.done()) {  // ended by an exception that nobody asked for
    pe.process().layer->unhandled(pe, waiter.who, std::exchange(error, nullptr));
    self.destroy();
    return;
  }
  waiter.handle = self;
  TaskList& list = pe.process().layer->owner_of(pe, waiter.who);
  owner_ = &list;
  next_ = list.first_;
  if (next_ != nullptr) next_->previous_ = this;
  list.first_ = this;
}

bool TaskPromiseBase::ended() noexcept {
  if (owner_ == nullptr) {
    awaited_by.wake_all(this_pe());
    return false;
  }
  if (error) {
    Pe& pe = this_pe();
    pe.process().layer->unhandled(pe, waiter.who, std::exchange(error, nullptr));
  }
  return true;
}

}  // namespace shoal::runtime
