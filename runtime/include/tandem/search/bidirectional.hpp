// bidirectional.hpp: the shortest path, from both ends at once.
// SPDX-License-Identifier: MIT
//
// Two breadth-first searches, one from the start and one from all goals, each with a seen set of
// its own; the one with the smaller frontier is always the next to take a level, by all workers.
// While one grows the other stands still, so that it is looked into without a lock.
//
// Before each level no position is in both sets. So when the sides have come d and e moves far, no
// path has d + e moves or fewer: its position after d moves would be in both. If a position of the
// level d + 1 is in the other set, then on its outermost level, and d + 1 + e moves are the fewest.
// The level is finished all the same, which makes the number of positions the same in every run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>  // lock_guard
#include <ranges>
#include <utility>
#include <vector>

#include <tandem/detail/futex_mutex.hpp>
#include <tandem/detail/search/frontier.hpp>
#include <tandem/detail/search/search_control.hpp>
#include <tandem/detail/search/search_crew.hpp>
#include <tandem/detail/search/two_way_path.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/task.hpp>
#include <tandem/yield.hpp>

namespace tandem::inline v0 {

/// Finds a path of the fewest moves, or sees that there is none, usually after far fewer positions
/// than breadth_first_search. Where a puzzle names no goals, nothing but its start is looked at.
///
/// @param puzzle        stays the caller's until the await returns; `inverse` is asked of the moves
///                      on the path only
/// @returns             a shortest path if there is one; `nodes` and `depth` are of both sides
///                      together, and the same in every run unless a limit ended the search
/// @throws              what the puzzle throws, first error first; operation_cancelled;
///                      puzzle_error: on the path that was found an inverse leads elsewhere, or one
///                      of goals() is no goal, or a goal is not among them
/// @cancellation        noticed within some 100 us if the puzzle's functions are fast
/// @resumes_on          the executor that the caller awaited from; searches on the worker pool
/// @cost                as breadth_first_search for each position; those in which the sides meet
///                      are kept twice
/// @source              Pohl, Bi-directional Search (1971); always the smaller frontier: Nicholson
///                      (1966)
template <two_way_puzzle P>
[[nodiscard]] task<search_result<P>> bidirectional_search(const P& puzzle,
                                                          search_options options = {});

// Implementation

namespace detail {

template <two_way_puzzle P>
class bidirectional {
 public:
  using node = search_node<P>;

  bidirectional(const P& puzzle, const search_options& options)
      : puzzle_(puzzle),
        control_(options),
        forward_(control_, search_parallelism(options)),
        backward_(control_, search_parallelism(options)),
        crew_(control_, search_parallelism(options)) {}

  /// Searches a level after the other until the search has ended.
  static task<void> run(bidirectional& self) {
    try {
      self.begin();
      if (self.start_ == nullptr) co_await read_goals(self);
      while (self.control_.running()) {
        if (self.solved()) {
          self.control_.finish(search_outcome::solved);
        } else if (self.forward_.level_size() == 0 || self.backward_.level_size() == 0) {
          self.control_.finish(search_outcome::exhausted);
        } else {
          self.choose_side();
          self.crew_.depth = self.depth();
          co_await frontier<P>::search_level(*self.growing_, self.puzzle_, self.crew_, self);
        }
      }
    } catch (...) {
      self.control_.fail(std::current_exception());
    }
  }

  /// Looks at a new position, for the level that is searched.
  void operator()(const auto&, const auto& reached, const node* added) {
    const node* met = waiting_->find(reached.hash, added->at);
    if (met != nullptr) meet(added, met);
  }

  search_result<P> result() {
    search_result<P> result;
    control_.conclude(result);
    count_seen(result, forward_);
    count_seen(result, backward_);
    result.nodes = result.positions_kept - meetings_;
    result.depth = depth();
    if (result.solved()) {
      put_path(result, puzzle_,
               start_ != nullptr ? path_to(puzzle_, start_)
                                 : path_through(puzzle_, met_forward_, met_backward_));
    }
    return result;
  }

 private:
  // The puzzle's goals and how far they have been read; on the heap, since nobody knows how a
  // range of the puzzle's is aligned.
  class goal_list {
   public:
    using range = decltype(std::declval<const P&>().goals());

    explicit goal_list(const P& puzzle)
        : goals(puzzle.goals()), next(std::ranges::begin(goals)), end(std::ranges::end(goals)) {}

    range goals;
    std::ranges::iterator_t<range> next;
    std::ranges::sentinel_t<range> end;
  };

  void begin() {
    const typename P::position root = puzzle_.initial();
    const node* added = forward_.add_root(puzzle_, root);
    control_.count(1);
    if (puzzle_.is_goal(root)) start_ = added;
  }

  static task<void> read_goals(bidirectional& self) {
    search_pacer pacer;
    const auto list = std::make_unique<goal_list>(self.puzzle_);
    std::uint64_t added = 0;
    for (; list->next != list->end; ++list->next) {
      added += self.add_goal(*list->next);
      if (!pacer.due()) continue;
      if (!self.control_.checkpoint(pacer, std::exchange(added, 0))) break;
      if (!pacer.segment_over()) continue;
      co_await yield();
      pacer.begin_segment();
    }
    self.control_.count(added);
  }

  /// @returns             new positions
  std::uint64_t add_goal(const typename P::position& goal) {
    if (!puzzle_.is_goal(goal)) throw_false_goal();
    return backward_.add_root(puzzle_, goal) != nullptr ? 1 : 0;
  }

  bool solved() const noexcept { return start_ != nullptr || met_forward_ != nullptr; }
  std::uint64_t depth() const noexcept { return forward_.depth() + backward_.depth(); }

  // Of frontiers of the same length the one that has not come as far.
  void choose_side() noexcept {
    growing_ = &forward_;
    waiting_ = &backward_;
    if (effort(backward_) < effort(forward_)) std::swap(growing_, waiting_);
  }
  static std::pair<std::size_t, std::uint64_t> effort(const frontier<P>& side) noexcept {
    return {side.level_size(), side.depth()};
  }

  void meet(const node* added, const node* met) {
    if (growing_ == &backward_) std::swap(added, met);
    const std::lock_guard lock(meeting_lock_);
    if (meetings_++ != 0) return;  // any of them is as good
    met_forward_ = added;
    met_backward_ = met;
  }

  const P& puzzle_;
  search_control control_;
  frontier<P> forward_;
  frontier<P> backward_;
  frontier<P>* growing_ = nullptr;  // in this level
  frontier<P>* waiting_ = nullptr;
  search_crew<frontier_part<P>> crew_;
  const node* start_ = nullptr;  // if it is a goal

  // searching/goal: written under the lock, read after the join of the level.
  futex_mutex meeting_lock_;
  std::uint64_t meetings_ = 0;
  const node* met_forward_ = nullptr;
  const node* met_backward_ = nullptr;
};

}  // namespace detail

template <two_way_puzzle P>
task<search_result<P>> bidirectional_search(const P& puzzle, search_options options) {
  co_await resume_on(detail::search_executor(options));
  const auto search = std::make_unique<detail::bidirectional<P>>(puzzle, options);
  co_await detail::bidirectional<P>::run(*search);
  co_return search->result();
}

}  // namespace tandem::inline v0
