// count_awaiter.cpp: counts that are waited for (latch, wait_group).
// SPDX-License-Identifier: MIT
#include <tandem/detail/count_awaiter.hpp>

#include "sync/suspend.hpp"

namespace tandem::inline v0::detail {

void waited_count::add(std::size_t n) noexcept {
  lock_word::word seen = word_.load();
  bool owner = false;
  while (true) {
    TANDEM_ASSERT(n <= lock_word::max_value && seen / lock_word::one + n <= lock_word::max_value,
                  "a count went beyond its largest value");
    const lock_word::word more = seen + static_cast<lock_word::word>(n) * lock_word::one;
    if (owner) return word_.unlock(more);
    if ((seen & lock_word::locked) != 0) {
      seen = word_.lock();
      owner = true;
    } else if (word_.change(seen, more)) {
      return;
    }
  }
}

void waited_count::subtract(std::size_t n) noexcept {
  const auto check = [n](lock_word::word state) {
    TANDEM_ASSERT(n <= state / lock_word::one, "a latch or wait_group was counted below zero");
    return state - static_cast<lock_word::word>(n) * lock_word::one;
  };
  if (n == 0) return;
  lock_word::word seen = word_.load();
  while ((seen & lock_word::locked) == 0) {
    const lock_word::word left = check(seen);
    if (left < lock_word::one && (left & lock_word::waiters) != 0)
      break;                               // somebody has to be let go
    if (word_.change(seen, left)) return;  // waiting/unlock: the last access
  }
  const lock_word::word left = check(word_.lock());
  if (left >= lock_word::one) {
    word_.unlock(left);
    return;
  }
  waiter* const all = waiting_.take_all();  // waiting/grant
  word_.unlock(0);                          // waiting/unlock: from here on the object may be gone
  taken_list::wake(all);
}

namespace {

constexpr wait_kind waits_for_count(&waiter::on_stop, "a latch or wait_group", wait_end::anybody,
                                    [](const stop_waiter& wait, wait_note& note) noexcept {
                                      const lock_word& word =
                                          static_cast<const waiter&>(wait).word();
                                      note.object = &word;  // it begins with it
                                      note.say("that is at %u", word.load() / lock_word::one);
                                    });

}  // namespace

namespace {
constexpr auto is_none = [](lock_word::word state) { return state < lock_word::one; };
constexpr auto unchanged = [](lock_word::word state) { return state; };
}  // namespace

bool count_awaiter::start(promise_base& waiting) noexcept {
  return suspend(room_, waits_for_count, target_->word_, target_->waiting_, waiting, is_none,
                 unchanged);
}

bool count_awaiter::select_arm(select_place& as) noexcept {
  return arm(room_, as, waits_for_count, target_->word_, target_->waiting_, is_none, unchanged);
}

}  // namespace tandem::inline v0::detail
