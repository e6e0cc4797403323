// bidirectional_search_test.cpp: laws of bidirectional_search.
// SPDX-License-Identifier: MIT
#include <tandem/search.hpp>

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <tandem/errors.hpp>
#include <vector>

#include "runtime/search/guided_puzzles.hpp"
#include "runtime/search/search_support.hpp"

namespace {

using namespace tandem;
using namespace tandem::test;
using namespace std::chrono_literals;

/// A random undirected graph in parts that are not connected, with several goals. A move is the
/// number of an edge.
class random_maze {
 public:
  using position = int;
  using move = int;

  random_maze(unsigned seed, int size, int edges, int goals) : at_(static_cast<std::size_t>(size)) {
    std::mt19937 random(seed);
    auto below = [&](int limit) {
      return std::uniform_int_distribution<int>(0, limit - 1)(random);
    };
    for (int i = 0; i < edges; ++i) {
      ends_.emplace_back(below(size), below(size));
      at_[static_cast<std::size_t>(ends_.back().first)].push_back(i);
      at_[static_cast<std::size_t>(ends_.back().second)].push_back(i);
    }
    for (int i = 0; i < goals; ++i) goals_.push_back(below(size));
  }

  position initial() const { return 0; }
  bool is_goal(position at) const {
    return std::find(goals_.begin(), goals_.end(), at) != goals_.end();
  }
  const std::vector<move>& legal_moves(position at) const {
    return at_[static_cast<std::size_t>(at)];
  }
  position apply(position at, move edge) const {
    const auto& [one, other] = ends_[static_cast<std::size_t>(edge)];
    return at == one ? other : one;
  }
  move inverse(position, move edge) const { return edge; }
  const std::vector<position>& goals() const { return goals_; }

 private:
  std::vector<std::pair<int, int>> ends_;
  std::vector<std::vector<move>> at_;
  std::vector<position> goals_;
};

/// All integers: up or down by one. What it says of goals and inverses is up to the test.
class line {
 public:
  using position = int;
  using move = int;

  int initial() const { return 0; }
  bool is_goal(int at) const { return real.contains(at); }
  std::array<int, 2> legal_moves(int) const { return {1, -1}; }
  int apply(int at, int by) const { return at + by; }
  int inverse(int at, int by) const { return back ? back(at, by) : -by; }
  std::vector<int> goals() const { return named; }

  std::set<int> real{20};
  std::vector<int> named{20};
  std::function<int(int, int)> back;
};

template <class P>
search_result<P> meet(const P& puzzle, unsigned threads = 2, search_options options = {}) {
  return solve_on<solver::bidirectional>(threads, puzzle, std::move(options));
}

std::string error_of(const line& puzzle) {
  try {
    (void)meet(puzzle);
  } catch (const puzzle_error& error) {
    return error.what();
  }
  return "";
}

TEST(bidirectional, finds_as_few_moves_as_breadth_first) {
  std::mt19937 random(7);
  for (int i = 0; i < rounds(60); ++i) {
    const eight_puzzle puzzle(random_eight(random));
    SCOPED_TRACE(puzzle.initial());
    const auto nearest = solve_on<solver::breadth_first>(2, puzzle);
    for (const unsigned threads : pool_sizes) {
      const auto found = meet(puzzle, threads);
      ASSERT_TRUE(found.solved());
      EXPECT_TRUE(leads_to_goal(puzzle, found.path));
      EXPECT_EQ(found.path.size(), nearest.path.size());
      EXPECT_EQ(found.cost, nearest.cost);
      EXPECT_EQ(found.depth, nearest.cost);
    }
  }
}

TEST(bidirectional, needs_far_fewer_positions_than_breadth_first) {
  for (const std::string_view start : farthest_eights) {
    EXPECT_LT(meet(eight_puzzle(std::string(start))).nodes, reachable_eights / 5);
  }
}

TEST(bidirectional, finds_the_nearest_of_several_goals_or_none_in_graphs_of_several_parts) {
  int solved = 0;
  int unsolved = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    SCOPED_TRACE(seed);
    const random_maze maze(seed, 60, 30 + static_cast<int>(seed % 60), 3);
    const auto nearest = solve_on<solver::breadth_first>(1, maze);
    const auto found = meet(maze, 1 + seed % 4);
    ASSERT_EQ(found.outcome, nearest.outcome);
    ASSERT_EQ(found.path.size(), nearest.path.size());
    if (found.solved()) {
      EXPECT_TRUE(leads_to_goal(maze, found.path));
    }
    ++(found.solved() ? solved : unsolved);
  }
  EXPECT_GT(solved, 50);
  EXPECT_GT(unsolved, 50);
}

