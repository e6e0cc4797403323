// iterative_deepening.hpp: a cheapest path with hardly any memory: parallel IDA*.
// SPDX-License-Identifier: MIT
//
// Depth first, again and again, each time as far as the bound: positions whose cost so far and
// estimate together are above it are cut off, and the least such sum is the next bound. With an
// admissible estimate the first goal that an iteration meets costs exactly its bound, and no goal
// is cheaper: it ends the search, whoever meets it.
//
// An iteration is shared out as it goes. A task walks its stack of open positions as a plain loop,
// and remembers the moves that lead to where it is. Only when it is not done after some 200
// microseconds it forks, as count_solutions does: every second open position goes to one child, the
// others to a second one, each with a copy of the moves so far. Thieves take the oldest child,
// which is the largest. So the frontier is in the workers' lanes, and nothing is shared while a
// task walks.
//
// Open positions lie in the stack by their depth, so the moves up to any of them are still those
// that were written when its siblings were reached: moves are overwritten only at its own depth and
// below.
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
#include <tandem/search/memory_claim.hpp>
#include <tandem/search/open_stack.hpp>
#include <tandem/search/search_control.hpp>
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

/// A position that waits on the stack, and the move that leads to it.
template <puzzle P>
class deepening_entry {
 public:
  using position = typename P::position;
  using move = typename P::move;
  using way_back = std::conditional_t<knows_the_way_back<P>, move, no_way_back>;

  deepening_entry(position&& reached, move through, way_back to_parent, search_cost so_far,
                  std::uint32_t moves)
      : at(std::move(reached)),
        cost(so_far),
        by(std::move(through)),
        back(std::move(to_parent)),
        depth_(moves) {}

  std::uint32_t depth() const noexcept {
    if constexpr (weighted_puzzle<P>) {
      return depth_.value;
    } else {
      return cost;
    }
  }

  position at;
  search_cost cost;  // from the start to here
  move by;
  [[no_unique_address]] way_back back;

 private:
  class stored_depth {
   public:
    explicit(false) stored_depth(std::uint32_t moves) : value(moves) {}
    std::uint32_t value;
  };
  class same_as_cost {
   public:
    explicit(false) same_as_cost(std::uint32_t /*moves*/) {}
  };

  [[no_unique_address]] std::conditional_t<weighted_puzzle<P>, stored_depth, same_as_cost> depth_;
};

