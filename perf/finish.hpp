// SPDX-License-Identifier: Apache-2.0
#pragma once

// How Shoal's programs of perf/ know that a stretch of messages has ended: an actor that is told by
// each part when it is done, and that one task waits for.

#include <shoal/shoal.hpp>

#include <cstdint>
#include <optional>

namespace perf {

class Finish : public shoal::Actor<Finish> {
 public:
  // Ends when `parts` calls of one() have come, before this call or after it. One task at a time.
  shoal::Task<> all(std::int64_t parts) {
    left_ += parts;
    if (left_ > 0) {
      done_.emplace();
      co_await done_->future();
    }
  }
  void one() {
    if (--left_ == 0 && done_) done_->set();
  }

 private:
  std::int64_t left_ = 0;
  std::optional<shoal::Promise<void>> done_;
};

using FinishProxy = shoal::ElementProxy<Finish>;

}  // namespace perf
