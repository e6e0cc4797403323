// callback_wait.cpp: one awaited callback, from its start to its end. Protocol callbacks: README.md beside this.
// SPDX-License-Identifier: MIT
#include <tandem/detail/callback_wait.hpp>

#include <string>
#include <utility>

#include <tandem/detail/clock_hold.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/environment.hpp>

namespace tandem::inline v0::detail {

bool callback_wait::start(promise_base& waiting, callback_target& self) noexcept {
  waiting_ = &waiting;
  try {
    ticket_ = take_callback_slot(self, callback_use::once);
  } catch (...) {
    start_failure_ = std::current_exception();
    return false;
  }
  held_clock_ = waiting.env->runtime();
  if (held_clock_ != nullptr) hold_clock(*held_clock_);
  if (!waiting.env->stop().listen(*this)) {
    (void)try_claim_callback(ticket_);  // nobody knows it
    end_ = how::stopped;
    return false;
  }
  try {
    call_start(ticket_);
  } catch (...) {
    start_failure_ = std::current_exception();
    if (try_claim_callback(ticket_)) end_as(how::refused);
  }
  phase seen = phase::starting;
  // callbacks/stop. acq_rel: pairs with on_stop().
  if (!phase_.compare_exchange_strong(seen, phase::started, std::memory_order_acq_rel)) {
    stop_now();
    (void)hand_over();  // the stopper's hold, which it left to us; the end is still to come
  }
  // callbacks/end
  if (!one_is_done_.exchange(true, std::memory_order_acq_rel)) return true;
  return !finish_unposted();
}

void callback_wait::called() noexcept { end_as(how::called); }

void callback_wait::dropped() noexcept { end_as(how::dropped); }

void callback_wait::end_as(how ended) noexcept {
  end_ = ended;
  promise_base* const waiting = waiting_;
  // callbacks/end. acq_rel: the outcome is there for whoever finishes.
  if (one_is_done_.exchange(true, std::memory_order_acq_rel) && finish_unposted()) waiting->post();
}

bool callback_wait::finish_unposted() noexcept {
  return waiting_->env->stop().withdraw(*this) || hand_over();
}

bool callback_wait::on_stop(stop_waiter& waiter) noexcept {
  auto& self = static_cast<callback_wait&>(waiter);
  phase seen = phase::starting;
  // callbacks/stop
  if (self.phase_.compare_exchange_strong(seen, phase::stop_came, std::memory_order_acq_rel)) {
    return false;
  }
  self.stop_now();
  return true;
}

void callback_wait::stop_now() noexcept {
  if (is_abandonable()) {
    if (try_claim_callback(ticket_)) end_as(how::stopped);
    return;
  }
  // The foreign code belongs to this task: its clock, its context.
  thread_context& context = this_thread();
  environment* const interrupted = std::exchange(context.env, waiting_->env);
  tell_stop();
  context.env = interrupted;
}

void callback_wait::go_on(stop_listener& self) noexcept {
  static_cast<callback_wait&>(self).waiting_->post();
}

void callback_wait::resumed() {
  if (ticket_) give_callback_slot_back(std::exchange(ticket_, {}));
  if (held_clock_ != nullptr) release_clock(*std::exchange(held_clock_, nullptr));
  if (start_failure_ != nullptr) std::rethrow_exception(std::exchange(start_failure_, nullptr));
}

std::error_code callback_wait::error() const noexcept {
  const stop_reason reason = waiting_->env->stop().reason();
  if (end_ == how::stopped || (end_ == how::dropped && reason != stop_reason::none)) {
    return make_error_code(reason);
  }
  return make_error_code(errc::callback_dropped);
}

void callback_wait::throw_error() const {
  const std::error_code code = error();
  if (code != make_error_code(errc::callback_dropped)) {
    throw operation_cancelled(waiting_->env->stop().reason());
  }
  throw std::system_error(code,
                          "tandem::from_callback: the last copy of the callback was destroyed, or "
                          "its destroy-notify was called, before anybody called it");
}

}  // namespace tandem::inline v0::detail
