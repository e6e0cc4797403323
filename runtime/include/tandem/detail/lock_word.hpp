// lock_word.hpp: a word that is a primitive's state and the lock of its wait lists at once.
// SPDX-License-Identifier: MIT
//
//   bit 0    locked: the value belongs to the owner, nobody else writes it
//   bit 1    sleepers: a thread may sleep on the futex
//   bit 2    waiters: a wait list has (or had, a moment ago) somebody in it
//   bits 3+  the value: permits, a count, a flag
//
// Without a waiter everything is one CAS on the word. With one it is locked, and the new value
// appears with the unlocking write, which is the owner's last access. So whoever sees a value may
// destroy the primitive, if the value says that nobody needs it any more (waiting/unlock in
// runtime/src/sync/README.md).
#pragma once

#include <atomic>
#include <cstdint>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

class lock_word {
 public:
  using word = std::uint32_t;

  static constexpr word locked = 1;
  static constexpr word sleepers = 2;
  static constexpr word waiters = 4;
  static constexpr word one = 8;  // the value's unit
  static constexpr word value_mask = ~word{7};
  static constexpr word max_value = value_mask / one;

  explicit lock_word(word value) noexcept : state_(value * one) {}

  /// What is there, with all bits. Acquire: pairs with the releasing changes below, so what
  /// happened before a value was written has happened for whoever sees it.
  word load() const noexcept { return state_.load(std::memory_order_acquire); }

  /// For fast paths: fails if anything changed. Not from or to a locked state.
  bool change(word& expected, word desired) noexcept {
    // acq_rel: a release of permits or of a mutex publishes, taking them sees what was published.
    return state_.compare_exchange_weak(expected, desired, std::memory_order_acq_rel,
                                        std::memory_order_acquire);
  }

  /// @returns  value and waiters bit, which are the caller's until unlock()
  word lock() noexcept {
    word seen = state_.load(std::memory_order_relaxed);  // a guess: the CAS decides
    // Acquire: pairs with unlock().
    if ((seen & locked) == 0 &&
        state_.compare_exchange_strong(seen, seen | locked, std::memory_order_acquire)) [[likely]] {
      return seen & ~sleepers;
    }
    return lock_slow();
  }
  /// Publishes value and waiters bit. The last access to the word.
  void unlock(word state) noexcept {
    if ((state_.exchange(state, std::memory_order_acq_rel) & sleepers) != 0) [[unlikely]]
      wake_sleeper();
  }

 private:
  TANDEM_API word lock_slow() noexcept;
  TANDEM_API void wake_sleeper() noexcept;

  std::atomic<word> state_;
};

}  // namespace tandem::inline v0::detail
