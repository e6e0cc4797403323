// gathering.hpp: how a thread that feeds the worker pool waits while no worker could use what it brings.
// SPDX-License-Identifier: MIT
//
// While all workers run, whatever a completion thread brings has to queue. So instead of getting up
// for each completion it lies down until a worker has run out of work, or for a short time, and
// brings them in one batch. Protocol gathering: runtime/src/pool/README.md.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <tandem/config.hpp>

namespace tandem::inline v0 {

class worker_pool;

namespace detail {

/// One thread's wait, used again and again. Lives until the pool's workers have ended.
class TANDEM_API gathering {
 public:
  gathering() noexcept = default;
  gathering(const gathering&) = delete;
  gathering& operator=(const gathering&) = delete;

  /// Owner, before anybody else knows that it is about to wait: an end() after this is not lost.
  void prepare() noexcept;
  /// Owner: waits until end(), until a worker of `pool` runs dry, or until that time. Returns at
  /// once if a worker is idle, the workers have no threads, or somebody else gathers.
  void wait(worker_pool& pool, std::chrono::steady_clock::time_point until) noexcept;
  /// Any thread.
  void end() noexcept;

 private:
  std::atomic<std::uint32_t> word_{0};  // 1: waits, or is about to
};

/// In a worker pool: who gathers for it.
class gathering_slot {
 public:
  /// A worker, after it was counted as searching or idle.
  void ran_dry() noexcept {
    // gathering/run_dry. seq_cst: pairs with enter().
    if (slot_.load(std::memory_order_seq_cst) != nullptr) [[unlikely]]
      end_gathering();
  }
  bool enter(gathering& one) noexcept;
  void leave(gathering& one) noexcept;

 private:
  void end_gathering() noexcept;
  std::atomic<gathering*> slot_{nullptr};
};

}  // namespace detail
}  // namespace tandem::inline v0
