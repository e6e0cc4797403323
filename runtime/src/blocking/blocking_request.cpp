// blocking_request.cpp: awaiting a blocking call.
// SPDX-License-Identifier: MIT
#include <tandem/detail/blocking_request.hpp>

#include <exception>

#include <tandem/blocking.hpp>
#include <tandem/detail/clock_hold.hpp>
#include <tandem/detail/forked.hpp>
#include <tandem/runtime.hpp>

#include "blocking/blocking_pool.hpp"

namespace tandem::inline v0::detail {

constinit const wait_kind blocking_request::waits_for_call(
    &blocking_request::on_stop, "a blocking call", wait_end::system,
    [](const stop_waiter& wait, wait_note& note) noexcept {
      const auto& self = static_cast<const blocking_request&>(wait);
      self.pool_->implementation().describe(self, note);
    });

bool blocking_request::start(promise_base& waiting, outcome_base& result) noexcept {
  set_waiting(waiting);
  result_ = &result;
  tandem::runtime& owner = *waiting.env->runtime();
  try {
    refuse_if_forked(owner, "tandem::blocking");
    pool_ = &owner.use_service<blocking_pool>();
  } catch (...) {
    result.error = std::current_exception();
    return false;
  }
  if (!begin(waiting)) return false;  // blocking_calls/publish
  // Released when the task goes on: from the queueing to there a virtual clock sees nothing of it.
  held_clock_ = &owner;
  hold_clock(owner);
  blocking_pool::impl& pool = pool_->implementation();
  switch (pool.enqueue(*this)) {
    case blocking_pool::impl::admission::queued: return true;
    case blocking_pool::impl::admission::stopped: set_cancelled(); break;
    case blocking_pool::impl::admission::full: result.error = pool.too_many(); break;
  }
  return !finish_unposted();
}

std::exception_ptr blocking_request::failure_if_stopped() noexcept {
  if (held_clock_ != nullptr) release_clock(*std::exchange(held_clock_, nullptr));
  return failure_if_cancelled();
}

void blocking_request::resumed() {
  if (held_clock_ != nullptr) release_clock(*std::exchange(held_clock_, nullptr));
  throw_if_cancelled();
}

bool blocking_request::on_stop(stop_waiter& self) noexcept {
  auto& request = static_cast<blocking_request&>(self);
  if (request.pool_->implementation().remove(request)) request.finish_stopped();
  return true;
}

}  // namespace tandem::inline v0::detail
