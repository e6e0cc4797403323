// futex_mutex.hpp: a four-byte mutex for short critical sections inside objects that live in frames.
// SPDX-License-Identifier: MIT
//
// States: 0 free, 1 held, 2 held and somebody may sleep. After Drepper, "Futexes Are Tricky",
// mutex2. The owner may destroy it right after unlock() only if no other thread can still be inside
// lock().
#pragma once

#include <atomic>
#include <cstdint>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

class futex_mutex {
 public:
  void lock() noexcept {
    std::uint32_t expected = 0;
    if (!state_.compare_exchange_strong(expected, 1, std::memory_order_acquire)) lock_slow();
  }
  bool try_lock() noexcept {
    std::uint32_t expected = 0;
    return state_.compare_exchange_strong(expected, 1, std::memory_order_acquire);
  }
  void unlock() noexcept {
    if (state_.exchange(0, std::memory_order_release) == 2) wake_one();
  }

 private:
  TANDEM_API void lock_slow() noexcept;
  TANDEM_API void wake_one() noexcept;

  std::atomic<std::uint32_t> state_{0};
};

}  // namespace tandem::inline v0::detail
