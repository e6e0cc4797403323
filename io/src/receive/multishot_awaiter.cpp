// multishot_awaiter.cpp: the wait for a receiver's buffer, or for an acceptor's connection.
// SPDX-License-Identifier: MIT
#include <cerrno>
#include <system_error>
#include <tandem/detail/clock_hold.hpp>
#include <tandem/io/detail/multishot_awaiter.hpp>

#include "engine/completion_engine.hpp"
#include "operation/descriptor_note.hpp"
#include "platform/error_number.hpp"
#include "receive/multishot.hpp"

namespace tandem::inline v0::io::detail {

constinit const tandem::detail::wait_kind multishot_awaiter::waits_for_arrival(
    &multishot_awaiter::on_stop, "I/O", tandem::detail::wait_end::system,
    [](const stop_waiter& wait, tandem::detail::wait_note& note) noexcept {
      const auto& self = static_cast<const multishot_awaiter&>(wait);
      note_descriptor(note, self.name(), self.socket_->descriptor());
      note.thread = static_cast<int>(self.socket_->thread()->index());
    });

multishot_awaiter::multishot_awaiter(socket& target) noexcept
    : leaf(waits_for_arrival), socket_(&target) {}

bool multishot_awaiter::start(tandem::detail::promise_base& waiting) {
  if (!socket_->is_open()) {
    end_ = -EBADF;
    has_outcome_ = true;
    return false;
  }
  socket::side_user* side = &socket_->user(socket_side::taking);
  if (side->load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
    end_ = socket_->refuse_second(side, name(), waiting);
    has_outcome_ = true;
    return false;
  }
  set_waiting(waiting);
  if (waiting.env->stop().stop_requested()) {
    set_cancelled();
    return false;
  }
  // spreading/settle. Not of a listener, which serves nobody.
  if (!socket_->listens() && completion_engine::current() != nullptr) {
    socket_->record().place.settle();
  }
  if (socket_->source() == nullptr) {
    socket_->leave_side(socket_side::taking);
    socket_->set_source(*make_source());
    socket_->source()->ask_to_arm();
  }
  if (take()) {
    has_outcome_ = true;
    // A stream that never runs dry lets other tasks go first now and then.
    tandem::detail::thread_context& context = tandem::detail::this_thread();
    if (context.budget-- > 1) return false;
    context.budget = tandem::detail::await_budget;
    waiting.post(post_kind::yield);
    return true;
  }
  if (!begin(waiting)) return false;
  side->store(this, std::memory_order_relaxed);
  holds_ = true;
  tandem::detail::hold_clock(*waiting.env->runtime());  // ring_sleep/clock
  switch (socket_->source()->wait(*this)) {
    case multishot::wait_answer::waits: return true;  // we may be gone
    case multishot::wait_answer::ready:
      tandem::detail::release_clock(*waiting.env->runtime());
      break;
    case multishot::wait_answer::stopped: set_cancelled(); break;
  }
  return !finish_unposted();
}

bool multishot_awaiter::on_stop(stop_waiter& self) noexcept {
  auto& awaiter = static_cast<multishot_awaiter&>(self);
  if (awaiter.socket_->source()->remove(awaiter)) awaiter.finish_stopped();
  return true;
}

bool multishot_awaiter::fail(std::int32_t error) noexcept {
  end_ = error;
  has_outcome_ = true;
  return true;
}

bool multishot_awaiter::has_source() noexcept {
  if (socket_->source() != nullptr) return true;
  try {
    socket_->leave_side(socket_side::taking);
    socket_->set_source(*make_source());
  } catch (...) {
    return !fail(-ENOMEM);
  }
  socket_->source()->ask_to_arm();
  return true;
}

bool multishot_awaiter::select_try() noexcept {
  if (!socket_->is_open()) return fail(-EBADF);
  // Somebody else's: arming says so.
  if (socket_->user(socket_side::taking).load(std::memory_order_relaxed) != nullptr) return false;
  if (!socket_->listens() && completion_engine::current() != nullptr) {
    socket_->record().place.settle();  // spreading/settle
  }
  if (has_source()) has_outcome_ = take();
  return has_outcome_;
}

bool multishot_awaiter::select_arm(tandem::detail::select_place& as) noexcept {
  if (!socket_->is_open()) return fail(-EBADF);
  if (!has_source()) return true;
  join_later(as, &multishot_awaiter::let_go, tandem::detail::wait_end::system);
  socket::side_user* side = &socket_->user(socket_side::taking);
  if (side->load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
    not_armed();
    return fail(socket_->refuse_second(side, name(), waiting()));
  }
  side->store(this, std::memory_order_relaxed);
  holds_ = true;
  tandem::detail::hold_clock(*waiting().env->runtime());  // ring_sleep/clock
  while (true) {
    const multishot::wait_answer answer = socket_->source()->wait(*this);
    if (answer == multishot::wait_answer::waits) return false;
    if (answer == multishot::wait_answer::stopped) socket_->source()->forget_stop();
    if (!take()) continue;
    not_armed();
    release_side();
    tandem::detail::release_clock(*waiting().env->runtime());
    has_outcome_ = true;
    return true;
  }
}

bool multishot_awaiter::let_go(leaf& self) noexcept {
  auto& awaiter = static_cast<multishot_awaiter&>(self);
  if (!awaiter.socket_->source()->remove(awaiter)) return false;
  // ring_sleep/clock. Whoever lets it go is about to post the task.
  tandem::detail::release_clock(*awaiter.waiting().env->runtime());
  return true;
}

void multishot_awaiter::release_side() noexcept {
  socket_->user(socket_side::taking).store(nullptr, std::memory_order_relaxed);
  socket_->source()->forget_stop();
  holds_ = false;
}

void multishot_awaiter::select_disarm() noexcept {
  if (holds_) release_side();
}

void multishot_awaiter::select_reset() noexcept {
  if (holds_) release_side();
  has_outcome_ = false;
  end_ = 1;
}

void multishot_awaiter::finish_wait() noexcept {
  if (holds_) {
    socket_->user(socket_side::taking).store(nullptr, std::memory_order_relaxed);
    socket_->source()->forget_stop();
    holds_ = false;
    // ring_sleep/clock. A stop has posted the task, so the clock is still held for the wait.
    if (cancelled()) tandem::detail::release_clock(*waiting().env->runtime());
  }
  if (cancelled() || has_outcome_) return;
  has_outcome_ = take();
  if (!has_outcome_) set_cancelled();  // receiving/wait
}

std::error_code multishot_awaiter::finish_result() noexcept {
  finish_wait();
  if (cancelled()) return make_error_code(cancel_reason());
  if (end_ < 0) return platform::error_of(-end_);
  return {};
}

void multishot_awaiter::finish(const char* what) {
  const std::error_code error = finish_result();
  throw_if_cancelled();
  if (error) throw std::system_error(error, what);
}

}  // namespace tandem::inline v0::io::detail
