// timeout.cpp: an environment whose stop a timer requests.
// SPDX-License-Identifier: MIT
#include <tandem/runtime.hpp>
#include <tandem/timeout.hpp>

namespace tandem::inline v0::detail {

timeout_scope::timeout_scope(clock::time_point deadline) noexcept
    : timer_node(&timeout_scope::on_fire), deadline_(deadline) {}

timeout_scope::timeout_scope(timeout_scope&& other) noexcept
    : timer_node(std::move(other)), deadline_(other.deadline_) {}

void timeout_scope::start(promise_base& child, promise_base& parent) noexcept {
  parent_ = &parent;
  env_.start_below(*parent.env);
  child.inherit(parent);
  child.env = &env_;
  child.on_final = &timeout_scope::on_child_final;
  child.link = this;
  this_thread().env = &env_;
  timer_service& timers = timers_of(*env_.runtime());
  timers.prepare(*this);
  (void)timers.arm(*this, deadline_);  // nobody can have disarmed it: the child has not begun
}

std::coroutine_handle<> timeout_scope::on_child_final(promise_base& child) noexcept {
  auto& self = *static_cast<timeout_scope*>(child.link);
  promise_base& parent = *self.parent_;
  if (!timers_of(*self.env_.runtime()).disarm(self)) {
    // T5. The expiry runs or has run; acq_rel pairs with on_fire.
    if (!self.handed_.exchange(true, std::memory_order_acq_rel)) return std::noop_coroutine();
  }
  self.env_.end();
  this_thread().env = parent.env;
  return continue_with(parent, child);
}

void timeout_scope::on_fire(timer_node& node) noexcept {
  auto& self = static_cast<timeout_scope&>(node);
  self.env_.stop().request_stop(stop_reason::deadline);
  if (self.handed_.exchange(true,
                            std::memory_order_acq_rel)) {  // T5: the child has ended meanwhile
    promise_base& parent = *self.parent_;
    self.env_.end();
    parent.post();
  }
}

}  // namespace tandem::inline v0::detail
