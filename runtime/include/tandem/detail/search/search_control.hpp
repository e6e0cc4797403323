// search_control.hpp: what all tasks of one search share: how it ends, limits, progress.
// SPDX-License-Identifier: MIT
//
// A search ends once, by the first of finish(), fail() and cancel() (searching/end). Running tasks
// look at running() and give up; conclude() is called when the last of them has ended. Nothing is
// counted or asked per position: each task keeps a search_pacer (searching/pace), and comes to a
// checkpoint now and then. The steps are in src/search/README.md, with the reasons why relaxed
// accesses are enough for all of them.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>

#include <tandem/config.hpp>
#include <tandem/detail/futex_mutex.hpp>
#include <tandem/detail/search/search_arena.hpp>
#include <tandem/executor.hpp>
#include <tandem/search/options.hpp>
#include <tandem/search/result.hpp>

namespace tandem::inline v0::detail {

/// How much one task does between two checkpoints, and in one segment: searching/pace.
class search_pacer {
 public:
  using clock = std::chrono::steady_clock;

  explicit search_pacer(std::uint32_t stride = 1) noexcept
      : stride_(stride), left_(stride), checked_(clock::now()), segment_began_(checked_) {}

  /// Called after each step; true if it is time for a checkpoint.
  bool due() noexcept { return --left_ == 0; }
  /// Called after `steps` steps, `left()` at most; likewise.
  bool due_after(std::uint32_t steps) noexcept { return (left_ -= steps) == 0; }
  /// Steps between two checkpoints.
  std::uint32_t stride() const noexcept { return stride_; }
  /// Steps to the next one, and those since the one before.
  std::uint32_t left() const noexcept { return left_; }
  std::uint32_t done() const noexcept { return stride_ - left_; }
  bool segment_over() const noexcept { return segment_over(checked_); }
  bool segment_over(clock::time_point now) const noexcept {
    return now - segment_began_ >= segment_length;
  }
  void begin_segment() noexcept { segment_began_ = checked_ = clock::now(); }

  /// A checkpoint was made after `steps` steps. Longer strides than `most` are not taken.
  void checked(clock::time_point now, std::uint32_t steps, std::uint32_t most) noexcept {
    const auto taken = now - checked_;
    checked_ = now;
    if (taken < stride_length / 2 && steps >= stride_ && stride_ < most) stride_ *= 2;
    if (taken > stride_length && stride_ > 1) {
      // Mostly a little more than half: else at once down to what would have been right.
      const auto right = static_cast<std::uint64_t>(steps) * stride_length / taken;
      stride_ = std::clamp<std::uint32_t>(static_cast<std::uint32_t>(right), 1, stride_ / 2);
    }
    left_ = stride_;
  }

 private:
  static constexpr std::chrono::microseconds stride_length{100};
  static constexpr std::chrono::microseconds segment_length{200};

  std::uint32_t stride_;
  std::uint32_t left_;
  clock::time_point checked_;
  clock::time_point segment_began_;
};

class TANDEM_API search_control {
 public:
  explicit search_control(const search_options& options);
  search_control(const search_control&) = delete;
  search_control& operator=(const search_control&) = delete;
  ~search_control();

  /// searching/look. Relaxed: a task that sees the end late works in vain, and no more.
  bool running() const noexcept { return state_.load(std::memory_order_relaxed) == state::running; }

  /// searching/end
  ///
  /// @returns             true for the one that ended the search
  bool finish(search_outcome outcome) noexcept;
  bool fail(std::exception_ptr error) noexcept;
  bool cancel() noexcept;

  /// Counts `visited` further positions, found in `steps` steps; then limits, stop and progress.
  ///
  /// @returns             running()
  /// @throws              what the progress callback throws
  bool checkpoint(search_pacer& pacer, std::uint64_t visited, std::uint32_t steps,
                  std::uint64_t depth = 0);
  /// As above, at the end of a full stride.
  bool checkpoint(search_pacer& pacer, std::uint64_t visited) {
    return checkpoint(pacer, visited, pacer.stride());
  }
  /// Called before memory is allocated that the search keeps; give_memory_back() when it is freed.
  ///
  /// @throws              std::bad_alloc: the limit would be passed, and has ended the search; the
  ///                      caller passes it on and ends its task: fail() changes nothing any more
  void take_memory(std::size_t bytes);
  /// As above, and allocates it: it stays until the control ends, wherever it is given back.
  ///
  /// @throws              std::bad_alloc: likewise, or the system has none
  void* take_memory_for_good(std::size_t bytes, std::size_t alignment);
  void give_memory_back(std::size_t bytes) noexcept {
    memory_.fetch_sub(bytes, std::memory_order_relaxed);
  }

  /// Counts the rest when a task ends.
  void count(std::uint64_t visited) noexcept {
    visited_.fetch_add(visited, std::memory_order_relaxed);
  }

  /// Positions counted; complete when all tasks have ended.
  std::uint64_t visited() const noexcept { return visited_.load(std::memory_order_relaxed); }
  /// 0 is none.
  std::uint64_t node_limit() const noexcept { return options_.node_limit.value_or(0); }
  const search_options& options() const noexcept { return options_; }

  /// After all tasks have ended: fills in how the search ended, the positions counted, time, memory
  /// and the limit that was reached. The other numbers are the solver's.
  ///
  /// @throws              the failure; operation_cancelled
  void conclude(search_summary& summary);

 private:
  // `running` is left once (searching/end).
  enum class state : std::uint8_t { running, finished, failed, cancelled };

  search_outcome how_it_ended();
  bool leave(state next) noexcept;
  void report(search_pacer::clock::time_point now, std::uint64_t depth);

  std::atomic<state> state_{state::running};
  search_outcome outcome_ = search_outcome::exhausted;  // searching/winner
  std::exception_ptr error_;                            // likewise
  const search_options& options_;
  const search_pacer::clock::time_point began_;
  const search_pacer::clock::time_point deadline_;

  futex_mutex report_lock_;  // held while the progress callback runs, so never two at once
  std::atomic<search_pacer::clock::rep> next_report_;  // searching/report: a hint
  search_pacer::clock::time_point last_report_;        // under the lock
  std::uint64_t reported_ = 0;                         // positions, under the lock

  search_arena arena_;
  // searching/memory
  alignas(64) std::atomic<std::size_t> memory_{0};
  std::atomic<std::size_t> most_memory_{0};

  alignas(64) std::atomic<std::uint64_t> visited_{0};  // searching/limit; has its line to itself
};

/// How many tasks are to search at the same time: as asked for, else one per worker of the pool
/// that searches.
TANDEM_API unsigned search_parallelism(const search_options& options) noexcept;

/// Where the search runs: as asked for, else the worker pool of the current task's runtime.
///
/// @throws              std::logic_error outside any runtime
TANDEM_API executor& search_executor(const search_options& options);

}  // namespace tandem::inline v0::detail
