// partition.hpp: how the parallel algorithms cut their ranges, fail and stop.
// SPDX-License-Identifier: MIT
//
// A grain that the caller gives is taken as it is: pieces of exactly so many items (the last one
// may be smaller), found by binary splitting, and nothing depends on a clock. Without one:
//
// Protocol grain:
//   one      one item runs in the caller: no task.
//   few      few items (fewer than 16 per worker) are taken to be costly, since nobody shares out
//            ten cheap ones: each becomes a piece of its own at once.
//   probe    many items are taken to be cheap until measured. The caller itself runs 1, 8, 64, ...
//            of them for 5 microseconds, about what waking a sleeping worker costs. What is done by
//            then never was a task.
//   halve    the rest is halved down to leaves of as many items as fit into 20 microseconds at the
//            measured pace (a fork costs well under 1 % of that), but into no more than 64 leaves
//            per worker, should the first items have been slow, and no fewer than 8.
//   overdue  a leaf that has run twice its time was measured wrongly: what is left of it is halved
//            again. So one lump of costly items is shared out wherever it lies, and what is posted
//            to a worker meanwhile waits tens of microseconds, not for the loop.
//
// Step grain/few loses some 4 microseconds on a handful of cheap items beside a sleeping worker;
// guessing "cheap" would lose half of the speed on two costly ones. Step grain/probe loses one item
// of 16 per worker, at most.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <utility>

#include <tandem/clock.hpp>
#include <tandem/detail/fork.hpp>
#include <tandem/environment.hpp>
#include <tandem/errors.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::detail {

template <class T>
inline constexpr bool is_task = false;
template <class T>
inline constexpr bool is_task<task<T>> = true;

/// Workers that may run pieces forked by the calling thread; 1 on any other executor than the pool.
TANDEM_API std::size_t workers_for_pieces() noexcept;
/// False with a virtual clock: it says nothing about how long pieces take.
TANDEM_API bool pieces_go_by_the_clock() noexcept;

/// What the pieces of one call share: whether they should go on, and the first failure by time.
///
/// @thread_safety  enter, conclude: the caller's strand, before and after all pieces; else any
///                 piece
class loop_control {
 public:
  loop_control() noexcept = default;
  /// For awaiters that have not started.
  loop_control(loop_control&&) noexcept {}
  loop_control& operator=(loop_control&&) = delete;

  /// @throws  operation_cancelled if the task was asked to stop before
  void enter() {
    env_ = current_environment();
    if (env_->stop().stop_requested()) throw operation_cancelled(env_->stop().reason());
  }
  /// Asked by each piece before it does anything. False: a piece has failed, or a stop was
  /// requested.
  bool may_go_on() noexcept {
    if (over_.load(std::memory_order_relaxed)) return false;  // a hint: the join orders the data
    if (!env_->stop().stop_requested()) [[likely]]
      return true;
    stopped_.store(true, std::memory_order_relaxed);
    over_.store(true, std::memory_order_relaxed);
    return false;
  }
  /// In a catch handler. Keeps the first failure; a later one goes on up, to be reported by a join.
  void note_failure() {
    over_.store(true, std::memory_order_relaxed);
    // Relaxed: first_ is read after the join, which orders it.
    if (claimed_.exchange(true, std::memory_order_relaxed)) throw;
    first_ = std::current_exception();
  }
  /// @throws  the first failure; operation_cancelled if pieces were left out because of a stop
  void conclude(outcome_base& root) {
    if (claimed_.load(std::memory_order_relaxed)) [[unlikely]] {
      if (root.error != nullptr) report_suppressed(*env_, std::exchange(root.error, nullptr));
      std::rethrow_exception(std::exchange(first_, nullptr));
    }
    if (stopped_.load(std::memory_order_relaxed)) [[unlikely]]
      throw operation_cancelled(env_->stop().reason());
  }

 private:
  environment* env_ = nullptr;
  std::atomic<bool> over_{false};
  std::atomic<bool> stopped_{false};
  std::atomic<bool> claimed_{false};
  std::exception_ptr first_;  // written by whoever claimed it
};

