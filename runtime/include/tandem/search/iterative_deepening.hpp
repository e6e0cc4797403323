// iterative_deepening.hpp: a cheapest path with hardly any memory: parallel IDA*.
// SPDX-License-Identifier: MIT
//
// Depth first, again and again, each time as far as the bound: positions whose cost so far and
// estimate together are above it are cut off, and the least such sum is the next bound. With an
// admissible estimate the first goal that an iteration meets costs exactly its bound, and no goal
// is cheaper: it ends the search, whoever meets it.
//
// An iteration is shared out as it goes. A task searches by plain recursion (deepening_walk.hpp).
// Only when it is not done after some 200 microseconds it forks, as count_solutions does: every
// second open position goes to one child, the others to a second one, each with a copy of the moves
// so far. Thieves take the oldest child, which is the largest. So the frontier is in the workers'
// lanes, and nothing is shared while a task walks. An iteration after one that was worth forks
// forks at once, until every worker has something.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include <tandem/detail/search/deepening_walk.hpp>
#include <tandem/detail/search/estimate.hpp>
#include <tandem/detail/search/search_control.hpp>
#include <tandem/detail/search/transpositions.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/task.hpp>
#include <tandem/yield.hpp>

namespace tandem::inline v0 {

/// Finds a cheapest path: iterative deepening A* with the puzzle's heuristic, or without one.
///
/// Never goes straight back where the puzzle has an inverse() and its moves can be compared. Apart
/// from that a position is searched as often as it is reached, unless there is room for
/// transpositions (search_options::transposition_bytes). Without it, a graph with cycles and no
/// goal is searched for ever: let heuristic() say `unreachable`, or set a limit.
///
/// @param puzzle        stays the caller's until the await returns
/// @returns             a cheapest path if the heuristic is admissible; `nodes` are the visits of
///                      all iterations, `depth` the last bound
/// @throws              what the puzzle throws, first error first; puzzle_error: an estimate below
///                      0, one too high on the path that was found, a cost that is not above 0;
///                      operation_cancelled
/// @cancellation        noticed within some 100 us if the puzzle's functions are fast
/// @resumes_on          the executor that the caller awaited from; searches on the worker pool
/// @cost                the open positions of each task, a fork in some 200 us
/// @source              Korf, Depth-First Iterative-Deepening (1985)
template <puzzle P>
[[nodiscard]] task<search_result<P>> iterative_deepening_search(const P& puzzle,
                                                                search_options options = {});

// Implementation

namespace detail {

/// The search: iterations, tasks and how it ends.
template <puzzle P, class Table>
class deepening {
 public:
  using position = typename P::position;
  using move = typename P::move;
  using plain_walk = deepening_walk<P, Table>;

  deepening(const P& puzzle, const search_options& options)
      : puzzle_(puzzle),
        control_(options),
        is_parallel_(search_parallelism(options) > 1),
        early_forks_(is_parallel_ ? std::bit_width(search_parallelism(options)) : 0),
        root_(puzzle.initial()),
        table_(puzzle, control_, search_parallelism(options)) {}

  /// An iteration after the other, until the search has ended.
  static task<void> run(deepening& self) {
    self.begin();
    while (self.control_.running()) {
      auto whole =
          std::make_unique<plain_walk>(self.puzzle_, self.table_, self.control_, self.bound_);
      if (!self.begin_iteration(*whole)) break;
      const bool is_long = self.has_forked_.exchange(false, std::memory_order_relaxed);
      co_await walk(self, std::move(whole), 1, is_long ? self.early_forks_ : 0);
      if (self.control_.running()) self.deepen();
      // Many short iterations are a long segment, too.
      if (self.turn_.segment_over(search_pacer::clock::now())) {
        co_await yield();
        self.turn_.begin_segment();
      }
    }
  }

  search_result<P> result() {
    search_result<P> result;
    control_.conclude(result);
    result.depth = bound_;
    table_.count(result);
    if (result.solved()) {
      result.path = std::move(path_);
      result.cost = cost_of_path(puzzle_, result.path);
      result.solutions = 1;
      if constexpr (guided_puzzle<P>) check_estimates(puzzle_, result.path, result.cost);
    }
    return result;
  }

