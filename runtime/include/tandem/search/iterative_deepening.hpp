// iterative_deepening.hpp: a cheapest path with hardly any memory: parallel IDA*.
// SPDX-License-Identifier: MIT
//
// Depth first, again and again, each time as far as the bound: positions whose cost so far and
// estimate together are above it are cut off, and the least such sum is the next bound. With an
// admissible estimate the first goal that an iteration meets costs exactly its bound, and no goal
// is cheaper: it ends the search, whoever meets it.
//
// An iteration is shared out as it goes. A task takes an open position from its stack and searches
// below it by plain recursion, which nothing beats. When its stride is over (some 100 microseconds,
// search_pacer), or the recursion gets too deep, the recursion ends, and each of its calls leaves
// the positions it has not gone to on the stack. Only when a task is not done after some 200
// microseconds it forks, as count_solutions does: every second open position goes to one child, the
// others to a second one, each with a copy of the moves so far. Thieves take the oldest child,
// which is the largest. So the frontier is in the workers' lanes, and nothing is shared while a
// task walks.
//
// Open positions lie in the stack by their depth: all of them are siblings of positions on one
// path, the one that was searched last. So the moves up to any of them are still those that were
// written when that path was gone: moves are overwritten only at its own depth and below. That is
// why a recursion that has to end ends as a whole.
#pragma once

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <tandem/fork_join.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/search/estimate.hpp>
#include <tandem/search/open_stack.hpp>
#include <tandem/search/search_control.hpp>
#include <tandem/search/search_memory.hpp>
#include <tandem/search/transpositions.hpp>
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

/// Whether a search can tell the move that would only take back the one before.
template <class P>
concept knows_the_way_back = reversible_puzzle<P> && std::equality_comparable<typename P::move>;

class no_way_back {};

/// What a path costs and how many moves it has, which is the same unless moves have costs.
template <puzzle P>
class path_length {
 public:
  path_length() = default;

  std::uint32_t cost() const noexcept { return cost_; }
  std::uint32_t moves() const noexcept {
    if constexpr (weighted_puzzle<P>) {
      return moves_.number;
    } else {
      return cost_;
    }
  }
  /// One move longer.
  path_length plus(search_cost step) const noexcept {
    path_length longer = *this;
    longer.cost_ += step;
    if constexpr (weighted_puzzle<P>) ++longer.moves_.number;
    return longer;
  }

 private:
  struct counted {
    std::uint32_t number = 0;
  };
  struct not_counted {};

  std::uint32_t cost_ = 0;
  [[no_unique_address]] std::conditional_t<weighted_puzzle<P>, counted, not_counted> moves_;
};

/// A position that waits on the stack, and the move that leads to it.
template <puzzle P>
class deepening_entry {
 public:
  using position = typename P::position;
  using move = typename P::move;
  using way_back = std::conditional_t<knows_the_way_back<P>, move, no_way_back>;

  deepening_entry(position&& reached, move through, way_back to_parent, path_length<P> so_far)
      : at(std::move(reached)),
        length(so_far),
        by(std::move(through)),
        back(std::move(to_parent)) {}

  position at;
  path_length<P> length;  // from the start to here
  move by;
  [[no_unique_address]] way_back back;
};

/// The moves from the start to the position that a task is at.
template <class Move>
class move_path {
 public:
  /// `by` is move number `depth`, from 1; what came after it is forgotten.
  void set(std::uint32_t depth, const Move& by) {
    if constexpr (std::is_copy_assignable_v<Move>) {
      if (moves_.size() < depth) {
        moves_.push_back(by);
      } else {
        moves_[depth - 1] = by;
      }
    } else {
      while (moves_.size() >= depth) moves_.pop_back();
      moves_.push_back(by);
    }
  }

  std::vector<Move> first(std::uint32_t depth) const {
    return std::vector<Move>(moves_.begin(), moves_.begin() + depth);
  }

