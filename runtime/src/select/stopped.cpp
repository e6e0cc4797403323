// stopped.cpp: a wait that a stop is for.
// SPDX-License-Identifier: MIT
#include <tandem/stopped.hpp>

namespace tandem::inline v0 {

constinit const detail::wait_kind stopped_awaiter::waits_for_stop(&stopped_awaiter::on_stop,
                                                                  "a stop");

stopped_awaiter::stopped_awaiter() noexcept : leaf(waits_for_stop) {}

bool stopped_awaiter::on_stop(stop_waiter& self) noexcept {
  // Not cancelled: it is what was waited for. The stopper is the second holder.
  (void)self.hand_over();
  return true;
}

bool stopped_awaiter::select_arm(detail::select_place& as) noexcept {
  join(as);
  as.of->stop_is(as.index);
  return false;
}

}  // namespace tandem::inline v0
