// deepening_walk.hpp: the plain code of iterative_deepening_search, without tasks.
// SPDX-License-Identifier: MIT
//
// Takes an open position from its stack and searches below it by plain recursion, which nothing
// beats. When its stride is over (some 100 microseconds, search_pacer), or the recursion gets too
// deep, the recursion ends, and each of its calls leaves the positions it has not gone to on the
// stack.
//
// Open positions lie in the stack by their depth: all of them are siblings of positions on one
// path, the one that was searched last. So the moves up to any of them are still those that were
// written when that path was gone: moves are overwritten only at its own depth and below. That is
// why a recursion that has to end ends as a whole.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include <tandem/config.hpp>
#include <tandem/detail/search/estimate.hpp>
#include <tandem/detail/search/open_stack.hpp>
#include <tandem/detail/search/search_control.hpp>
#include <tandem/detail/search/search_memory.hpp>

namespace tandem::inline v0::detail {

/// Whether a search can tell the move that would only take back the one before.
template <class P>
concept knows_the_way_back = reversible_puzzle<P> && std::equality_comparable<typename P::move>;

class no_way_back {};

/// What a path costs and how many moves it has, which is the same unless moves have costs.
template <puzzle P>
class path_length {
 public:
  // Costs add up beyond 32 bits, moves do not.
  using cost_type = std::conditional_t<weighted_puzzle<P>, std::uint64_t, std::uint32_t>;

  path_length() = default;

  cost_type cost() const noexcept { return cost_; }
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

  cost_type cost_ = 0;
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

/// Allocates whole cache lines, which no other thread's data shares.
template <class T>
class line_allocator {
 public:
  using value_type = T;

  line_allocator() = default;
  template <class Other>
  explicit(false) line_allocator(const line_allocator<Other>& /*other*/) noexcept {}

  T* allocate(std::size_t count) {
    return static_cast<T*>(::operator new(lines(count), std::align_val_t{line}));
  }
  void deallocate(T* room, std::size_t count) noexcept {
    ::operator delete(room, lines(count), std::align_val_t{line});
  }
  bool operator==(const line_allocator&) const = default;

 private:
  static constexpr std::size_t line = std::max<std::size_t>(64, alignof(T));
  static std::size_t lines(std::size_t count) noexcept {
    return (count * sizeof(T) + line - 1) / line * line;
  }
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
  std::vector<Move, line_allocator<Move>> moves_;
};

/// The plain code of an iteration: what one task works with from fork to fork. It has its cache
/// lines to itself, as its path has: both are written at each position.
template <puzzle P, class Table>
class alignas(64) deepening_walk {
 public:
  using position = typename P::position;
  using move = typename P::move;
  using entry = deepening_entry<P>;
  using way_back = typename entry::way_back;

  static constexpr std::uint64_t none = (std::numeric_limits<std::uint64_t>::max)();

  deepening_walk(const P& puzzle, Table& table, search_control& control, std::uint64_t bound,
                 const move_path<move>& path = move_path<move>())
      : puzzle_(puzzle), table_(table), bound_(bound), open_(control), path_(path) {}
  deepening_walk(const deepening_walk&) = delete;
  deepening_walk& operator=(const deepening_walk&) = delete;

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
      const std::size_t others = open_.size();
      path_.set(top.length.moves(), top.by);
      left_ = left;
      refused_ = 0;
      deepest_ = top.length.moves() + levels;
      visit(top.at, top.length, top.back);
      turn_round(open_, others);
      left = left_ + refused_;
    }
    return most - left;
  }

  /// Gives half of what is left away; there are two open positions or more.
  std::unique_ptr<deepening_walk> split() {
    auto other = std::make_unique<deepening_walk>(puzzle_, table_, *open_.get_allocator().control(),
                                                  bound_, path_);
    other->open_ = split_open(open_);
    return other;
  }

  std::size_t open_count() const noexcept { return open_.size(); }
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
      if (found_goal_) [[unlikely]]
        return;
      reach(at, length, by, [&](position&& next, path_length<P> longer) {
        if (left_ != 0) [[likely]] {
          path_.set(longer.moves(), by);
          visit(next, longer, way_back_of(at, by));
        } else {
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
    const path_length<P> longer = length.plus(cost_of(puzzle_, at, by));
    position next = puzzle_.apply(at, by);
    const std::uint64_t rest = raw_estimate(puzzle_, next);
    if (rest >= unreachable) [[unlikely]]
      return;
    const std::uint64_t whole = longer.cost() + rest;
    if (whole > bound_) {
      if (whole < least_ && is_missed(next, longer.cost())) least_ = whole;
      return;
    }
    if constexpr (Table::remembers) {
      if (!table_.is_news(next, longer.cost())) return;
    }
    go(std::move(next), longer);
  }

  bool is_missed(const position& at, typename path_length<P>::cost_type cost) {
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

}  // namespace tandem::inline v0::detail