 private:
  static constexpr std::uint64_t none = plain_walk::none;

  void begin() {
    control_.count(1);
    bound_ = estimate(puzzle_, root_);
    if (puzzle_.is_goal(root_)) {
      control_.finish(search_outcome::solved);
    } else if (bound_ >= unreachable) {
      bound_ = 0;
      control_.finish(search_outcome::exhausted);
    }
  }

  /// @returns             false if that was too much for the limit of memory, or for the puzzle
  bool begin_iteration(plain_walk& whole) noexcept {
    try {
      table_.begin_iteration(root_);
      whole.open_root(root_);
      return true;
    } catch (...) {
      control_.fail(std::current_exception());
      return false;
    }
  }

  /// After an iteration that met no goal.
  void deepen() {
    // searching/sum. Relaxed: all tasks of the iteration have been joined.
    const std::uint64_t next = next_bound_.exchange(none, std::memory_order_relaxed);
    if (next == none) {
      control_.finish(search_outcome::exhausted);
      return;
    }
    bound_ = next;
    control_.count(1);
  }

  /// @param early_forks   how often it is to fork as soon as it can, its children one time less
  static task<void> walk(deepening& self, std::unique_ptr<plain_walk> given, std::uint32_t stride,
                         unsigned early_forks) {
    // Parameters live as long as the frame, which may be longer than the search.
    std::unique_ptr<plain_walk> own = std::move(given);
    search_pacer pacer(stride);
    try {
      while (own->open_count() > 0 && self.control_.running()) {
        const std::uint32_t visited = own->advance(pacer.stride());
        if (own->found_goal()) self.win(own->path_to_goal());
        if (!self.control_.checkpoint(pacer, visited, visited, self.bound_)) break;
        if (early_forks == 0 && !pacer.segment_over()) continue;
        if (self.is_parallel_ && own->open_count() >= 2) {
          const unsigned left = early_forks > 0 ? early_forks - 1 : 0;
          self.has_forked_.store(true, std::memory_order_relaxed);
          std::unique_ptr<plain_walk> other = own->split();
          // Named, since g++ 12 is not to be trusted with temporaries in a co_await.
          task<void> first = walk(self, std::move(own), pacer.stride(), left);
          task<void> second = walk(self, std::move(other), pacer.stride(), left);
          co_await fork_join(std::move(first), std::move(second));
          co_return;
        }
        if (!pacer.segment_over()) continue;
        co_await yield();
        pacer.begin_segment();
      }
    } catch (...) {
      self.control_.fail(std::current_exception());
    }
    if (own != nullptr) self.lower_next_bound(own->least());
  }

  void win(std::vector<move>&& path) {
    if (control_.finish(search_outcome::solved)) path_ = std::move(path);
  }

  void lower_next_bound(std::uint64_t least) noexcept {
    // searching/sum
    std::uint64_t next = next_bound_.load(std::memory_order_relaxed);
    while (least < next &&
           !next_bound_.compare_exchange_weak(next, least, std::memory_order_relaxed)) {}
  }

  const P& puzzle_;
  search_control control_;
  const bool is_parallel_;
  const unsigned early_forks_;           // from one task to twice as many as workers, at least
  std::atomic<bool> has_forked_{false};  // in this iteration
  const position root_;
  Table table_;
  std::uint64_t bound_ = 0;                      // of this iteration
  search_pacer turn_;                            // of all iterations
  std::vector<move> path_;                       // searching/winner
  std::atomic<std::uint64_t> next_bound_{none};  // least sum that was cut off
};

template <class Table, puzzle P>
task<search_result<P>> deepen(const P& puzzle, const search_options& options) {
  const auto search = std::make_unique<deepening<P, Table>>(puzzle, options);
  co_await deepening<P, Table>::run(*search);
  co_return search->result();
}

}  // namespace detail

template <puzzle P>
task<search_result<P>> iterative_deepening_search(const P& puzzle, search_options options) {
  co_await resume_on(detail::search_executor(options));
  if (options.transposition_bytes == 0) {
    co_return co_await detail::deepen<detail::no_transpositions>(puzzle, options);
  }
  co_return co_await detail::deepen<detail::transpositions<P>>(puzzle, options);
}

}  // namespace tandem::inline v0
