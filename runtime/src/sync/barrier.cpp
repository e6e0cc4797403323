// barrier.cpp: arriving, the end of a phase, and arrivals that are taken back.
// SPDX-License-Identifier: MIT
#include <tandem/barrier.hpp>

#include <mutex>

namespace tandem::inline v0 {

using detail::lock_word;

namespace detail {

constinit const wait_kind barrier_waiter::waits_for_others(&barrier_waiter::on_stop, "a barrier",
                                                           wait_end::anybody,
                                                           &barrier_waiter::describe);

barrier_waiter::barrier_waiter(barrier& target) noexcept
    : waiter(waits_for_others, target.word_, target.waiting_), target_(&target) {}

void barrier_waiter::describe(const stop_waiter& wait, wait_note& note) noexcept {
  const barrier& of = *static_cast<const barrier_waiter&>(wait).target_;
  note.object = &of;
  note.say("where %u of %zu have arrived", of.word_.load() / lock_word::one,
           of.expected_.load(std::memory_order_relaxed));  // about now
}

bool barrier_waiter::on_stop(stop_waiter& self) noexcept {
  auto& stopped = static_cast<barrier_waiter&>(self);
  barrier& of = *stopped.target_;
  // arrivals/take_back. Its task goes on only after this call.
  const std::lock_guard guard(of.lock_);
  const bool over = waiter::on_stop(self);
  if (stopped.cancelled()) {  // it was in the list
    const lock_word::word state = of.word_.lock();
    of.word_.unlock(state - lock_word::one);
  }
  return over;
}

}  // namespace detail

barrier::barrier(std::size_t expected, std::function<void()> completion)
    : word_(0), expected_(expected), completion_(std::move(completion)) {
  TANDEM_ASSERT(expected <= max, "a barrier was given more than barrier::max tasks");
}

barrier::~barrier() = default;

detail::waiter* barrier::end_phase() noexcept {
  detail::waiter* const all = waiting_.take_all();  // arrivals/last, waiting/grant
  word_.unlock(0);
  return all;
}

void barrier::let_go(detail::waiter* all) noexcept {
  if (completion_) completion_();
  detail::taken_list::wake(all);
}

bool barrier::arrive_if_last() noexcept {
  detail::waiter* all = nullptr;
  {
    const std::lock_guard guard(lock_);
    const lock_word::word state = word_.lock();
    const std::size_t expected = expected_.load(std::memory_order_relaxed);  // under the lock
    TANDEM_ASSERT(state / lock_word::one < expected, "more arrived at a barrier than it expects");
    if (state / lock_word::one + 1 != expected) {
      word_.unlock(state);
      return false;
    }
    all = end_phase();
  }
  let_go(all);
  return true;
}

void barrier::arrive_and_drop() noexcept {
  detail::waiter* all = nullptr;
  {
    const std::lock_guard guard(lock_);
    const lock_word::word state = word_.lock();
    const std::size_t expected = expected_.load(std::memory_order_relaxed);  // under the lock
    TANDEM_ASSERT(state / lock_word::one < expected,
                  "more arrived at a barrier, or dropped out, than it expects");
    expected_.store(expected - 1, std::memory_order_relaxed);
    if (state / lock_word::one + 1 != expected) return word_.unlock(state);
    all = end_phase();
    // Those in the list are of this barrier only, and taken: theirs to read after the wake.
    if (all != nullptr) static_cast<detail::barrier_waiter*>(all)->leads = true;
  }
  let_go(all);
}

bool barrier_awaiter::start(detail::promise_base& waiting) noexcept {
  if (room_.gave_way(waiting)) return true;
  barrier& of = *target_;
  detail::barrier_waiter& self = room_.build(of);
  if (!self.begin(waiting)) return false;  // waiting/publish
  detail::waiter* all = nullptr;
  bool may_queue = false;
  {
    const std::lock_guard guard(of.lock_);
    const lock_word::word state = of.word_.lock();
    const std::size_t expected = of.expected_.load(std::memory_order_relaxed);  // under the lock
    may_queue = self.may_queue();
    if (!may_queue) {  // waiting/queue
      of.word_.unlock(state);
    } else if (state / lock_word::one + 1 != expected) {
      of.waiting_.push_back(self);
      of.word_.unlock((state + lock_word::one) | lock_word::waiters);
      return true;
    } else {
      self.take();
      leads_ = true;
      all = of.end_phase();
    }
  }
  if (!may_queue) return self.give_up();
  of.let_go(all);
  return self.go_on();
}

}  // namespace tandem::inline v0
