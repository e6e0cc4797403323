// best_first.hpp: the cheapest path, by A* on all workers.
// SPDX-License-Identifier: MIT
//
// The open positions wait in order of f = g + h: what was paid for reaching them and what the
// estimate says of the rest. A batch of those with the lowest f, the least h first, is expanded by
// all workers, like a level of a breadth-first search; then what they reached is put in order, and
// the next batch taken. Batches are small, some hundreds for each worker, so that among equal
// promises the search dives for the goal; and not too small either: where few have the lowest f,
// some of the next ones are expanded on trust, since cheaper ones are hardly left.
//
// A position that is reached again at less cost gets its new parent under the lock of its shard,
// and is opened again, whether it was expanded before or not. So the estimate needs not be
// consistent, and the order in which a batch is expanded does not matter: when no open position
// promises less than the cheapest goal that was reached, that one is the cheapest of all.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include <tandem/detail/search/best_first_part.hpp>
#include <tandem/detail/search/estimate.hpp>
#include <tandem/detail/search/level.hpp>
#include <tandem/detail/search/open_list.hpp>
#include <tandem/detail/search/path.hpp>
#include <tandem/detail/search/search_control.hpp>
#include <tandem/detail/search/seen_set.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

/// Finds a cheapest path, or sees that there is none: A*, or Dijkstra's algorithm if the puzzle has
/// no heuristic. Needs memory for each position that it reaches; iterative_deepening_search does
/// not.
///
/// @param puzzle        stays the caller's until the await returns
/// @returns             a cheapest path if there is one
/// @throws              what the puzzle throws, first error first; operation_cancelled;
///                      puzzle_error: a cost of 0, an estimate below 0 or one that is too high, as
///                      seen at a goal or on the path that was found
/// @cancellation        noticed within some 100 us if the puzzle's functions are fast
/// @resumes_on          the executor that the caller awaited from; searches on the worker pool
/// @cost                per position what it is kept as, 16 bytes for its parent and cost, 10-15
///                      for its slot; 16 each time it is opened
/// @source              Hart, Nilsson, Raphael, A Formal Basis for the Heuristic Determination of
///                      Minimum Cost Paths (1968)
template <puzzle P>
[[nodiscard]] task<search_result<P>> best_first_search(const P& puzzle,
                                                       search_options options = {});

// Implementation

namespace detail {

template <puzzle P>
class best_first {
 public:
  using node = search_node<P, least_cost>;
  using part = best_first_part<P>;

  best_first(const P& puzzle, const search_options& options)
      : puzzle_(puzzle),
        control_(options),
        seen_(control_, search_parallelism(options)),
        open_(control_),
        batch_(control_),
        crew_(control_, search_parallelism(options)) {}

  /// Expands a batch after the other until the search has ended.
  static task<void> run(best_first& self) {
    try {
      self.begin();
      while (self.control_.running()) {
        if (self.open_.empty() || self.open_.lowest() >= self.bound_) {
          self.control_.finish(self.goal_ != nullptr ? search_outcome::solved
                                                     : search_outcome::exhausted);
        } else {
          const std::uint64_t lowest = self.open_.lowest();
          self.take_batch();
          co_await level_crew<part>::run(self.crew_, self, self.batch_.size(), lowest);
          self.collect();
        }
      }
    } catch (...) {
      self.control_.fail(std::current_exception());
    }
  }

  /// Of the batch, for its crew.
  std::uint64_t expand(part& own, std::size_t first, std::size_t last) {
    own.expand(puzzle_, batch_, first, last, bound_);
    const std::size_t start = seen_.shard_count() / crew_.workers() * own.index;
    return own.enter(puzzle_, seen_, start, bound_);
  }

  search_result<P> result() {
    search_result<P> result;
    control_.conclude(result);
    count_seen(result, seen_);
    result.nodes = result.positions_kept;
    if (result.solved()) {
      put_path(result, puzzle_, path_to(puzzle_, goal_));
      if constexpr (guided_puzzle<P>) check_estimates(puzzle_, result.path, result.cost);
    }
    return result;
  }

 private:
  static constexpr std::uint64_t no_bound = ~std::uint64_t{0};
  static constexpr std::size_t least_batch = 16;  // both per worker
  static constexpr std::size_t most_batch = 256;

  void begin() {
    const typename P::position root = puzzle_.initial();
    const node* added =
        seen_.insert(mixed_hash(puzzle_, root), keep(puzzle_, root), nullptr, std::uint64_t{0});
    control_.count(1);
    const search_cost rest = estimate(puzzle_, root);
    if (puzzle_.is_goal(root)) {
      check_goal_estimate(rest);
      goal_ = added;
      bound_ = 0;
    } else if (rest < unreachable) {
      open_.push({added, 0}, rest);
    }
  }

  void take_batch() {
    batch_.clear();
    open_.take(batch_, least_batch * crew_.workers(), most_batch * crew_.workers());
  }

  /// Puts what the tasks have reached in order.
  void collect() {
    for (const auto& each : crew_.parts()) {
      for (const auto& goal : each->goals) {
        if (goal.cost >= bound_) continue;
        bound_ = goal.cost;
        goal_ = goal.node;
      }
      each->goals.clear();
    }
    for (const auto& each : crew_.parts()) {
      for (const auto& opened : each->opened) {
        if (opened.what.cost + opened.estimate < bound_) open_.push(opened.what, opened.estimate);
      }
      each->opened.clear();
    }
  }

  const P& puzzle_;
  search_control control_;
  seen_set<P, least_cost> seen_;
  open_list<node> open_;
  search_vector<open_entry<node>> batch_;
  level_crew<part> crew_;
  const node* goal_ = nullptr;      // the cheapest that was reached
  std::uint64_t bound_ = no_bound;  // its cost: nothing that promises no less is of interest
};

}  // namespace detail

template <puzzle P>
task<search_result<P>> best_first_search(const P& puzzle, search_options options) {
  co_await resume_on(detail::search_executor(options));
  const auto search = std::make_unique<detail::best_first<P>>(puzzle, options);
  co_await detail::best_first<P>::run(*search);
  co_return search->result();
}

}  // namespace tandem::inline v0
