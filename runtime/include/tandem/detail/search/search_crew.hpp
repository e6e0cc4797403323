// search_crew.hpp: the tasks that do the phases of a parallel search.
// SPDX-License-Identifier: MIT
//
// A phase (searching/expand, searching/enter) is cut into pieces, which a few forked tasks claim by
// a cursor, never a task per position. They are forked as a binary tree (searching/crew), so that
// sleepers are woken side by side, not one after the other. A phase that is over within a stride is
// done without a fork, and, if it is short, without a look at the clock of its own. The two kinds of
// phases have strides of their own: a position may take a thousand times as long to expand as to
// enter.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include <tandem/detail/search/search_control.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/task.hpp>
#include <tandem/yield.hpp>

namespace tandem::inline v0::detail {

/// What one task works with, kept from phase to phase for its memory: a base. The task's own in a
/// phase; between phases read by all (searching/phase).
class crew_part {
 public:
  explicit crew_part(std::size_t number) noexcept : index(number) {}

  const std::size_t index;
  search_pacer pacer;
  std::uint64_t found = 0;  // new positions that the control has not counted yet
};

/// Shares out the numbers 0, 1, 2 .. of a phase: searching/claim.
class piece_cursor {
 public:
  /// Before the fork, which publishes it. `alone`: there is none.
  void reset(bool alone, std::size_t first) noexcept {
    alone_ = alone;
    next_.store(first, std::memory_order_relaxed);
  }
  /// The first of `count` numbers that are nobody else's.
  std::size_t take(std::size_t count) noexcept {
    // Relaxed, all: the operation alone gives each number to one task.
    if (!alone_) return next_.fetch_add(count, std::memory_order_relaxed);
    const std::size_t first = next_.load(std::memory_order_relaxed);
    next_.store(first + count, std::memory_order_relaxed);
    return first;
  }
  /// What is taken by now: a hint while others take.
  std::size_t taken() const noexcept { return next_.load(std::memory_order_relaxed); }

 private:
  alignas(64) std::atomic<std::size_t> next_{0};
  bool alone_ = true;
};

/// Phases are classes with
///
///     bool claim(Part& own);         // the next piece; false when there is none
///     std::uint32_t advance(Part& own, std::uint32_t most);  // steps done; 0: the piece is over
///     static constexpr bool ends_round;  // what was counted so far is told to the control
template <class Part>
class search_crew {
 public:
  search_crew(search_control& control, unsigned workers) noexcept
      : control_(control), workers_(workers) {}

  /// Does a phase of `steps` steps, about, the cursor at `first`. What it throws ends the search; the
  /// await does not throw it.
  template <class Phase>
  static task<void> run(search_crew& self, Phase& phase, std::size_t steps, std::size_t first) {
    const std::uint32_t stride = self.strides_[Phase::ends_round];
    const std::size_t strides = (steps + stride - 1) / stride;
    const std::size_t tasks = std::clamp<std::size_t>(strides, 1, self.workers_);
    while (self.parts_.size() < tasks) {
      self.parts_.push_back(
          std::make_unique<Part>(self.control_, self.parts_.size(), self.workers_));
    }
    self.cursor.reset(tasks == 1, first);
    // One task alone goes on by its pacer, unless time has passed since, or it has another pace here.
    search_pacer& first_pacer = self.parts_.front()->pacer;
    if (self.is_forked_ || self.is_far(first_pacer.stride(), stride)) {
      first_pacer = search_pacer(stride);
    }
    self.is_forked_ = tasks > 1;
    co_await spread(self, phase, 0, tasks);
    self.take_longest_stride(Phase::ends_round, tasks);
    // Many short phases are a long segment, too.
    search_pacer& turn = tasks == 1 ? self.parts_.front()->pacer : self.turn_;
    if (tasks == 1 ? turn.segment_over() : turn.segment_over(search_pacer::clock::now())) {
      co_await yield();
      turn.begin_segment();
    }
  }

  /// Those of all phases so far.
  const std::vector<std::unique_ptr<Part>>& parts() const noexcept { return parts_; }
  unsigned workers() const noexcept { return workers_; }
  search_control& control() const noexcept { return control_; }

  piece_cursor cursor;      // of the phase that is being done
  std::uint64_t depth = 0;  // for reports of progress; changed between phases

 private:
  /// The tasks number `first` to `first + count - 1`.
  template <class Phase>
  static task<void> spread(search_crew& self, Phase& phase, std::size_t first, std::size_t count) {
    if (count == 1) return work(self, phase, *self.parts_[first]);
    return fork_halves(self, phase, first, count);
  }

  template <class Phase>
  static task<void> fork_halves(search_crew& self, Phase& phase, std::size_t first,
                                std::size_t count) {
    const std::size_t half = count - count / 2;
    task<void> one = spread(self, phase, first, half);
    task<void> other = spread(self, phase, first + half, count - half);
    co_await fork_join(std::move(one), std::move(other));
  }

  template <class Phase>
  static task<void> work(search_crew& self, Phase& phase, Part& own) {
    search_control& control = self.control_;
    try {
      if (self.is_forked_) own.pacer = search_pacer(self.strides_[Phase::ends_round]);
      while (control.running() && phase.claim(own)) {
        while (const std::uint32_t done = phase.advance(own, own.pacer.left())) {
          if (!own.pacer.due_after(done)) continue;
          const std::uint64_t found = std::exchange(own.found, 0);
          if (!control.checkpoint(own.pacer, found, own.pacer.stride(), self.depth)) break;
          if (!own.pacer.segment_over()) continue;
          co_await yield();
          own.pacer.begin_segment();
        }
      }
      const std::uint32_t rest = own.pacer.done();
      if (rest != 0 && (Phase::ends_round || self.is_forked_ || rest >= shortest_looked_at)) {
        control.checkpoint(own.pacer, std::exchange(own.found, 0), rest, self.depth);
      }
    } catch (...) {
      control.fail(std::current_exception());
    }
  }

  static bool is_far(std::uint32_t one, std::uint32_t other) noexcept {
    return one / 4 > other || other / 4 > one;
  }
  void take_longest_stride(bool ends_round, std::size_t tasks) noexcept {
    std::uint32_t longest = 1;
    for (std::size_t i = 0; i < tasks; ++i) {
      longest = (std::max)(longest, parts_[i]->pacer.stride());
    }
    strides_[ends_round] = (std::min)(longest, longest_stride);
    // Alone the clock was read at the end of both phases, perhaps: then the other may be the dear one.
    if (tasks == 1) strides_[!ends_round] = (std::min)(strides_[!ends_round], longest);
  }

  static constexpr std::uint32_t longest_stride = 512;
  static constexpr std::uint32_t shortest_looked_at = 32;  // steps of one task alone

  search_control& control_;
  const unsigned workers_;
  search_pacer turn_;
  // What the pacers found right in the last phase of each kind, by ends_round.
  std::array<std::uint32_t, 2> strides_{1, 1};
  bool is_forked_ = true;  // this phase, or the last one; written between phases
  std::vector<std::unique_ptr<Part>> parts_;
};

}  // namespace tandem::inline v0::detail
