// best_first_search_test.cpp: laws of best_first_search.
// SPDX-License-Identifier: MIT
#include <tandem/search.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "runtime/search/guided_puzzles.hpp"
#include "runtime/search/search_support.hpp"

namespace {

using namespace tandem;
using namespace tandem::test;
using namespace std::chrono_literals;

template <class P>
search_result<P> best(const P& puzzle, unsigned threads = 2, search_options options = {}) {
  return solve_on<solver::best_first>(threads, puzzle, std::move(options));
}

/// The message of the puzzle_error that a search ends with.
std::string error_of(const told_chain& puzzle) {
  try {
    (void)best(puzzle);
  } catch (const puzzle_error& error) {
    return error.what();
  }
  return "";
}

/// Another puzzle, without its estimate.
template <class P>
class unguided {
 public:
  using position = typename P::position;
  using move = typename P::move;

  explicit unguided(const P& base) : base_(base) {}

  position initial() const { return base_.initial(); }
  bool is_goal(const position& at) const { return base_.is_goal(at); }
  auto legal_moves(const position& at) const { return base_.legal_moves(at); }
  position apply(const position& at, const move& by) const { return base_.apply(at, by); }
  auto cost(const position& at, const move& by) const { return base_.cost(at, by); }

 private:
  const P& base_;
};

TEST(best_first, finds_as_few_moves_as_breadth_first_after_fewer_positions) {
  std::mt19937 random(3);
  std::uint64_t visited = 0;
  std::uint64_t visited_by_level = 0;
  for (int i = 0; i < rounds(40); ++i) {
    const guided_eight puzzle(random_eight(random));
    SCOPED_TRACE(puzzle.initial());
    const auto nearest = solve_on<solver::breadth_first>(2, puzzle);
    for (const unsigned threads : pool_sizes) {
      const auto found = best(puzzle, threads);
      ASSERT_TRUE(found.solved());
      EXPECT_TRUE(leads_to_goal(puzzle, found.path));
      EXPECT_EQ(found.path.size(), nearest.path.size());
      EXPECT_EQ(found.cost, nearest.cost);
      visited += found.nodes;
      visited_by_level += nearest.nodes;
    }
  }
  EXPECT_LT(visited, visited_by_level / 10);
}

// Estimates that are random parts of the distance: a position is often expanded before its cheapest
// way is known, and has to be opened again.
TEST(best_first, finds_the_cheapest_path_whatever_admissible_nonsense_the_estimates_are) {
  int solved = 0;
  int unsolved = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE(seed);
    const int size = seed % 3 == 0 ? 3'000 : 40;
    const random_graph graph(seed, size, 4, 1 + static_cast<int>(seed % 3));
    const auto found = best(graph, 1 + seed % 4);
    ASSERT_EQ(found.solved(), graph.distance() != random_graph::infinite);
    ++(found.solved() ? solved : unsolved);
    if (!found.solved()) continue;
    ASSERT_TRUE(leads_to_goal(graph, found.path));
    EXPECT_EQ(graph.cost_of(found.path), graph.distance());
    EXPECT_EQ(found.cost, graph.distance());
  }
  EXPECT_GT(solved, 100);
  EXPECT_GT(unsolved, 50);
}

TEST(best_first, without_an_estimate_it_is_dijkstras_algorithm) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    SCOPED_TRACE(seed);
    const random_graph graph(seed, 500, 4, 2);
    const auto found = best(unguided<random_graph>(graph), 1 + seed % 4);
    ASSERT_EQ(found.solved(), graph.distance() != random_graph::infinite);
    if (found.solved()) {
      EXPECT_EQ(graph.cost_of(found.path), graph.distance());
    }
  }
}

TEST(best_first, of_several_moves_to_one_position_the_path_has_the_cheapest) {
  class two_lanes {
   public:
    using position = int;
    using move = int;
    int initial() const { return 0; }
    bool is_goal(int at) const { return at == 30; }
    std::vector<int> legal_moves(int) const { return {9, 2, 5}; }  // what the step costs
    int apply(int at, int) const { return at + 1; }
    int cost(int, int by) const { return by; }
  };
  const auto found = best(two_lanes());
  EXPECT_EQ(found.path, std::vector<int>(30, 2));
  EXPECT_EQ(found.cost, 60U);
}

