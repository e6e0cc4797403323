// tree_walk.hpp: the plain code of count_solutions and count_tree, without tasks.
// SPDX-License-Identifier: MIT
//
// As deepening_walk.hpp: plain recursion below an open position, which ends when its stride is over
// or when it gets too deep, and leaves on the stack what it has not gone to, the deepest on top.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <tandem/detail/search/open_stack.hpp>
#include <tandem/detail/search/search_control.hpp>
#include <tandem/detail/search/search_memory.hpp>

namespace tandem::inline v0::detail {

/// What a walk has seen. Each task has its own until it ends.
class tree_sums {
 public:
  std::uint64_t leaves = 0;
  std::uint64_t solutions = 0;
  std::uint64_t depth = 0;
};

enum class tree_goals : bool { ignored, are_leaves };

/// What one task works with from fork to fork. It has its cache lines to itself: its counters are
/// written at each position.
template <puzzle P, tree_goals Goals>
class alignas(64) tree_walk {
 public:
  using position = typename P::position;

  tree_walk(const P& puzzle, search_control& control) : puzzle_(puzzle), open_(control) {}
  tree_walk(const tree_walk&) = delete;
  tree_walk& operator=(const tree_walk&) = delete;

  void open_root() { open_.emplace_back(position(puzzle_.initial()), 0); }

  /// Visits `most` positions, or all that are left.
  ///
  /// @returns             how many it visited
  std::uint32_t advance(std::uint32_t most) {
    left_ = most;
    while (left_ > 0 && !open_.empty()) {
      const entry top = std::move(open_.back());
      open_.pop_back();
      const std::size_t others = open_.size();
      deepest_ = top.depth + levels;
      visit(top.at, top.depth);
      turn_round(open_, others);
    }
    return most - left_;
  }

  /// Gives half of what is left away; there are two open positions or more.
  std::unique_ptr<tree_walk> split() {
    auto other = std::make_unique<tree_walk>(puzzle_, *open_.get_allocator().control());
    other->open_ = split_open(open_);
    return other;
  }

  std::size_t open_count() const noexcept { return open_.size(); }
  const tree_sums& sums() const noexcept { return sums_; }

 private:
  class entry {
   public:
    entry(position&& reached, std::uint64_t moves) : at(std::move(reached)), depth(moves) {}

    position at;
    std::uint64_t depth;
  };

  // Calls within each other: others use the stack of a worker, too.
  static constexpr std::uint64_t levels = 128;

  void visit(const position& at, std::uint64_t depth) {
    --left_;
    if (depth > sums_.depth) sums_.depth = depth;
    if constexpr (Goals == tree_goals::are_leaves) {
      if (puzzle_.is_goal(at)) {
        ++sums_.solutions;
        return;
      }
    }
    bool is_leaf = true;
    for (auto&& by : puzzle_.legal_moves(at)) {
      is_leaf = false;
      if (left_ != 0 && depth != deepest_) [[likely]] {
        const position next = puzzle_.apply(at, by);
        visit(next, depth + 1);
      } else {
        open_.emplace_back(position(puzzle_.apply(at, by)), depth + 1);
      }
    }
    if (is_leaf) ++sums_.leaves;
  }

  const P& puzzle_;
  search_vector<entry> open_;
  tree_sums sums_;
  std::uint64_t deepest_ = 0;  // where this recursion leaves everything open
  std::uint32_t left_ = 0;     // visits until it ends
};

}  // namespace tandem::inline v0::detail