 private:
  std::vector<Move> moves_;
};

/// The plain code of an iteration: what one task works with from fork to fork.
template <puzzle P, class Table>
class deepening_walk {
 public:
  using position = typename P::position;
  using move = typename P::move;
  using entry = deepening_entry<P>;
  using way_back = typename entry::way_back;

  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

  deepening_walk(const P& puzzle, Table& table, search_control& control, std::uint64_t bound)
      : puzzle_(puzzle), table_(table), bound_(bound), open_(control) {}
  deepening_walk(deepening_walk&&) = default;

  /// Opens what one move leads to.
  void open_root(const position& root) {
    for (auto&& by : puzzle_.legal_moves(root)) {
      reach(root, path_length<P>(), by, [&](position&& next, path_length<P> length) {
        open_.emplace_back(std::move(next), by, way_back_of(root, by), length);
      });
    }
  }

  /// Visits about `most` positions, or all that are left, or until it finds a goal.
  ///
  /// @returns             how many it visited
  std::uint32_t advance(std::uint32_t most) {
    std::uint32_t left = most;
    while (left > 0 && !open_.empty() && !found_goal_) {
      const entry top = std::move(open_.back());
      open_.pop_back();
      const auto others = static_cast<std::ptrdiff_t>(open_.size());
      path_.set(top.length.moves(), top.by);
      left_ = left;
      refused_ = 0;
      deepest_ = top.length.moves() + levels;
      visit(top.at, top.length, top.back);
      // The deepest calls have ended first, and the deepest positions have to be on top.
      std::reverse(open_.begin() + others, open_.end());
      left = left_ + refused_;
    }
    return most - left;
  }

  /// Gives half of what is left away; there are two open positions or more.
  deepening_walk split() {
    deepening_walk other(puzzle_, table_, *open_.get_allocator().control(), bound_);
    other.path_ = path_;
    other.open_ = split_open(open_);
    return other;
  }

  const search_vector<entry>& open() const noexcept { return open_; }
  bool found_goal() const noexcept { return found_goal_; }
  std::vector<move> path_to_goal() const { return path_.first(goal_depth_); }
  /// The least sum of cost and estimate that was above the bound.
  std::uint64_t least() const noexcept { return least_; }

 private:
  // Calls within each other: some 200 bytes of stack each, and others use that of a worker, too.
  static constexpr std::uint32_t levels = 128;

  using passed_back =
      std::conditional_t<std::is_trivially_copyable_v<way_back> && sizeof(way_back) <= 8, way_back,
                         const way_back&>;

  void visit(const position& at, path_length<P> length, passed_back back) {
    --left_;
    if (puzzle_.is_goal(at)) [[unlikely]] {
      found_goal_ = true;
      goal_depth_ = length.moves();
      end_recursion();
      return;
    }
    if (length.moves() == deepest_) [[unlikely]]
      end_recursion();
    for (auto&& by : puzzle_.legal_moves(at)) {
      if constexpr (knows_the_way_back<P>) {
        if (by == back) continue;
      }
      reach(at, length, by, [&](position&& next, path_length<P> longer) {
        if (left_ != 0) [[likely]] {
          path_.set(longer.moves(), by);
          visit(next, longer, way_back_of(at, by));
        } else if (!found_goal_) {
          open_.emplace_back(std::move(next), by, way_back_of(at, by), longer);
        }
      });
    }
  }

  void end_recursion() noexcept {
    refused_ = left_;
    left_ = 0;
  }

