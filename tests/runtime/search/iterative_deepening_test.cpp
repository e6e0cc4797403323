// iterative_deepening_test.cpp: laws of iterative_deepening_search: what it finds, with and without a memory.
// SPDX-License-Identifier: MIT
#include <tandem/search.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <tandem/run.hpp>
#include <vector>

#include "runtime/search/guided_puzzles.hpp"
#include "runtime/search/search_support.hpp"

namespace {

using namespace tandem;
using namespace tandem::test;

TEST(iterative_deepening, finds_as_few_moves_as_breadth_first) {
  std::mt19937 random(1);
  for (int i = 0; i < rounds(25); ++i) {
    const guided_eight puzzle(random_eight(random));
    SCOPED_TRACE(puzzle.initial());
    const auto nearest = run(breadth_first_search(puzzle));
    for (const unsigned threads : pool_sizes) {
      const auto found = deepen(puzzle, threads);
      ASSERT_TRUE(found.solved());
      EXPECT_EQ(found.path.size(), nearest.path.size());
      EXPECT_EQ(found.cost, found.path.size());
      EXPECT_EQ(found.depth, found.cost);
      auto at = puzzle.initial();
      for (const char tile : found.path) at = puzzle.apply(at, tile);
      EXPECT_TRUE(puzzle.is_goal(at));
    }
  }
}

TEST(iterative_deepening, finds_the_cheapest_path_whatever_admissible_nonsense_the_estimates_are) {
  int solved = 0;
  for (unsigned seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    const random_graph graph(seed, 14, 3, 1);
    if (graph.distance() == random_graph::infinite) continue;  // might deepen for ever
    ++solved;
    const auto found = deepen(graph, 1 + seed % 4);
    ASSERT_TRUE(found.solved());
    EXPECT_EQ(graph.cost_of(found.path), graph.distance());
    EXPECT_EQ(found.cost, graph.distance());
  }
  EXPECT_GT(solved, 50);
}

/// At each of 700 levels one of three moves leads on, known only by trying; the others lead into
/// bushes that are three levels deep, all of it within the first bound.
class thicket {
 public:
  class position {
   public:
    position(int how_far, int off) : level(how_far), astray(off) {}
    bool operator==(const position&) const = default;

    int level;
    int astray;  // levels since the last right move
  };
  using move = int;

  static constexpr int levels = 700;

  position initial() const { return position(0, 0); }
  bool is_goal(const position& at) const { return at.level == levels && at.astray == 0; }
  std::uint64_t hash(const position& at) const {
    return static_cast<std::uint64_t>(at.level) * 8 + static_cast<std::uint64_t>(at.astray);
  }
  std::vector<move> legal_moves(const position& at) const {
    return at.astray == 3 || at.level == levels ? std::vector<move>{} : std::vector<move>{0, 1, 2};
  }
  position apply(const position& at, move by) const {
    if (at.astray == 0 && by == right(at.level)) return position(at.level + 1, 0);
    return position(at.level + 1, at.astray + 1);
  }
  int heuristic(const position& at) const { return at.astray > 0 ? 0 : levels - at.level; }

