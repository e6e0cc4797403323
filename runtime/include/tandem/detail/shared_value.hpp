// shared_value.hpp: who reads a value that others replace: many readers, or one writer.
// SPDX-License-Identifier: MIT
//
// One word beside a value:
//   bits 0-15   how many threads read the value at this moment
//   bit 16      a writer waits for them, or replaces the value
//   bits 17-    the stamp: which value it is
//
// A reader holds the value for as long as a copy takes; from the moment a writer has come no
// further one begins. Of writers there is one at a time: they hold a lock of their own. Protocol
// shared_values, runtime/src/sync/README.md.
#pragma once

#include <atomic>
#include <cstdint>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

class shared_value {
 public:
  using stamp = std::uint64_t;

  explicit shared_value(stamp first) noexcept : word_(first << stamp_shift) {}

  /// Of the value that is there, or, while a writer is at it, was. Acquire: pairs with end_write().
  stamp now() const noexcept { return word_.load(std::memory_order_acquire) >> stamp_shift; }
  /// Whether a hold of `wanted` would succeed.
  bool has(stamp wanted) const noexcept {
    return (word_.load(std::memory_order_acquire) & ~readers) == wanted << stamp_shift;
  }

  /// shared_values/hold. @returns false if another value is there, or about to be
  TANDEM_ALWAYS_INLINE bool try_hold(stamp wanted) noexcept {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);  // a guess: the CAS decides
    do {
      if ((seen & ~readers) != wanted << stamp_shift) return false;
      // Acquire: pairs with end_write().
    } while (!word_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                          std::memory_order_relaxed));
    return true;
  }
  /// Whatever is there, after a writer that is at it. @returns its stamp
  TANDEM_ALWAYS_INLINE stamp hold() noexcept {
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    while ((seen & writer) == 0) {
      if (word_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire,
                                      std::memory_order_relaxed)) [[likely]]
        return seen >> stamp_shift;
    }
    return hold_slowly();
  }
  /// shared_values/release. The last access.
  void release() noexcept {
    // Release: pairs with begin_write(), which waits for it.
    (void)word_.fetch_sub(1, std::memory_order_release);
  }

  /// shared_values/write. Under the writers' lock: afterwards nobody reads.
  void begin_write() noexcept {
    const std::uint64_t seen = word_.fetch_or(writer, std::memory_order_acquire);
    if ((seen & readers) != 0) [[unlikely]]
      wait_for_readers();
  }
  void end_write(stamp next) noexcept {
    word_.store(next << stamp_shift, std::memory_order_release);
  }

 private:
  static constexpr std::uint64_t readers = 0xFFFF;
  static constexpr std::uint64_t writer = 0x10000;
  static constexpr int stamp_shift = 17;

  TANDEM_API stamp hold_slowly() noexcept;
  TANDEM_API void wait_for_readers() noexcept;

  std::atomic<std::uint64_t> word_;
};

/// A hold for a scope.
class value_hold {
 public:
  explicit value_hold(shared_value& held) noexcept : held_(&held) {}
  value_hold(const value_hold&) = delete;
  value_hold& operator=(const value_hold&) = delete;
  ~value_hold() { held_->release(); }

 private:
  shared_value* held_;
};

}  // namespace tandem::inline v0::detail
