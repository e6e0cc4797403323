// wait_group.cpp: waiting for a while.
// SPDX-License-Identifier: MIT
#include <tandem/wait_group.hpp>

#include <tandem/environment.hpp>
#include <tandem/errors.hpp>

namespace tandem::inline v0 {

task<bool> wait_group::wait_until_stopped() {
  try {
    co_await wait();
    co_return true;
  } catch (const operation_cancelled&) {
    // The environment is that of with_timeout; what lies above is the caller's.
    const stop_reason callers = current_environment()->parent()->stop().reason();
    if (callers != stop_reason::none) throw operation_cancelled(callers);
    co_return false;
  }
}

}  // namespace tandem::inline v0
