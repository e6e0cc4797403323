// shared_call.cpp: how shared work begins, ends, and is given up.
// SPDX-License-Identifier: MIT
#include <tandem/detail/shared_call.hpp>

#include <tandem/detail/admission.hpp>
#include <tandem/environment.hpp>
#include <tandem/errors.hpp>
#include <tandem/runtime.hpp>
#include <tandem/stop.hpp>

#include "process/suppressed.hpp"
#include "sync/suspend.hpp"

namespace tandem::inline v0::detail {

namespace {

constexpr wait_kind waits_for_shared_call(
    &waiter::on_stop, "a shared task", wait_end::anybody,
    [](const stop_waiter& wait, wait_note& note) noexcept {
      note.object = &static_cast<const waiter&>(wait).word();  // a call begins with its word
    });
constexpr auto is_done_in = [](lock_word::word state) { return (state & lock_word::one) != 0; };

}  // namespace

shared_call_base::~shared_call_base() { delete work_; }

bool shared_call_base::hold_if_held() noexcept {
  std::uint32_t seen = holders_.load(std::memory_order_relaxed);  // a guess: the CAS decides
  do {
    if (seen == 0) return false;
    // Relaxed: as hold(); whoever finds the call has met its owner under a lock.
  } while (!holders_.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed));
  return true;
}

void shared_call_base::leave() noexcept {
  // shared_calls/leave. acq_rel: the last one sees work_, which another holder may have written.
  if (holders_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (work_ != nullptr && !is_done()) (void)work_->cancel(stop_reason::parent);
  drop();
}

bool shared_call_base::claim_begin() noexcept {
  lock_word::word seen = word_.load();
  while ((seen & (begun | lock_word::locked)) == 0) {
    if (word_.change(seen, seen | begun)) return true;
  }
  if ((seen & begun) != 0) return false;
  seen = word_.lock();  // somebody is just entering the list
  word_.unlock(seen | begun);
  return (seen & begun) == 0;
}

void shared_call_base::launch(executor& home) {
  tandem::runtime& owner = current_runtime("a shared_task");
  admission place(home);
  work_ = new shared_work(owner, home, release_body(), room(), *this, where_);
  references_.fetch_add(1, std::memory_order_relaxed);  // by a holder: there is one
  // shared_calls/begin: the holder who does this has not left, so nobody cancels before.
  work_->launch(nullptr);
  place.keep();
}

void shared_call_base::begin(executor& home) noexcept {
  if (!claim_begin()) return;
  try {
    launch(home);
  } catch (...) {
    room().error = std::current_exception();
    conclude();
  }
}

std::coroutine_handle<> shared_work::ended() noexcept {
  shared_call_base& call = *call_;
  if (removed()) {
    const stop_reason why = env_block().stop().reason();
    call.room().error = cancellation(why == stop_reason::none ? stop_reason::discarded : why);
  }
  call.conclude();
  call.drop();  // we may be gone
  return std::noop_coroutine();
}

void shared_call_base::drop() noexcept {
  // acq_rel: whoever frees it sees all that others have written.
  if (references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  report_unseen();
  delete this;
}

void shared_call_base::conclude() noexcept {
  const lock_word::word state = word_.lock();
  waiter* const all = waiting_.take_all();             // waiting/grant
  word_.unlock((state & ~lock_word::waiters) | done);  // shared_calls/done
  taken_list::wake(all);
}

void shared_call_base::report_unseen() noexcept {
  const std::exception_ptr& failure = room().error;
  // Relaxed: ordered by the references.
  if (failure == nullptr || is_seen_.load(std::memory_order_relaxed) || is_cancellation(failure)) {
    return;
  }
  const environment* const env = current_environment();
  suppressed(env != nullptr ? env->runtime()->options() : runtime_options(), failure);
}

std::exception_ptr shared_wait::await_failure() noexcept {
  if (std::exception_ptr stopped = room_.failure_if_cancelled()) return stopped;
  std::exception_ptr failure = of_->room().error;  // a copy: others get it, too
  if (failure != nullptr) of_->is_seen_.store(true, std::memory_order_relaxed);
  return failure;
}

void shared_wait::hold() noexcept {
  if (!std::exchange(is_holder_, true)) of_->hold();
}

bool shared_wait::start(promise_base& waiting) noexcept {
  // Who is stopped already begins nothing.
  if (!of_->is_done() && !waiting.env->stop().stop_requested()) {
    hold();
    of_->begin(*waiting.home);
  }
  return suspend(room_, waits_for_shared_call, of_->word_, of_->waiting_, waiting, is_done_in,
                 same_word);
}

bool shared_wait::select_arm(select_place& as) noexcept {
  hold();
  if (arm(room_, as, waits_for_shared_call, of_->word_, of_->waiting_, is_done_in, same_word)) {
    return true;
  }
  of_->begin(*room_.get().waiting().home);
  return false;
}

}  // namespace tandem::inline v0::detail
