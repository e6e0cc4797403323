// uts_puzzle_test.cpp: the trees of Unbalanced Tree Search are the published ones.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <tandem/run.hpp>
#include <tandem/search.hpp>
#include <vector>

#include "uts.hpp"

namespace {

using namespace puzzles;

TEST(uts_puzzle, count_tree_finds_nodes_leaves_and_depth_of_published_trees) {
  // A wide and a deep one here, all five by the command line.
  for (const uts::tree& tree : {uts::trees[0], uts::trees[2]}) {
    const uts_puzzle puzzle(tree);
    const tandem::tree_result found = tandem::run(tandem::count_tree(puzzle));
    EXPECT_EQ(found.outcome, tandem::search_outcome::exhausted) << tree.name;
    EXPECT_EQ(found.nodes, static_cast<std::uint64_t>(tree.nodes)) << tree.name;
    EXPECT_EQ(found.leaves, static_cast<std::uint64_t>(tree.leaves)) << tree.name;
    EXPECT_EQ(found.depth, static_cast<std::uint64_t>(tree.depth)) << tree.name;
  }
}

TEST(uts_puzzle, another_seed_gives_another_tree_which_one_and_many_tasks_find_alike) {
  uts::tree tree = uts::trees[0];
  tree.depth_limit = 7;
  tree.seed = 7;
  const uts_puzzle puzzle(tree);
  std::uint64_t nodes = 0;
  std::uint64_t leaves = 0;
  int depth = 0;
  std::vector<uts::node> open{puzzle.initial()};
  while (!open.empty()) {
    const uts::node at = open.back();
    open.pop_back();
    ++nodes;
    depth = std::max(depth, at.depth);
    if (uts::count_children(tree, at) == 0) ++leaves;
    for (const int child : puzzle.legal_moves(at)) open.push_back(puzzle.apply(at, child));
  }
  EXPECT_GT(nodes, 1000U);
  for (const unsigned tasks : {1U, 4U}) {
    const auto found =
        tandem::run(tandem::count_tree(puzzle, tandem::search_options().with_parallelism(tasks)));
    EXPECT_EQ(found.nodes, nodes);
    EXPECT_EQ(found.leaves, leaves);
    EXPECT_EQ(found.depth, static_cast<std::uint64_t>(depth));
  }
}

}  // namespace
