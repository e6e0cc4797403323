// callback_stream.cpp: the end of a stream of callbacks, and what it throws. Protocol callbacks: README.md beside this.
// SPDX-License-Identifier: MIT
#include <tandem/callback_stream.hpp>

#include <system_error>
#include <utility>

#include <tandem/detail/callback_door.hpp>
#include <tandem/detail/clock_hold.hpp>
#include <tandem/environment.hpp>
#include <tandem/errors.hpp>

namespace tandem::inline v0::detail {

void clock_held_for_callback::begin(promise_base& waiting) noexcept {
  held_ = waiting.env->runtime();
  if (held_ != nullptr) hold_clock(*held_);
}

void clock_held_for_callback::end() noexcept {
  if (held_ != nullptr) release_clock(*std::exchange(held_, nullptr));
}

bool callback_door::close(promise_base& waiting) noexcept {
  wait_.begin(waiting);
  waiting_ = &waiting;
  // callbacks/close. Claimed first: whoever finds it closed must not find it armed.
  const bool is_last_handle = try_claim_callback(ticket_);
  close_callbacks(ticket_);
  // What all handles count as: nobody else gives it back. Not the last, since the end counts, too.
  if (is_last_handle) (void)leave_callbacks(ticket_);
  return !leave_callbacks(ticket_);  // callbacks/leave
}

void callback_door::closed() noexcept {
  if (ticket_) give_callback_slot_back(std::exchange(ticket_, {}));
  wait_.end();
}

void throw_callback_overflow() {
  throw std::system_error(make_error_code(errc::callback_overflow),
                          "tandem::callback_stream: a callback came when the stream was full, and "
                          "its policy is overflow_policy::fail");
}

}  // namespace tandem::inline v0::detail
