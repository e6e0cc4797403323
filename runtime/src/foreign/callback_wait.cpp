// callback_wait.cpp: an awaited callback. Protocol callbacks: README.md beside this.
// SPDX-License-Identifier: MIT
#include <tandem/detail/callback_wait.hpp>

#include <utility>

namespace tandem::inline v0::detail {

bool callback_wait::start(promise_base& waiting, callback_target& self) noexcept {
  try {
    ticket_ = take_callback_slot(self, callback_use::once);
  } catch (...) {
    start_failure_ = std::current_exception();
    return false;
  }
  if (!listen(waiting)) {
    (void)try_claim_callback(ticket_);  // nobody knows it
    return false;
  }
  try {
    call_start(ticket_);
  } catch (...) {
    start_failure_ = std::current_exception();
    if (try_claim_callback(ticket_)) end_and_post(how::refused);
  }
  return !started();
}

foreign_wait::told callback_wait::tell_stop() noexcept {
  if (!is_abandonable()) {
    call_on_stop();
  } else if (try_claim_callback(ticket_)) {
    end_and_post(how::stopped);
  }
  return told::yes;
}

void callback_wait::resumed() {
  if (ticket_) give_callback_slot_back(std::exchange(ticket_, {}));
  foreign_wait::resumed();
}

void callback_wait::throw_error() const {
  foreign_wait::throw_error(
      "tandem::from_callback: the last copy of the callback was destroyed, or its destroy-notify "
      "was called, before anybody called it");
}

}  // namespace tandem::inline v0::detail
