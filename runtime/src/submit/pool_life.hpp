// pool_life.hpp: the states of a pool, each entered once. submissions/end.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include <tandem/pool_state.hpp>

#include "platform/futex.hpp"

namespace tandem::inline v0::detail {

class pool_life {
 public:
  pool_state state() const noexcept {
    // seq_cst: a submission counts its task, then looks here; shutdown changes this, then looks at
    // the count.
    return static_cast<pool_state>(state_.load(std::memory_order_seq_cst));
  }
  bool is_running() const noexcept { return state() == pool_state::running; }

  /// @returns  whether it was this call that brought the pool there; false if it is there, or
  ///           beyond
  bool advance(pool_state to) noexcept {
    std::uint32_t seen = state_.load(std::memory_order_seq_cst);
    const auto wanted = static_cast<std::uint32_t>(to);
    while (seen < wanted) {
      if (!state_.compare_exchange_weak(seen, wanted, std::memory_order_seq_cst)) continue;
      platform::wake_all(state_);
      return true;
    }
    return false;
  }

  /// Blocks until the pool has terminated. @returns false if the deadline passed before
  bool wait_for_end(std::int64_t deadline_ns) noexcept {
    bool in_time = true;
    while (true) {
      const std::uint32_t seen = state_.load(std::memory_order_seq_cst);
      if (seen == static_cast<std::uint32_t>(pool_state::terminated)) return true;
      if (!in_time) return false;
      in_time = platform::wait_on(state_, seen, deadline_ns);
    }
  }

 private:
  std::atomic<std::uint32_t> state_{static_cast<std::uint32_t>(pool_state::running)};
};

}  // namespace tandem::inline v0::detail
