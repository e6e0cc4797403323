// lent_memory.hpp: who hears of memory that the kernel may write to, until its packet has been dequeued.
// SPDX-License-Identifier: MIT
//
// For tests, which look whether any of it is used again or freed too early: in a program nobody
// listens, and a call costs a load.
#pragma once

#include <atomic>

namespace tandem::inline v0::io {

class lent_memory_listener {
 public:
  /// A call has been begun whose packet will come.
  virtual void lent(const void* memory) noexcept = 0;
  /// That packet was dequeued.
  virtual void returned(const void* memory) noexcept = 0;
  /// It is freed, or somebody else may have it.
  virtual void given_up(const void* memory) noexcept = 0;

 protected:
  ~lent_memory_listener() = default;
};

/// Set while no backend lives. Acquire: pairs with whoever sets it.
inline std::atomic<lent_memory_listener*> lent_memory_heard_by{nullptr};

inline void memory_lent(const void* memory) noexcept {
  if (auto* const heard = lent_memory_heard_by.load(std::memory_order_acquire)) heard->lent(memory);
}
inline void memory_returned(const void* memory) noexcept {
  if (auto* const heard = lent_memory_heard_by.load(std::memory_order_acquire))
    heard->returned(memory);
}
inline void memory_given_up(const void* memory) noexcept {
  if (auto* const heard = lent_memory_heard_by.load(std::memory_order_acquire))
    heard->given_up(memory);
}

}  // namespace tandem::inline v0::io
