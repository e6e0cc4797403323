// unbounded_channel.cpp: the end of an unbounded channel, and its fall to half of the watermark.
// SPDX-License-Identifier: MIT
#include <tandem/unbounded_channel.hpp>

#include "sync/suspend.hpp"

namespace tandem::inline v0 {

using detail::lock_word;
using detail::unbounded_base;
using detail::wait_kind;
using detail::wait_note;
using detail::waiter;

namespace {

constexpr wait_kind waits_until_low(
    &waiter::on_stop, "an unbounded channel", detail::wait_end::anybody,
    [](const stop_waiter& wait, wait_note& note) noexcept {
      note.verb = "waits for receives from";
      note.object = &static_cast<const waiter&>(wait).word();  // it begins with its word
    });
constexpr wait_kind waits_for_unbounded(
    &waiter::on_stop, "an unbounded channel", detail::wait_end::anybody,
    [](const stop_waiter& wait, wait_note& note) noexcept {
      const unbounded_base& of = *static_cast<const detail::unbounded_waiter&>(wait).of;
      note.verb = "waits to receive from";
      note.object = &of;
      note.task = of.last_sender();
      note.task_role = "last sent to by";
      note.say("that is empty%s", of.is_closed() ? ", closed" : "");
    });

}  // namespace

detail::unbounded_waiter::unbounded_waiter(unbounded_base& target) noexcept
    : waiter(waits_for_unbounded, target.word_, target.receivers_), of(&target) {}

void unbounded_base::close() noexcept {
  const lock_word::word state = word_.lock();
  taken_list ended;
  for (wait_list* list : {&receivers_, &lows_}) {
    while (waiter* const each = list->pop_front()) ended.push_back(each);  // waiting/grant
  }
  is_high_.store(false, std::memory_order_release);
  word_.unlock((state & ~lock_word::waiters) | closed);  // waiting/unlock
  ended.wake();
}

bool unbounded_base::look_at_size() noexcept {
  known_drained_ = drained_.load(std::memory_order_acquire);
  const std::size_t now = size();
  if (now > largest_) largest_ = now;
  if (now <= watermark_ || may_fall()) return false;
  is_high_.store(true, std::memory_order_relaxed);  // published by the unlock
  return on_high_ != nullptr;
}

void unbounded_base::relieve() noexcept {
  if (size() > watermark_ / 2) return;
  lock_word::word state = word_.lock();
  // Others may have sent, or relieved it, meanwhile.
  waiter* relieved = nullptr;
  if (may_fall() && size() <= watermark_ / 2) {
    is_high_.store(false, std::memory_order_release);
    relieved = lows_.take_all();  // waiting/grant
  }
  word_.unlock(state);  // waiting/unlock
  if (relieved != nullptr) taken_list::wake(relieved);
}

bool unbounded_low_awaiter::start(detail::promise_base& waiting) noexcept {
  const auto is_low = [this](lock_word::word) { return !target_->is_high(); };
  return detail::suspend(room_, waits_until_low, target_->word_, target_->lows_, waiting, is_low,
                         detail::same_word);
}
bool unbounded_low_awaiter::select_arm(detail::select_place& as) noexcept {
  const auto is_low = [this](lock_word::word) { return !target_->is_high(); };
  return detail::arm(room_, as, waits_until_low, target_->word_, target_->lows_, is_low,
                     detail::same_word);
}

}  // namespace tandem::inline v0