  /// Goes from `at` by one move, and on if that is not above the bound.
  template <class Go>
  TANDEM_ALWAYS_INLINE void reach(const position& at, path_length<P> length, const move& by,
                                  Go go) {
    // In 64 bits no sum overflows: a path within the bound, a move and an estimate of an int64. What
    // is within the bound fits into 32.
    const search_cost step = cost_of(puzzle_, at, by);
    position next = puzzle_.apply(at, by);
    const std::uint64_t whole = std::uint64_t{length.cost()} + step + raw_estimate(puzzle_, next);
    if (whole > bound_) {
      if (whole < least_ && is_missed(next, std::uint64_t{length.cost()} + step)) least_ = whole;
      return;
    }
    if constexpr (Table::remembers) {
      if (!table_.is_news(next, length.cost() + step)) return;
    }
    go(std::move(next), length.plus(step));
  }

  bool is_missed(const position& at, std::uint64_t cost) {
    if constexpr (Table::remembers) {
      return table_.is_missed(at, cost);
    } else {
      return true;
    }
  }

  way_back way_back_of(const position& at, const move& by) const {
    if constexpr (knows_the_way_back<P>) {
      return puzzle_.inverse(at, by);
    } else {
      return no_way_back();
    }
  }

  const P& puzzle_;
  Table& table_;
  const std::uint64_t bound_;
  search_vector<entry> open_;
  move_path<move> path_;
  std::uint64_t least_ = none;
  std::uint32_t left_ = 0;     // visits until this recursion ends
  std::uint32_t refused_ = 0;  // of these, when it ended before
  std::uint32_t deepest_ = 0;  // moves to where this recursion ends at the latest
  std::uint32_t goal_depth_ = 0;
  bool found_goal_ = false;
};

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
        root_(puzzle.initial()),
        table_(puzzle, control_, search_parallelism(options)) {}

  /// An iteration after the other, until the search has ended.
  static task<void> run(deepening& self) {
    self.begin();
    while (self.control_.running()) {
      plain_walk whole(self.puzzle_, self.table_, self.control_, self.bound_);
      if (!self.begin_iteration(whole)) break;
      co_await walk(self, std::move(whole), 1);
      if (self.control_.running()) self.deepen();
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
    // Relaxed: all tasks of the iteration have been joined.
    const std::uint64_t next = next_bound_.exchange(none, std::memory_order_relaxed);
    if (next >= unreachable) {
      control_.finish(search_outcome::exhausted);
      return;
    }
    bound_ = next;
    control_.count(1);
  }

  static task<void> walk(deepening& self, plain_walk given, std::uint32_t stride) {
    // Parameters live as long as the frame, which may be longer than the search.
    plain_walk own = std::move(given);
    search_pacer pacer(stride);
    try {
      while (!own.open().empty() && self.control_.running()) {
        const std::uint32_t visited = own.advance(pacer.stride());
        if (own.found_goal()) self.win(own.path_to_goal());
        if (!self.control_.checkpoint(pacer, visited, visited, self.bound_)) break;
        if (!pacer.segment_over()) continue;
        if (self.is_parallel_ && own.open().size() >= 2) {
          // Named, since g++ 12 is not to be trusted with temporaries in a co_await.
          task<void> first = walk(self, own.split(), pacer.stride());
          self.lower_next_bound(own.least());
          task<void> second = walk(self, std::move(own), pacer.stride());
          co_await fork_join(std::move(first), std::move(second));
          co_return;
        }
        co_await yield();
        pacer.begin_segment();
      }
    } catch (...) {
      self.control_.fail(std::current_exception());
    }
    self.lower_next_bound(own.least());
  }

  void win(std::vector<move>&& path) {
    if (control_.finish(search_outcome::solved)) path_ = std::move(path);
  }

  void lower_next_bound(std::uint64_t least) noexcept {
    std::uint64_t next = next_bound_.load(std::memory_order_relaxed);
    while (least < next &&
           !next_bound_.compare_exchange_weak(next, least, std::memory_order_relaxed)) {}
  }

  const P& puzzle_;
  search_control control_;
  const bool is_parallel_;
  const position root_;
  Table table_;
  std::uint64_t bound_ = 0;  // of this iteration; below `unreachable`, or nothing is searched
  std::vector<move> path_;   // by the winner; read after all have ended
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
