// priority.hpp: the levels of a priority_scheduler, and when low ones get a turn all the same.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tandem::inline v0 {

/// Highest first.
///
///     tandem::priority_scheduler levels(pool, tandem::priority_ageing().after_items(10));
///     scope.spawn(levels.level(tandem::priority::low), rebuild_index());
enum class priority : std::uint8_t { highest, high, normal, low, lowest };

inline constexpr std::size_t priority_count = 5;

/// When a level that has to wait is served although a higher one has something. Both limits may be
/// set; the first that is reached counts. Default: never.
class priority_ageing {
 public:
  priority_ageing() noexcept = default;

  /// After so many items of others were taken since this level was served last. 0: never.
  priority_ageing& after_items(std::size_t count) noexcept {
    items_ = count;
    return *this;
  }
  /// After so much time, by the clock of the runtime, seen whenever an item is taken. 0: never.
  priority_ageing& after_time(std::chrono::steady_clock::duration span) noexcept {
    time_ = span;
    return *this;
  }

  std::size_t items() const noexcept { return items_; }
  std::chrono::steady_clock::duration time() const noexcept { return time_; }

 private:
  std::size_t items_ = 0;
  std::chrono::steady_clock::duration time_{0};
};

}  // namespace tandem::inline v0
