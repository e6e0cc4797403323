// gathering.cpp: the wait, and the worker that ends it.
// SPDX-License-Identifier: MIT
#include <tandem/detail/gathering.hpp>

#include <thread>

#include "platform/futex.hpp"
#include "pool/worker_pool_impl.hpp"

namespace tandem::inline v0::detail {

namespace {

/// A worker is about to call end() of whoever was in the slot. Never followed.
gathering* in_use() noexcept {
  return reinterpret_cast<gathering*>(std::uintptr_t{1});  // NOLINT
}

}  // namespace

void gathering::prepare() noexcept {
  word_.store(1, std::memory_order_relaxed);  // published by what makes it known
}

void gathering::wait(worker_pool& pool, std::chrono::steady_clock::time_point until) noexcept {
  gathering_slot& slot = pool.implementation().working.gathered_by();
  if (!slot.enter(*this)) return;
  // gathering/enter. First we are in the slot, then we look for idle workers: seq_cst, both. A
  // worker is first counted as idle, then looks at the slot.
  if (pool.implementation().all_awake()) {
    const std::int64_t deadline = until.time_since_epoch().count();
    while (word_.load(std::memory_order_acquire) != 0) {  // pairs with end()
      if (!platform::wait_on(word_, 1, deadline)) break;
    }
  }
  slot.leave(*this);
}

void gathering::end() noexcept {
  word_.store(0, std::memory_order_release);
  platform::wake_one(word_);
}

bool gathering_slot::enter(gathering& one) noexcept {
  gathering* expected = nullptr;
  return slot_.compare_exchange_strong(expected, &one, std::memory_order_seq_cst);
}

void gathering_slot::leave(gathering& one) noexcept {
  gathering* expected = &one;
  if (slot_.compare_exchange_strong(expected, nullptr, std::memory_order_acq_rel)) return;
  // gathering/get_up. A worker has taken us out, and may be about to touch us. acquire: pairs with
  // end_gathering().
  while (slot_.load(std::memory_order_acquire) == in_use()) std::this_thread::yield();
}

void gathering_slot::end_gathering() noexcept {
  gathering* one = slot_.load(std::memory_order_seq_cst);
  if (one == nullptr || one == in_use()) return;
  if (!slot_.compare_exchange_strong(one, in_use(), std::memory_order_acq_rel)) return;
  one->end();
  slot_.store(nullptr, std::memory_order_release);
}

}  // namespace tandem::inline v0::detail
