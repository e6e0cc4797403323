// starvation_watch.hpp: since when work waits and nobody comes to take it; a pure function.
// SPDX-License-Identifier: MIT
//
// The gate adds a worker every half second, and each of them takes an item: that alone is no
// relief. So a spell of starvation goes on while no more items were taken than workers have come.
// How long the oldest item has been waiting is known without a time in each item: if at some look
// so many items waited, and fewer have been taken since, one of them is still there.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <tandem/export.hpp>

namespace tandem::inline v0::detail {

/// What it sees at a look.
class starvation_look {
 public:
  std::chrono::nanoseconds now{};  ///< since any moment, always the same
  std::uint64_t dequeued = 0;      ///< items that were ever taken from a queue
  std::size_t waiting = 0;         ///< items in queues
  unsigned processing = 0;         ///< workers that are busy
};

/// Used by one thread at a time.
class TANDEM_API starvation_watch {
 public:
  /// The pool wakes up: what was before does not count.
  void begin(std::chrono::nanoseconds now) noexcept;
  /// @param begun  by worker, how many items it has ever begun
  void look(const starvation_look& seen, std::span<const std::uint64_t> begun) noexcept;

  /// Since the first look of this spell of starvation; 0: there is none.
  std::chrono::nanoseconds lasts() const noexcept { return lasts_; }
  /// How long something that waits now has been waiting at least.
  std::chrono::nanoseconds oldest() const noexcept { return oldest_; }
  /// Whether this worker had begun as many items at the last look.
  bool has_stayed(unsigned worker, std::uint64_t begun) const noexcept {
    return worker < runs_.size() && runs_[worker].begun == begun;
  }
  /// How long this worker has been inside the same item at least, if it runs one. 0 also where that
  /// is not known.
  std::chrono::nanoseconds stuck_for(unsigned worker) const noexcept {
    return worker < runs_.size() ? last_look_ - runs_[worker].since : std::chrono::nanoseconds();
  }

 private:
  struct load {
    std::chrono::nanoseconds at{};
    std::uint64_t sum = 0;  // of what had been taken and what waited
  };

  struct run {
    std::uint64_t begun = 0;
    std::chrono::nanoseconds since{};  // the look that first saw this number
  };

  void note_load(const starvation_look& seen) noexcept;
  void note_runs(std::chrono::nanoseconds now, std::span<const std::uint64_t> begun) noexcept;

  starvation_look start_;  // of the spell
  std::chrono::nanoseconds last_look_{};
  std::chrono::nanoseconds lasts_{};
  std::chrono::nanoseconds oldest_{};
  std::vector<run> runs_;  // by worker
  // A ring, oldest first. Where it is full what comes is left out: what is known of the oldest
  // stays.
  std::array<load, 64> loads_{};
  std::size_t first_load_ = 0;
  std::size_t load_count_ = 0;
};

}  // namespace tandem::inline v0::detail