  static move right(int level) { return level * level % 7 % 3; }
};

TEST(iterative_deepening, path_is_right_however_often_the_recursion_is_broken_off) {
  std::vector<int> way;
  for (int level = 0; level < thicket::levels; ++level) way.push_back(thicket::right(level));
  for (const unsigned threads : pool_sizes) {
    EXPECT_EQ(deepen(thicket(), threads).path, way);
    // With a limit of positions strides are short, so that it is broken off more often.
    EXPECT_EQ(deepen(thicket(), threads, search_options().with_node_limit(1'000'000)).path, way);
  }
}

TEST(iterative_deepening, start_that_is_a_goal_has_an_empty_path) {
  const auto found = deepen(guided_eight("123456780"));
  EXPECT_TRUE(found.solved());
  EXPECT_TRUE(found.path.empty());
  EXPECT_EQ(found.nodes, 1U);
}

TEST(iterative_deepening, tree_without_a_goal_is_exhausted) {
  told_chain chain(10);
  chain.estimate = [](int) { return 0; };
  class goalless : public told_chain {
   public:
    using told_chain::told_chain;
    bool is_goal(int) const { return false; }
  };
  const auto found = deepen(goalless(10));
  EXPECT_EQ(found.outcome, search_outcome::exhausted);
  EXPECT_TRUE(found.path.empty());
  // 0 .. 13, one more in each iteration.
  EXPECT_EQ(found.nodes, 14U * 15U / 2);
}

TEST(iterative_deepening, start_without_a_way_to_a_goal_is_not_searched) {
  told_chain chain(10);
  chain.estimate = [](int) -> std::int64_t { return std::int64_t{unreachable} + 5; };
  const auto found = deepen(chain);
  EXPECT_EQ(found.outcome, search_outcome::exhausted);
  EXPECT_EQ(found.nodes, 1U);
  EXPECT_EQ(found.depth, 0U);
}

TEST(iterative_deepening, position_that_cannot_reach_a_goal_is_never_opened) {
  // Two ways from 0: to 1 .. 9, of which no goal can be reached, and to -1, -2, -3.
  class fork {
   public:
    using position = int;
    using move = int;
    int initial() const { return 0; }
    bool is_goal(int at) const { return at == -3; }
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
  EXPECT_EQ(deepen(puzzle).path, (std::vector<int>{-1, -1, -1}));
  EXPECT_EQ(puzzle.opened, 0);
}

TEST(iterative_deepening, never_goes_straight_back_where_it_knows_the_way) {
  // All integers; from each one up or down. A bound of b reaches 2 b + 1 positions that way.
  class line {
   public:
    using position = int;
    using move = int;
    int initial() const { return 0; }
    bool is_goal(int at) const { return at == 12; }
    std::array<int, 2> legal_moves(int) const { return {1, -1}; }
    int apply(int at, int by) const { return at + by; }
    int inverse(int, int by) const { return -by; }
  };
  const auto found = deepen(line(), 1);
  EXPECT_EQ(found.path, std::vector<int>(12, 1));
  EXPECT_LE(found.nodes, 13U * 13U);       // of the bounds 0 to 12
  EXPECT_GT(found.nodes, 12U * 12U + 12);  // all of 0 to 11, and one way of the last
}

search_options remembering(std::size_t bytes = std::size_t{1} << 24) {
  return search_options().with_transpositions(bytes);
}

TEST(iterative_deepening, graph_without_a_goal_is_exhausted_when_it_remembers) {
  // Cycles everywhere: without a memory it would be searched deeper and deeper.
  class unguided_graph : public random_graph {
   public:
    using random_graph::random_graph;
    search_cost heuristic(int) const = delete;
  };
  for (unsigned seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const unguided_graph graph(seed, 60, 5, 0);
    const auto found = deepen(graph, 1 + seed % 4, remembering());
    EXPECT_EQ(found.outcome, search_outcome::exhausted);
    EXPECT_EQ(found.positions_kept, run(breadth_first_search(graph)).nodes);
    EXPECT_GT(found.seen_bytes, 0U);
  }
}

TEST(iterative_deepening, finds_the_cheapest_path_with_a_memory_of_any_size) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    const random_graph graph(seed, 40, 3, 1);
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{3000}, std::size_t{1} << 20}) {
      SCOPED_TRACE(std::to_string(seed) + ", " + std::to_string(bytes) + " bytes");
      const bool full_memory = bytes > 100'000;
      // What does not fit is searched again and again: for ever, where there is no goal.
      if (!full_memory && (graph.distance() == random_graph::infinite || graph.distance() > 20))
        continue;
      const auto found = deepen(graph, 1 + seed % 4, remembering(bytes));
      if (graph.distance() == random_graph::infinite) {
        EXPECT_EQ(found.outcome, search_outcome::exhausted);
      } else {
        ASSERT_TRUE(found.solved());
        EXPECT_EQ(graph.cost_of(found.path), graph.distance());
      }
    }
  }
}

