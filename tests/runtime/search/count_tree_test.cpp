// count_tree_test.cpp: laws of count_tree.
// SPDX-License-Identifier: MIT
#include <tandem/search.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <ranges>
#include <stdexcept>
#include <string>
#include <tandem/detail/split_mix.hpp>
#include <tandem/run.hpp>

#include "runtime/search/search_puzzles.hpp"
#include "runtime/search/search_support.hpp"

namespace {

using namespace tandem;
using namespace tandem::test;
using namespace std::chrono_literals;

/// A tree that only its numbers know: many children at the root, below it seven with one chance in
/// eight, so that subtrees are of every size.
class lopsided_tree {
 public:
  using position = std::uint64_t;
  using move = unsigned;

  explicit lopsided_tree(std::uint64_t seed) : seed_(seed) {}

  position initial() const { return seed_; }
  bool is_goal(position) const { throw std::logic_error("nobody asked for goals"); }
  auto legal_moves(position at) const {
    const unsigned count = at == seed_ ? 500 : (at >> 20) % 8 == 0 ? 7 : 0;
    return std::views::iota(0U, count);
  }
  position apply(position at, move by) const {
    std::uint64_t state = at + by + 1;
    return detail::split_mix(state);
  }

 private:
  std::uint64_t seed_;
};

class plain_count {
 public:
  explicit plain_count(const lopsided_tree& tree) : tree_(tree) { walk(tree.initial(), 0); }

  std::uint64_t nodes = 0;
  std::uint64_t leaves = 0;
  std::uint64_t depth = 0;

 private:
  void walk(std::uint64_t at, std::uint64_t level) {
    ++nodes;
    depth = std::max(depth, level);
    const auto moves = tree_.legal_moves(at);
    if (moves.empty()) ++leaves;
    for (const unsigned by : moves) walk(tree_.apply(at, by), level + 1);
  }

  const lopsided_tree& tree_;
};

TEST(count_tree, nodes_leaves_and_depth_are_those_of_a_plain_recursion) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const lopsided_tree tree(seed);
    const plain_count plain(tree);
    for (const unsigned threads : pool_sizes) {
      SCOPED_TRACE(std::to_string(seed) + " on " + std::to_string(threads));
      const tree_result counted = run(count_tree(tree), with_threads(threads));
      EXPECT_EQ(counted.outcome, search_outcome::exhausted);
      EXPECT_EQ(counted.nodes, plain.nodes);
      EXPECT_EQ(counted.leaves, plain.leaves);
      EXPECT_EQ(counted.depth, plain.depth);
    }
  }
}

TEST(count_tree, root_alone_is_a_leaf_of_depth_0) {
  class lonely {
   public:
    using position = int;
    using move = int;
    int initial() const { return 7; }
    bool is_goal(int) const { return true; }
    std::vector<int> legal_moves(int) const { return {}; }
    int apply(int at, int) const { return at; }
  };
  const tree_result counted = run(count_tree(lonely()));
  EXPECT_EQ(counted.nodes, 1U);
  EXPECT_EQ(counted.leaves, 1U);
  EXPECT_EQ(counted.depth, 0U);
}

TEST(count_tree, depth_is_no_stack_depth) {
  class rope {
   public:
    using position = int;
    using move = int;
    int initial() const { return 0; }
    bool is_goal(int) const { return false; }
    std::vector<int> legal_moves(int at) const {
      return at < 300'000 ? std::vector<int>{1} : std::vector<int>{};
    }
    int apply(int at, int by) const { return at + by; }
  };
  const tree_result counted = run(count_tree(rope()), with_threads(2));
  EXPECT_EQ(counted.depth, 300'000U);
  EXPECT_EQ(counted.nodes, 300'001U);
  EXPECT_EQ(counted.leaves, 1U);
}

TEST(count_tree, goals_are_no_leaves_to_it_and_leaves_to_count_solutions) {
  const queens puzzle(6);
  const tree_result nodes = run(count_tree(puzzle));
  const auto goals = run(count_solutions(puzzle));
  EXPECT_EQ(goals.solutions, 4U);
  EXPECT_EQ(nodes.nodes, goals.nodes);
  EXPECT_EQ(nodes.solutions, 0U);
  EXPECT_EQ(nodes.depth, 6U);
  EXPECT_EQ(goals.depth, 6U);
}

TEST(count_tree, memory_limit_ends_it_from_the_first_position_on) {
  const tree_result counted = run(count_tree(endless(), search_options().with_memory_limit(1)));
  EXPECT_EQ(counted.outcome, search_outcome::memory_limit);
  EXPECT_EQ(run(count_solutions(endless(), search_options().with_memory_limit(1))).outcome,
            search_outcome::memory_limit);
}

TEST(count_tree, says_what_it_has_counted) {
  const std::string text = run(count_tree(queens(4))).describe();
  EXPECT_NE(text.find("17 nodes, 6 leaves, depth 4 in "), std::string::npos) << text;
}

TEST(count_tree, positions_may_be_handed_out_by_reference) {
  /// A binary tree of depth 4, made beforehand.
  class kept_tree {
   public:
    using position = int;
    using move = int;
    kept_tree() {
      for (int i = 0; i < 31; ++i) numbers_.push_back(i);
    }
    const position& initial() const { return numbers_[0]; }
    bool is_goal(const position& at) const { return at == 30; }
    std::vector<int> legal_moves(int at) const {
      return at < 15 ? std::vector<int>{1, 2} : std::vector<int>{};
    }
    const position& apply(int at, int by) const {
      return numbers_[static_cast<std::size_t>(2 * at + by)];
    }

   private:
    std::vector<int> numbers_;
  };
  const kept_tree tree;
  EXPECT_EQ(run(count_tree(tree)).leaves, 16U);
  EXPECT_EQ(run(count_solutions(tree)).solutions, 1U);
  EXPECT_EQ(sequential_search(tree).path.size(), 4U);
  EXPECT_EQ(run(racing_search(tree)).path.size(), 4U);
  EXPECT_EQ(run(breadth_first_search(tree)).path.size(), 4U);
  EXPECT_EQ(run(best_first_search(tree)).path.size(), 4U);
  EXPECT_EQ(run(iterative_deepening_search(tree)).path.size(), 4U);
}

TEST(count_tree, limits_and_exceptions_end_it) {
  for (const unsigned threads : pool_sizes) {
    const auto nodes =
        run(count_tree(endless(), search_options().with_node_limit(5000)), with_threads(threads));
    EXPECT_EQ(nodes.outcome, search_outcome::node_limit);
    const auto time =
        run(count_tree(endless(), search_options().with_time_limit(20ms)), with_threads(threads));
    EXPECT_EQ(time.outcome, search_outcome::time_limit);
    watched<endless> puzzle{endless()};
    puzzle.on_apply = [](std::uint64_t call) {
      if (call == 4000) throw std::runtime_error("apply");
    };
    EXPECT_THROW((void)run(count_tree(puzzle), with_threads(threads)), std::runtime_error);
    EXPECT_EQ(puzzle.inside_now, 0);
  }
}

}  // namespace