TEST(best_first, costs_may_add_up_beyond_32_bits) {
  told_chain chain(10);
  chain.price = [](int) { return std::int64_t{unreachable} - 1; };
  EXPECT_EQ(best(chain).cost, 10 * (std::uint64_t{unreachable} - 1));
}

TEST(best_first, position_that_cannot_reach_a_goal_is_never_opened) {
  // Two ways from 0: to 1, 2 .. without end, of which no goal can be reached, and to -1 .. -9.
  class fork {
   public:
    using position = int;
    using move = int;
    int initial() const { return 0; }
    bool is_goal(int at) const { return at == -9; }
    std::vector<int> legal_moves(int at) const {
      if (at == 0) return {1, -1};
      return {at > 0 ? 1 : -1};
    }
    int apply(int at, int by) const {
      if (at > 0) ++opened;
      return at + by;
    }
    search_cost heuristic(int at) const { return at > 0 ? unreachable : 0; }
    mutable std::atomic<int> opened{0};
  };
  const fork puzzle;
  EXPECT_EQ(best(puzzle).path, std::vector<int>(9, -1));
  EXPECT_EQ(puzzle.opened, 0);
}

TEST(best_first, start_without_a_way_to_a_goal_is_not_searched) {
  told_chain chain(10);
  chain.estimate = [](int) -> std::int64_t { return std::int64_t{unreachable} + 5; };
  const auto found = best(chain);
  EXPECT_EQ(found.outcome, search_outcome::exhausted);
  EXPECT_EQ(found.nodes, 1U);
}

TEST(best_first, estimate_below_0_is_an_error) {
  told_chain chain(10);
  chain.estimate = [](int at) { return at == 4 ? -7 : 0; };
  EXPECT_NE(error_of(chain).find("the heuristic says -7"), std::string::npos) << error_of(chain);
}

TEST(best_first, estimate_that_is_too_high_on_the_path_is_an_error) {
  told_chain chain(10);
  chain.estimate = [](int at) { return at == 3 ? 9 : 0; };
  EXPECT_NE(error_of(chain).find("after move 3 of the 10 that were found it says 9, and the rest "
                                 "costs 7"),
            std::string::npos)
      << error_of(chain);
}

TEST(best_first, estimate_above_0_at_a_goal_is_an_error) {
  told_chain chain(10);
  chain.estimate = [](int at) { return at == 10 ? 3 : 0; };
  EXPECT_NE(error_of(chain).find("at a goal it says 3"), std::string::npos) << error_of(chain);
  told_chain at_once(0);
  at_once.estimate = [](int) { return 1; };
  EXPECT_NE(error_of(at_once).find("at a goal it says 1"), std::string::npos);
}

TEST(best_first, move_that_costs_nothing_is_an_error) {
  told_chain chain(10);
  for (const std::int64_t price : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{unreachable}}) {
    chain.price = [=](int at) { return at == 3 ? price : 1; };
    EXPECT_NE(error_of(chain).find("a move costs " + std::to_string(price)), std::string::npos);
  }
}

TEST(best_first, exceptions_of_estimate_and_cost_end_the_search) {
  told_chain in_estimate(10);
  in_estimate.estimate = [](int at) -> std::int64_t {
    if (at == 5) throw std::runtime_error("estimate");
    return 0;
  };
  EXPECT_THROW((void)best(in_estimate), std::runtime_error);
  told_chain in_cost(10);
  in_cost.price = [](int at) -> std::int64_t {
    if (at == 5) throw std::runtime_error("cost");
    return 1;
  };
  EXPECT_THROW((void)best(in_cost), std::runtime_error);
}

TEST(best_first, progress_tells_the_cost_that_is_expanded) {
  std::vector<std::uint64_t> costs;
  const auto options = search_options().with_parallelism(1).with_progress(
      [&](const search_progress& now) { costs.push_back(now.depth); }, 0ns);
  const guided_eight puzzle("867254301");
  (void)best(puzzle, 1, options);
  ASSERT_FALSE(costs.empty());
  EXPECT_TRUE(std::is_sorted(costs.begin(), costs.end()));  // Manhattan is consistent
  EXPECT_EQ(costs.back(), 31U);
}

}  // namespace