TEST(bidirectional, visits_the_same_positions_in_every_run_and_counts_each_once) {
  std::set<std::uint64_t> nodes;
  for (const unsigned threads : {1U, 2U, 4U, 2U, 4U}) {
    const auto found = meet(eight_puzzle("867254301"), threads);
    nodes.insert(found.nodes);
    EXPECT_GT(found.positions_kept, found.nodes);  // by those in which the sides have met
  }
  EXPECT_EQ(nodes.size(), 1U);
  const auto both = meet(line());
  EXPECT_EQ(both.nodes, 41U);  // -10 .. 30
  EXPECT_EQ(both.positions_kept, 42U);
}

TEST(bidirectional, unreachable_goal_is_noticed_once_either_side_is_exhausted) {
  const auto found = meet(unsolvable());
  EXPECT_EQ(found.outcome, search_outcome::exhausted);
  EXPECT_GE(found.nodes, reachable_eights);
  EXPECT_LE(found.nodes, 2 * reachable_eights);
  // An island of one position: the start's side has hardly begun.
  class island : public line {
   public:
    std::vector<int> legal_moves(int at) const {
      return at == 20 ? std::vector<int>{} : std::vector<int>{1, -1};
    }
    int apply(int at, int by) const { return at + by == 20 ? at + 2 * by : at + by; }
  };
  const auto far = meet(island());
  EXPECT_EQ(far.outcome, search_outcome::exhausted);
  EXPECT_LT(far.nodes, 10U);
}

TEST(bidirectional, puzzle_that_names_no_goal_is_exhausted) {
  line puzzle;
  puzzle.real.clear();
  puzzle.named.clear();
  const auto found = meet(puzzle);
  EXPECT_EQ(found.outcome, search_outcome::exhausted);
  EXPECT_EQ(found.nodes, 1U);
}

TEST(bidirectional, goal_named_twice_is_one) {
  line puzzle;
  puzzle.named = {20, 20, 20};
  EXPECT_EQ(meet(puzzle).nodes, 41U);
}

TEST(bidirectional, start_that_is_a_goal_needs_no_goals_named) {
  line puzzle;
  puzzle.real = {0};
  puzzle.named.clear();
  const auto found = meet(puzzle);
  EXPECT_TRUE(found.solved());
  EXPECT_TRUE(found.path.empty());
  EXPECT_EQ(found.nodes, 1U);
}

TEST(bidirectional, named_goal_that_is_none_is_an_error) {
  line puzzle;
  puzzle.named = {20, 21};
  EXPECT_NE(error_of(puzzle).find("goals() names a position that is no goal"), std::string::npos);
}

TEST(bidirectional, goal_on_the_path_that_was_not_named_is_an_error) {
  line puzzle;
  puzzle.real = {12, 20};
  EXPECT_NE(error_of(puzzle).find("after move 12 of the path"), std::string::npos)
      << error_of(puzzle);
}

TEST(bidirectional, inverse_that_leads_elsewhere_is_an_error) {
  line puzzle;
  puzzle.back = [](int at, int by) { return at == 15 ? by : -by; };
  EXPECT_NE(error_of(puzzle).find("move 15 of the path"), std::string::npos) << error_of(puzzle);
}

TEST(bidirectional, exceptions_of_goals_and_inverse_end_the_search) {
  line broken;
  broken.back = [](int, int) -> int { throw std::runtime_error("inverse"); };
  EXPECT_THROW((void)meet(broken), std::runtime_error);
  class no_goals : public line {
   public:
    std::vector<int> goals() const { throw std::runtime_error("goals"); }
  };
  EXPECT_THROW((void)meet(no_goals()), std::runtime_error);
}

TEST(bidirectional, goals_without_end_end_at_each_limit) {
  // A range that is computed as it is read, of what are all goals, far from the start.
  class upward : public line {
   public:
    bool is_goal(int at) const { return at >= 1'000'000; }
    auto goals() const { return std::views::iota(1'000'000); }
  };
  EXPECT_EQ(meet(upward(), 2, search_options().with_node_limit(10'000)).outcome,
            search_outcome::node_limit);
  EXPECT_EQ(meet(upward(), 2, search_options().with_time_limit(2ms)).outcome,
            search_outcome::time_limit);
  EXPECT_EQ(meet(upward(), 2, search_options().with_memory_limit(100'000)).outcome,
            search_outcome::memory_limit);
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW((void)meet(upward(), 2, search_options().with_stop_token(source.get_token())),
               operation_cancelled);
}

TEST(bidirectional, progress_tells_how_deep_both_sides_are_together) {
  std::vector<std::uint64_t> depths;
  const auto options = search_options().with_parallelism(1).with_progress(
      [&](const search_progress& now) { depths.push_back(now.depth); }, 0ns);
  (void)meet(eight_puzzle("867254301"), 1, options);
  ASSERT_FALSE(depths.empty());
  EXPECT_TRUE(std::is_sorted(depths.begin(), depths.end()));
  EXPECT_EQ(depths.back(), 30U);  // the level that is expanded last
}

}  // namespace
