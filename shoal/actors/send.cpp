// SPDX-License-Identifier: Apache-2.0
#include <shoal/actors/send.hpp>

namespace shoal::actors::detail {

void refuse_foreign_thread() {
  comm::check_failed("a PE runs on this thread",
                     "a send from a thread that is no PE: let an actor send");
}

}  // namespace shoal::actors::detail
