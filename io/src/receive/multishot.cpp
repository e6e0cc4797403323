// multishot.cpp: from the completion thread to the task that waits. Protocol receiving: io/src/receive/README.md.
// SPDX-License-Identifier: MIT
#include "receive/multishot.hpp"

#include <cerrno>

#include <tandem/detail/forked.hpp>

#include "engine/completion_engine.hpp"
#include "platform/descriptor.hpp"

namespace tandem::inline v0::io::detail {

namespace {

using tandem::detail::leaf;

// receiving/wait: what `waiter_` holds beside null and a leaf that waits. None is ever followed.
leaf* mark(std::uintptr_t bits) noexcept { return reinterpret_cast<leaf*>(bits); }  // NOLINT
leaf* const stopped_mark = mark(2);  // a stop has come while nobody waited
leaf* const noted_mark = mark(4);    // something has come while the strand was looking
constexpr std::uintptr_t looking_bit = 1;
static_assert(alignof(leaf) > 4);

leaf* looking(leaf& waiter) noexcept {
  return mark(reinterpret_cast<std::uintptr_t>(&waiter) | looking_bit);  // NOLINT
}
bool is_looking(leaf* word) noexcept {
  return (reinterpret_cast<std::uintptr_t>(word) & looking_bit) != 0;  // NOLINT
}
bool is_leaf(leaf* word) noexcept {
  return word != nullptr && word != stopped_mark && word != noted_mark && !is_looking(word);
}

}  // namespace

multishot::multishot(kind what, completion_thread::impl& thread,
                     native_descriptor descriptor) noexcept
    : multishot_source(what, descriptor),
      thread_(&thread),
      arm_request_(&multishot::run_arm, *this),
      close_request_(&multishot::run_close, *this) {}

void multishot::queue_shrank() noexcept {
  // receiving/hold_back: the kernel is asked again at half of the limit. moving/old_buffers.
  // Release: what was taken is taken.
  const std::uint32_t taken = taken_.load(std::memory_order_relaxed) + 1;
  taken_.store(taken, std::memory_order_release);
  if (put_.load(std::memory_order_relaxed) - taken < queue_limit / 2) ask_to_arm();
}

void multishot::ask_to_arm() noexcept {
  // Relaxed look: wait() and nothing_came() look in order (receiving/wait).
  if (!idle_.load(std::memory_order_relaxed) || !idle_.exchange(false, std::memory_order_seq_cst))
    return;
  completion_thread::impl* const thread = thread_.load(std::memory_order_acquire);
  if (thread == nullptr) return;  // nothing comes any more
  if (thread->is_current()) {
    arm();
  } else {
    thread->post_request(&arm_request_);
  }
}

multishot::wait_answer multishot::wait(leaf& waiter) noexcept {
  // receiving/wait. First we say that we look, then we look; the owner first says what it has, then
  // looks for us. seq_cst, all four. As long as we look nobody resumes the task, so all this is
  // still there.
  leaf* const looks = looking(waiter);
  leaf* seen = nullptr;
  if (!waiter_.compare_exchange_strong(seen, looks, std::memory_order_seq_cst)) {
    return wait_answer::stopped;  // on_stop came before us
  }
  while (true) {
    if (idle_.load(std::memory_order_seq_cst)) ask_to_arm();
    const bool is_ready = has_arrived() || end_.load(std::memory_order_seq_cst) != open_ended;
    seen = looks;
    if (waiter_.compare_exchange_strong(seen, is_ready ? nullptr : &waiter,
                                        std::memory_order_seq_cst)) {
      return is_ready ? wait_answer::ready : wait_answer::waits;  // if it waits, we may be gone
    }
    // Something has come meanwhile: we look again. Or a stop has.
    if (seen == stopped_mark ||
        !waiter_.compare_exchange_strong(seen, looks, std::memory_order_seq_cst)) {
      return wait_answer::stopped;
    }
  }
}

bool multishot::remove(leaf& waiter) noexcept {
  // Not there yet, looking, or gone already: leave word.
  leaf* seen = waiter_.load(std::memory_order_relaxed);
  while (!waiter_.compare_exchange_weak(seen, seen == &waiter ? nullptr : stopped_mark,
                                        std::memory_order_seq_cst, std::memory_order_relaxed)) {}
  return seen == &waiter;
}

void multishot::forget_stop() noexcept {
  // Relaxed: whoever left word has ended before the task was resumed.
  if (waiter_.load(std::memory_order_relaxed) == stopped_mark) {
    waiter_.store(nullptr, std::memory_order_relaxed);
  }
}

void multishot::arm() noexcept {
  if (closing_) {  // receiving/close: it waited for this request
    finish_close();
    return;
  }
  completion_thread::impl& thread = *owner();
  if (thread.is_moving()) {
    thread.defer(arm_request_);  // moving/cancel
    return;
  }
  if (!prepare_to_arm(thread.engine().ring().stock())) return;
  holding_back_ = false;
  thread.sources().keep(*this);
  armed_ = thread.engine().ring().arm(*this);
  if (!armed_) nothing_came(-ENOMEM, false, true);
}

void multishot::becomes_idle() noexcept {
  idle_.store(true, std::memory_order_seq_cst);  // receiving/wait
  // Whoever waits for more has found it not idle.
  leaf* const waiter = waiter_.load(std::memory_order_seq_cst);
  if (waiter != nullptr && waiter != stopped_mark) ask_to_arm();
}

void multishot::run_arm(job* self) noexcept { static_cast<request*>(self)->target->arm(); }

bool multishot::begin_received(bool armed) noexcept {
  armed_ = armed;
  return closing_;
}

void multishot::queue_grew(bool armed) noexcept {
  if (closing_) {
    if (!armed) finish_close();
    return;
  }
  if (queued() >= queue_limit) hold_back();  // receiving/hold_back
  // receiving/wait: whoever waits is woken below
  if (!armed) idle_.store(true, std::memory_order_seq_cst);
  wake_waiter();
}

void multishot::nothing_came(std::int32_t outcome, bool armed, bool ended) noexcept {
  if (closing_) {
    if (!armed) finish_close();
    return;
  }
  if (ended) {
    end_.store(outcome, std::memory_order_seq_cst);  // receiving/wait, receiving/end
    wake_waiter();
  } else if (!armed) {
    becomes_idle();
  }
}

void multishot::wake_waiter() noexcept {
  leaf* waiter = waiter_.load(std::memory_order_seq_cst);  // receiving/wait
  while (is_looking(waiter)) {
    if (waiter_.compare_exchange_weak(waiter, noted_mark, std::memory_order_seq_cst)) return;
  }
  if (!is_leaf(waiter) ||
      !waiter_.compare_exchange_strong(waiter, nullptr, std::memory_order_seq_cst)) {
    return;
  }
  // Now it stands still. It may have taken what we put before it began to wait: then it goes on
  // waiting. What it has taken is gone for us, too: it said so before it began to wait.
  if (!has_arrived() && end_.load(std::memory_order_relaxed) == open_ended) {
    leaf* seen = nullptr;
    if (waiter_.compare_exchange_strong(seen, waiter, std::memory_order_seq_cst)) {
      ask_to_arm();  // receiving/hold_back: it may have become idle after the waiter looked
      return;
    }
    // A stop found nobody, and has left word: with nothing there the await ends as stopped.
  }
  tandem::detail::promise_base& task = waiter->waiting();
  completion_thread::impl& thread = *owner();
  if (waiter->end_unposted()) {
    thread.resume(task);
  } else {
    thread.resumed_elsewhere();  // ring_sleep/clock: a stop request resumes the task
  }
}

bool multishot::is_parents() const noexcept {
  const completion_thread::impl* const thread = thread_.load(std::memory_order_acquire);
  return thread != nullptr && tandem::detail::is_forked(*thread->owner());  // pairs with leave()
}

void multishot::close() noexcept {
  completion_thread::impl* const thread = thread_.load(std::memory_order_acquire);
  if (thread == nullptr) {  // pairs with leave()
    closing_ = true;
    finish_close();
  } else if (thread->is_current()) {
    run_close(&close_request_);
  } else {
    thread->post(&close_request_, post_kind::spawn);
  }
}

void multishot::run_close(job* job) noexcept {
  multishot& self = *static_cast<request*>(job)->target;
  self.closing_ = true;
  if (self.armed_) {
    // receiving/close. The last completion finishes it.
    self.hold_back();
  } else if (self.give_up() || self.end_.load(std::memory_order_relaxed) != open_ended ||
             self.idle_.exchange(false, std::memory_order_acquire)) {
    // Else a request to arm it is still to come, and finishes it.
    self.finish_close();
  }
}

void multishot::hold_back() noexcept {
  if (!armed_ || holding_back_) return;
  holding_back_ = true;
  owner()->engine().ring().disarm(*this);
}

void multishot::finish_close() noexcept {
  idle_.store(false, std::memory_order_relaxed);  // nothing is armed any more
  drop_queue();
  platform::close(descriptor());
  if (completion_thread::impl* const thread = owner()) thread->sources().forget(*this);
  delete this;
}

}  // namespace tandem::inline v0::io::detail
