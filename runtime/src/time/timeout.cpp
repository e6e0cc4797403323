// timeout.cpp: an environment whose stop a timer requests.
// SPDX-License-Identifier: MIT
#include <tandem/runtime.hpp>
#include <tandem/timeout.hpp>

namespace tandem::inline v0::detail {

constinit const environment_kind timeout_scope::surrounds_limited(
    "with_timeout", false,
    [](const environment& of, wait_note& note) noexcept {
      const auto& self = *static_cast<const timeout_scope*>(of.part());
      // time_point::min(): it was over before it began.
      note.until_ns = self.deadline().time_since_epoch().count();
    },
    nullptr, nullptr, [](const environment& of) noexcept { of_environment(of).arm(); },
    [](const environment& of) noexcept { return of_environment(of).is_asked_again(); });

timeout_scope::timeout_scope(clock::time_point deadline, border_kind kind) noexcept
    : border(kind), timer_node(&timeout_scope::on_fire) {
  set_deadline(deadline);
}

timeout_scope::timeout_scope(timeout_scope&& other) noexcept
    : border(std::move(other)), timer_node(std::move(other)) {}

bool timeout_scope::start(promise_base& child, promise_base& parent,
                          outcome_base& result) noexcept {
  timer_service& timers = timers_of(*parent.env->runtime());
  // What is closed is a clean-up: it runs, too, if nobody could end it.
  if (!timers.is_driven() && !is_closed() && deadline() != clock::time_point::min()) [[unlikely]] {
    refuse(child, result);
    return false;
  }
  return start_at(parent.home, child, parent, result);
}

bool timeout_scope::start_at(executor* home, promise_base& child, promise_base& parent,
                             outcome_base& result) noexcept {
  parent_ = &parent;
  open(parent, surrounds_limited, this);
  prepare(child, parent, result, &timeout_scope::on_child_final, this);
  if (deadline() == clock::time_point::min()) env_.stop().request_stop(stop_reason::deadline);
  thread_context& context = this_thread();
  if (home != parent.home) [[unlikely]] {
    child.home = home;
    child.post();
    return true;
  }
  if (too_deep(context)) [[unlikely]] {
    context.next = child.handle();  // calls/limit
    return true;
  }
  child.segment = context.segment;
  // Not ended: on_child_final() comes, or has come and gone, and so may this awaiter.
  if (!call(context, child)) return true;
  if (!stop_timer()) return true;
  close();
  context.env = parent.env;
  return false;
}

void timeout_scope::refuse(promise_base& child, outcome_base& result) noexcept {
  destroy_unstarted(child);
  try {
    timer_service::throw_not_driven();
  } catch (...) {
    result.error = std::current_exception();
  }
}

timeout_scope& timeout_scope::of_environment(const environment& of) noexcept {
  return *const_cast<timeout_scope*>(static_cast<const timeout_scope*>(of.part()));  // NOLINT
}

bool timeout_scope::stop_if_over() noexcept {
  if (deadline() > env_.runtime()->now()) return false;
  env_.stop().request_stop(stop_reason::deadline);
  return true;
}

bool timeout_scope::is_asked_again() noexcept {
  // Relaxed: only the clock is read once more, or the timer armed a little earlier.
  if (was_asked_.load(std::memory_order_relaxed)) return true;
  was_asked_.store(true, std::memory_order_relaxed);
  (void)stop_if_over();
  return false;
}

void timeout_scope::arm() noexcept {
  // timers/limit. By a frame below, before the child's end.
  if (stop_if_over()) return;
  timer_service& timers = timers_of(*env_.runtime());
  timers.prepare(*this);
  is_armed_ = true;
  (void)timers.arm(*this, deadline());  // nobody can have disarmed it
}

bool timeout_scope::stop_timer() noexcept {
  if (!is_armed_) return true;
  if (timers_of(*env_.runtime()).disarm(*this)) return true;
  // timers/limit. The expiry runs or has run; acq_rel pairs with on_fire.
  return handed_.exchange(true, std::memory_order_acq_rel);
}

std::coroutine_handle<> timeout_scope::on_child_final(const ended_frame& child) noexcept {
  auto& self = *static_cast<timeout_scope*>(child.link);
  promise_base& parent = *self.parent_;
  if (!self.stop_timer()) return std::noop_coroutine();
  return self.leave(parent, child.home);
}

void timeout_scope::on_fire(timer_node& node, fired_timers& batch) noexcept {
  auto& self = static_cast<timeout_scope&>(node);
  self.env_.stop().request_stop(stop_reason::deadline);
  if (self.handed_.exchange(
          true,
          std::memory_order_acq_rel)) {  // timers/limit: the child has ended meanwhile
    promise_base& parent = *self.parent_;
    self.close();
    batch.resume(parent);
  }
}

}  // namespace tandem::inline v0::detail
