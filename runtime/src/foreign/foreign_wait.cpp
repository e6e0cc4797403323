// foreign_wait.cpp: the steps of an await that foreign code ends. Protocol foreign_waits: README.md beside this.
// SPDX-License-Identifier: MIT
#include <tandem/detail/foreign_wait.hpp>

#include <utility>

#include <tandem/detail/clock_hold.hpp>
#include <tandem/detail/foreign_home.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/environment.hpp>

namespace tandem::inline v0::detail {

constinit const wait_kind foreign_wait::waits_for_call(
    &foreign_wait::on_stop, "a callback of another library", wait_end::system, nullptr,
    [](const stop_waiter& wait) noexcept -> const promise_base* {
      return static_cast<const foreign_wait&>(wait).waiting_;
    });

bool foreign_wait::listen(promise_base& waiting) noexcept {
  waiting_ = &waiting;
  held_clock_ = waiting.env->runtime();
  if (held_clock_ != nullptr) hold_clock(*held_clock_);
  if (waiting.env->stop().listen_in_await(*this)) return true;
  end_ = how::stopped;
  return false;
}

bool foreign_wait::started() noexcept {
  // foreign_waits/started. acq_rel: the outcome is there for whoever finishes; pairs with on_stop().
  const std::uint8_t before = word_.fetch_or(started_bit, std::memory_order_acq_rel);
  if ((before & stop_bit) != 0) {
    // The stopper's hold, which it left to us: nobody goes on before this.
    if (tell_stop_as_task() == told::yes && hand_over()) return true;
  }
  return (before & ended_bit) != 0 && finish_unposted();
}

bool foreign_wait::end_as(how ended) noexcept {
  end_ = ended;
  // foreign_waits/end
  const std::uint8_t before = word_.fetch_or(ended_bit, std::memory_order_acq_rel);
  return (before & started_bit) != 0 && finish_unposted();
}

void foreign_wait::end_and_post(how ended) noexcept {
  promise_base* const waiting = waiting_;
  if (end_as(ended)) waiting->post();
}

void foreign_wait::end_in_loop(how ended) noexcept {
  promise_base* const waiting = waiting_;
  if (!end_as(ended)) return;
  executor& home = *waiting->home;
  if (home.over_foreign_loop_ && static_cast<foreign_home&>(home).try_run(waiting)) return;
  waiting->post();
}

bool foreign_wait::finish_unposted() noexcept { return waiting_->env->stop().take_back(*this); }

bool foreign_wait::on_stop(stop_waiter& waiter) noexcept {
  auto& self = static_cast<foreign_wait&>(waiter);
  // foreign_waits/stop
  const std::uint8_t before = self.word_.fetch_or(stop_bit, std::memory_order_acq_rel);
  if ((before & started_bit) == 0) return false;
  return self.tell_stop_as_task() == told::yes;
}

void foreign_wait::told_stop() noexcept {
  promise_base* const waiting = waiting_;
  if (hand_over()) waiting->post();
}

foreign_wait::told foreign_wait::tell_stop_as_task() noexcept {
  // The foreign code belongs to this task: its clock, its context.
  thread_context& context = this_thread();
  environment* const interrupted = std::exchange(context.env, waiting_->env);
  const told answer = tell_stop();
  context.env = interrupted;
  return answer;
}

void foreign_wait::go_on(stop_listener& self) noexcept {
  static_cast<foreign_wait&>(self).waiting_->post();
}

void foreign_wait::resumed() {
  if (held_clock_ != nullptr) release_clock(*std::exchange(held_clock_, nullptr));
  if (start_failure_ != nullptr) std::rethrow_exception(std::exchange(start_failure_, nullptr));
}

bool foreign_wait::stop_came() const noexcept { return waiting_->env->stop().stop_requested(); }

bool foreign_wait::was_stopped() const noexcept {
  return end_ == how::stopped ||
         (end_ == how::dropped && waiting_->env->stop().reason() != stop_reason::none);
}

std::error_code foreign_wait::error() const noexcept {
  if (was_stopped()) return make_error_code(waiting_->env->stop().reason());
  return make_error_code(errc::callback_dropped);
}

void foreign_wait::throw_error(const char* dropped) const {
  const std::error_code code = error();
  if (code != make_error_code(errc::callback_dropped)) {
    throw operation_cancelled(waiting_->env->stop().reason());
  }
  throw std::system_error(code, dropped);
}

}  // namespace tandem::inline v0::detail