/// How one call cuts its range.
class partition_plan {
 public:
  /// That of the task: with a virtual one no time passes, and every run takes the same decisions.
  struct clock {
    static std::chrono::steady_clock::time_point now() noexcept { return tandem::now(); }
  };
  static constexpr std::chrono::nanoseconds probe_time{5'000};
  static constexpr std::chrono::nanoseconds leaf_time{20'000};
  static constexpr std::chrono::nanoseconds look_time{5'000};  // between two looks at the clock
  static constexpr std::chrono::nanoseconds clock_worth{1'000};
  static constexpr std::size_t few_per_worker = 16;
  static constexpr std::size_t most_leaves_per_worker = 64;
  static constexpr std::size_t least_leaves_per_worker = 8;

  explicit partition_plan(std::size_t grain) noexcept
      : grain_(grain), leaf_(std::max<std::size_t>(grain, 1)) {}

  /// Runs what is not worth a task by `run(from, to)`, and plans the rest.
  ///
  /// @returns  how many items were run; all of them: nothing is left to do
  template <class Run>
  std::size_t begin(std::size_t count, Run&& run) {
    if (count <= leaf_) {  // grain/one
      run(std::size_t{0}, count);
      return count;
    }
    if (grain_ != 0) return 0;
    const std::size_t workers = workers_for_pieces();
    if (workers > 1 && count / few_per_worker < workers) {
      return 0;  // grain/few
    }
    if (!pieces_go_by_the_clock()) {
      leaf_ = std::max<std::size_t>(count / (workers * least_leaves_per_worker), 1);
      return 0;
    }
    return probe(count, workers, run);
  }

  std::size_t leaf() const noexcept { return leaf_; }
  /// Leaves look at the clock (grain/overdue).
  bool timed() const noexcept { return timed_; }
  /// Items between two such looks, to begin with.
  std::size_t step() const noexcept { return step_; }

  /// How many items fit into `room` if `done` of them took `taken`; at least 1.
  static std::size_t fitting(std::chrono::nanoseconds room, std::size_t done,
                             std::chrono::nanoseconds taken) noexcept {
    const double pace =
        static_cast<double>(done) /
        static_cast<double>(std::max<std::chrono::nanoseconds::rep>(taken.count(), 1));
    const double items = pace * static_cast<double>(room.count());
    // A loop that the compiler has removed goes by without limit.
    return static_cast<std::size_t>(std::clamp(items, 1.0, 1e18));
  }
  /// Where to halve more than one leaf: at a multiple of the leaf, so that leaves are full.
  static std::size_t middle(std::size_t first, std::size_t last, std::size_t leaf) noexcept {
    const std::size_t leaves = (last - first - 1) / leaf + 1;
    return first + leaves / 2 * leaf;
  }

 private:
  template <class Run>
  std::size_t probe(std::size_t count, std::size_t workers, Run& run) {  // grain/probe
    const auto began = clock::now();
    std::chrono::nanoseconds taken{0};
    std::size_t done = 0;
    std::size_t step = 1;
    while (taken < probe_time && done != count) {
      run(done, done + step);
      done += step;
      taken = clock::now() - began;
      // An eighth of what is left, at most: costly items may lie further on. A half where it all
      // seems to be over within a microsecond, and the clock would cost more than the items.
      const std::size_t left = count - done;
      const bool is_short = fitting(clock_worth, done, taken) >= left;
      step = (std::min)({step * 8, std::max<std::size_t>(left / (is_short ? 2 : 8), 1),
                         fitting(probe_time, done, taken)});
      if (is_short && left <= 16) step = left;
    }
    const std::size_t left = count - done;
    const std::size_t share = left / workers;
    step_ = fitting(look_time, done, taken);
    leaf_ = std::clamp(fitting(leaf_time, done, taken),
                       std::max<std::size_t>(share / most_leaves_per_worker, 1),
                       std::max<std::size_t>(share / least_leaves_per_worker, 1));  // grain/halve
    timed_ = true;
    return done;
  }

  std::size_t grain_;
  std::size_t leaf_;
  std::size_t step_ = 1;
  bool timed_ = false;
};

}  // namespace tandem::inline v0::detail