/// The moves from the start to the position that a task is at.
template <class Move>
class move_path {
 public:
  /// `by` is move number `depth`, from 1; what came after it is forgotten.
  void set(std::uint32_t depth, const Move& by) {
    if constexpr (std::is_trivially_copyable_v<Move> && std::is_copy_assignable_v<Move>) {
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

template <puzzle P>
class deepening {
 public:
  using position = typename P::position;
  using move = typename P::move;

  deepening(const P& puzzle, const search_options& options)
      : puzzle_(puzzle),
        control_(options),
        is_parallel_(search_parallelism(options) > 1),
        root_(puzzle.initial()) {}

  /// An iteration after the other, until the search has ended.
  static task<void> run(deepening& self) {
    self.begin();
    while (self.control_.running()) {
      std::vector<entry> open;
      self.open_root(open);
      co_await walk(self, std::move(open), move_path<move>(), 1);
      if (self.control_.running()) self.deepen();
    }
  }

  search_result<P> result() {
    search_result<P> result;
    control_.conclude(result);
    result.depth = bound_;
    if (result.solved()) {
      result.path = std::move(path_);
      result.cost = cost_of_path(puzzle_, result.path);
      result.solutions = 1;
      if constexpr (guided_puzzle<P>) check_estimates(puzzle_, result.path, result.cost);
    }
    return result;
  }

 private:
  using entry = deepening_entry<P>;
  static constexpr std::uint64_t none = std::numeric_limits<std::uint64_t>::max();

  void begin() {
    control_.count(1);
    bound_ = estimate(puzzle_, root_);
    if (puzzle_.is_goal(root_)) {
      control_.finish(search_outcome::solved);
    } else if (bound_ >= unreachable) {
      control_.finish(search_outcome::exhausted);
    }
  }

  void open_root(std::vector<entry>& open) {
    std::uint64_t least = none;
    for (auto&& by : puzzle_.legal_moves(root_)) {
      reach(open, root_, 0, 0, std::forward<decltype(by)>(by), least);
    }
    lower_next_bound(least);
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

  static task<void> walk(deepening& self, std::vector<entry> open, move_path<move> moves,
                         std::uint32_t stride) {
    search_pacer pacer(stride);
    std::uint64_t least = none;
    try {
      memory_claim memory(self.control_);
      while (!open.empty() && self.control_.running()) {
        const std::uint32_t visited = self.advance(open, moves, least, pacer.stride());
        memory.cover(open);
        if (!self.control_.checkpoint(pacer, visited, visited, self.bound_)) break;
        if (!pacer.segment_over()) continue;
        if (self.is_parallel_ && open.size() >= 2) {
          std::vector<entry> other = split_open(open);
          memory.set(0);
          // Named, since g++ 12 is not to be trusted with temporaries in a co_await.
          task<void> first = walk(self, std::move(open), moves, pacer.stride());
          task<void> second = walk(self, std::move(other), std::move(moves), pacer.stride());
          co_await fork_join(std::move(first), std::move(second));
          break;
        }
        co_await yield();
        pacer.begin_segment();
      }
    } catch (...) {
      self.control_.fail(std::current_exception());
    }
    self.lower_next_bound(least);
  }

  /// Visits up to `most` open positions; a plain function, so that what it works with may stay in
  /// registers.
  ///
  /// @returns             how many it visited
  std::uint32_t advance(std::vector<entry>& open, move_path<move>& moves, std::uint64_t& least,
                        std::uint32_t most) {
    std::uint32_t visited = 0;
    while (visited < most && !open.empty()) {
      const entry top = std::move(open.back());
      open.pop_back();
      ++visited;
      moves.set(top.depth(), top.by);
      if (puzzle_.is_goal(top.at)) {
        win(moves.first(top.depth()));
        break;
      }
      for (auto&& by : puzzle_.legal_moves(top.at)) {
        if constexpr (knows_the_way_back<P>) {
          if (by == top.back) continue;
        }
        reach(open, top.at, top.cost, top.depth(), std::forward<decltype(by)>(by), least);
      }
    }
    return visited;
  }

  /// Opens what `by` leads to, or notes by how much it is above the bound.
  template <class By>
  void reach(std::vector<entry>& open, const position& at, search_cost cost, std::uint32_t depth,
             By&& by, std::uint64_t& least) {
    const std::uint64_t so_far = std::uint64_t{cost} + cost_of(puzzle_, at, by);
    position next = puzzle_.apply(at, by);
    const std::uint64_t whole = so_far + estimate(puzzle_, next);
    if (whole > bound_) {
      least = std::min(least, whole);
      return;
    }
    if constexpr (knows_the_way_back<P>) {
      move back = puzzle_.inverse(at, by);
      open.emplace_back(std::move(next), std::forward<By>(by), std::move(back),
                        static_cast<search_cost>(so_far), depth + 1);
    } else {
      open.emplace_back(std::move(next), std::forward<By>(by), no_way_back(),
                        static_cast<search_cost>(so_far), depth + 1);
    }
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
  std::uint64_t bound_ = 0;  // of this iteration; below `unreachable`, or nothing is searched
  std::vector<move> path_;   // by the winner; read after all have ended
  std::atomic<std::uint64_t> next_bound_{none};  // least sum that was cut off
};

}  // namespace detail

template <puzzle P>
task<search_result<P>> iterative_deepening_search(const P& puzzle, search_options options) {
  co_await resume_on(detail::search_executor(options));
  const auto search = std::make_unique<detail::deepening<P>>(puzzle, options);
  co_await detail::deepening<P>::run(*search);
  co_return search->result();
}

}  // namespace tandem::inline v0
