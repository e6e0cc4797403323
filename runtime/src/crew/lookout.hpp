// lookout.hpp: the sleeper that looks again by itself for what is too young to be stolen. Protocol lookout: runtime/src/worker/README.md.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace tandem::inline v0::detail {

/// What a lookout sees.
enum class lookout_sight : std::uint8_t {
  ripe,   ///< something that it may take
  young,  ///< since its last look lanes have got their first items, and no item is ripe
  quiet,  ///< nothing
};

/// Whether a pool has one; any thread. All are seq_cst: lookout/expose, lookout/end.
class lookout {
 public:
  /// Between two looks: at each some microseconds are spent.
  static constexpr auto pause = std::chrono::microseconds(100);

  lookout() noexcept = default;
  lookout(const lookout&) = delete;
  lookout& operator=(const lookout&) = delete;

  bool is_there() const noexcept { return there_.load(std::memory_order_seq_cst); }
  /// lookout/begin. @returns false: there is one
  bool begin() noexcept { return !there_.exchange(true, std::memory_order_seq_cst); }
  /// lookout/end. By the one that began; it looks at the lanes afterwards.
  void end() noexcept { there_.store(false, std::memory_order_seq_cst); }

 private:
  alignas(64) std::atomic<bool> there_{false};
};

}  // namespace tandem::inline v0::detail