TEST(iterative_deepening, visits_a_position_about_once_an_iteration_when_it_remembers) {
  std::mt19937 random(2);
  for (int i = 0; i < rounds(10); ++i) {
    const guided_eight puzzle(random_eight(random));
    const auto nearest = run(breadth_first_search(puzzle));
    const auto found = deepen(puzzle, 1, remembering());
    EXPECT_EQ(found.path.size(), nearest.path.size());
    // Bounds rise by two; a position whose cost is lowered is visited once more.
    EXPECT_LE(found.nodes, 4 * found.positions_kept * (1 + found.depth / 2));
    EXPECT_LE(found.nodes, deepen(puzzle, 1).nodes);
  }
}

TEST(iterative_deepening, positions_and_moves_need_not_be_assignable) {
  class fixed_thicket : public thicket {
   public:
    class position {
     public:
      explicit position(thicket::position where) : at(where) {}
      bool operator==(const position&) const = default;

      const thicket::position at;
    };
    class move {
     public:
      explicit move(int which) : number(which) {}

      const int number;
    };

    position initial() const { return position(thicket::initial()); }
    bool is_goal(const position& from) const { return thicket::is_goal(from.at); }
    std::uint64_t hash(const position& from) const { return thicket::hash(from.at); }
    std::vector<move> legal_moves(const position& from) const {
      std::vector<move> moves;
      for (const int number : thicket::legal_moves(from.at)) moves.emplace_back(number);
      return moves;
    }
    position apply(const position& from, const move& by) const {
      return position(thicket::apply(from.at, by.number));
    }
    int heuristic(const position& from) const { return thicket::heuristic(from.at); }
  };
  for (const search_options& options : {search_options(), remembering()}) {
    const auto found = deepen(fixed_thicket(), 2, options);
    ASSERT_EQ(found.path.size(), std::size_t{thicket::levels});
    for (int level = 0; level < thicket::levels; ++level) {
      ASSERT_EQ(found.path[static_cast<std::size_t>(level)].number, thicket::right(level));
    }
  }
}

TEST(iterative_deepening, costs_add_up_beyond_32_bits) {
  told_chain chain(9);
  chain.price = [](int) { return std::int64_t{unreachable} - 1; };
  const std::uint64_t whole = 9 * (std::uint64_t{unreachable} - 1);
  EXPECT_EQ(deepen(chain).cost, whole);
  EXPECT_EQ(deepen(chain, 2, remembering()).cost, whole);
  EXPECT_EQ(run(best_first_search(chain)).cost, whole);
  chain.estimate = [](int at) -> std::int64_t { return at > 5 ? unreachable : 0; };
  EXPECT_EQ(deepen(chain).outcome, search_outcome::exhausted);
}

TEST(iterative_deepening, memory_is_enough_for_its_positions_at_any_width) {
  // Every cell of a torus of 32 x 32 leads to its four neighbours; there is no goal.
  class torus {
   public:
    using position = int;
    using move = int;
    int initial() const { return 0; }
    bool is_goal(int) const { return false; }
    std::array<int, 4> legal_moves(int) const { return {1, 1023, 32, 992}; }
    int apply(int at, int by) const { return (at + by) % 1024; }
  };
  for (const unsigned tasks : {1U, 4U, 64U, 1U << 31}) {
    SCOPED_TRACE(tasks);
    constexpr std::size_t bytes = 200'000;
    const auto found = deepen(torus(), 4, remembering(bytes).with_parallelism(tasks));
    EXPECT_EQ(found.outcome, search_outcome::exhausted);
    EXPECT_EQ(found.positions_kept, 1024U);
    EXPECT_LE(found.seen_bytes, bytes);
  }
  EXPECT_EQ(run(breadth_first_search(torus(), search_options().with_parallelism(1U << 31))).nodes,
            1024U);
}

}  // namespace
