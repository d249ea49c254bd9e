// SPDX-License-Identifier: Apache-2.0
// The problem: what a transport reads or fills must live until the transfer is done, and a program
// may end in the midst of one. Offered: a completion that its PE knows of, so that it runs once: at
// the latest, as failed, when the PE's port is gone.
#pragma once

#include <shoal/runtime/pe.hpp>

namespace shoal::runtime {

/// Belongs to the PE that makes it; `done` destroys it.
struct Transfer : comm::Completion {
  explicit Transfer(void (*done)(comm::Completion& self, bool succeeded) noexcept) noexcept
      : comm::Completion{done}, next_(this_pe().transfers) {
    if (next_ != nullptr) next_->previous_ = this;
    this_pe().transfers = this;
  }
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;
  ~Transfer() {
    (previous_ != nullptr ? previous_->next_ : this_pe().transfers) = next_;
    if (next_ != nullptr) next_->previous_ = previous_;
  }

 private:
  Transfer* previous_ = nullptr;
  Transfer* next_;
};

}  // namespace shoal::runtime
