// search_test.cpp: what all solvers find.
// SPDX-License-Identifier: MIT
#include <tandem/search.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "runtime/search/search_support.hpp"

namespace {

using namespace tandem;
using namespace tandem::test;
using namespace std::chrono_literals;

TEST(search, unsolvable_puzzle_is_exhausted_after_exactly_every_reachable_position) {
  for (const solver which : path_solvers) {
    for (const unsigned threads : long_pool_sizes) {
      SCOPED_TRACE(name_of(which) + " on " + std::to_string(threads));
      const auto found = solve_on(threads, unsolvable(), which);
      EXPECT_EQ(found.outcome, search_outcome::exhausted);
      EXPECT_EQ(found.nodes, reachable_eights);
      EXPECT_EQ(found.solutions, 0U);
      EXPECT_TRUE(found.path.empty());
    }
  }
}

TEST(search, every_path_is_legal_and_ends_at_a_goal) {
  for (const std::string_view start : farthest_eights) {
    const eight_puzzle puzzle{std::string(start)};
    for (const solver which : two_way_solvers) {
      for (const unsigned threads : long_pool_sizes) {
        SCOPED_TRACE(name_of(which) + " on " + std::to_string(threads));
        const auto found = solve_on(threads, puzzle, which);
        EXPECT_EQ(found.outcome, search_outcome::solved);
        EXPECT_EQ(found.solutions, 1U);
        EXPECT_LE(found.nodes, reachable_eights);
        EXPECT_TRUE(leads_to_goal(puzzle, found.path));
      }
    }
  }
}

TEST(search, start_that_is_a_goal_has_an_empty_path) {
  for (const solver which : two_way_solvers) {
    const auto found = solve_on(2, eight_puzzle("123456780"), which);
    EXPECT_TRUE(found.solved()) << name_of(which);
    EXPECT_TRUE(found.path.empty());
    EXPECT_EQ(found.nodes, 1U);
  }
}

TEST(search, position_is_expanded_once_by_whoever_inserted_it) {
  for (const solver which :
       {solver::sequential, solver::cooperative, solver::racing, solver::breadth_first}) {
    const watched<eight_puzzle> puzzle(unsolvable());
    (void)solve_on(4, puzzle, which);
    EXPECT_EQ(puzzle.expansions, reachable_eights) << name_of(which);
    EXPECT_EQ(puzzle.goal_calls, 0U);  // counted only with a hook
  }
}

TEST(search, queens_are_counted) {
  const std::vector<std::uint64_t> known{1, 0, 0, 2, 10, 4, 40, 92, 352, 724};
  for (const unsigned threads : pool_sizes) {
    std::vector<std::uint64_t> counts;
    for (int n = 1; n <= 10; ++n) {
      counts.push_back(solve_on<solver::counting>(threads, queens(n)).solutions);
    }
    EXPECT_EQ(counts, known) << threads;
  }
}

TEST(search, queens_are_found_or_proved_impossible_by_every_solver) {
  for (const solver which : path_solvers) {
    for (int n = 1; n <= 8; ++n) {
      const queens puzzle(n);
      const auto found = solve_on(2, puzzle, which);
      EXPECT_EQ(found.solved(), n != 2 && n != 3) << name_of(which) << ' ' << n;
      EXPECT_EQ(found.solved(), found.solved() && leads_to_goal(puzzle, found.path));
    }
  }
}

TEST(search, chain_of_100000_moves_needs_no_stack) {
  const chain puzzle(100'000);
  for (const solver which : path_solvers) {
    const auto found = solve_on(2, puzzle, which);
    EXPECT_EQ(found.path.size(), 100'000U) << name_of(which);
    EXPECT_EQ(found.nodes, 100'001U);
  }
  const auto counted = solve_on<solver::counting>(2, puzzle);
  EXPECT_EQ(counted.nodes, 100'001U);
  EXPECT_EQ(counted.solutions, 1U);
}

TEST(search, parallelism_bounds_how_many_search_at_once) {
  for (const solver which : parallel_solvers) {
    watched<endless> puzzle{endless()};
    (void)solve_on(4, puzzle, which, search_options().with_parallelism(1).with_node_limit(20'000));
    EXPECT_EQ(puzzle.inside_most, 1) << name_of(which);
  }
}

TEST(search, every_worker_takes_part_when_steps_are_slow) {
  for (const solver which : parallel_solvers) {
    watched<endless> puzzle{endless()};
    puzzle.on_expand = [&](std::uint64_t) {
      if (puzzle.inside_most < 2) std::this_thread::sleep_for(1ms);
    };
    (void)solve_on(2, puzzle, which, search_options().with_node_limit(20'000));
    EXPECT_EQ(puzzle.inside_most, 2) << name_of(which);
  }
}

// Counts its copies, so that a leak or a double destruction shows.
class counted_position {
 public:
  explicit counted_position(int value) : value_(std::make_unique<int>(value)) { ++alive; }
  counted_position(const counted_position& other) : value_(std::make_unique<int>(*other.value_)) {
    ++alive;
  }
  counted_position(counted_position&& other) noexcept : value_(std::move(other.value_)) { ++alive; }
  counted_position& operator=(const counted_position&) = delete;
  ~counted_position() { --alive; }
  bool operator==(const counted_position& other) const { return *value_ == *other.value_; }
  int value() const { return *value_; }

  static inline std::atomic<int> alive{0};

 private:
  std::unique_ptr<int> value_;
};

class counted_move {
 public:
  explicit counted_move(int by) : by_(std::make_shared<int>(by)) {}
  int by() const { return *by_; }

 private:
  std::shared_ptr<int> by_;  // not trivial, and without a default constructor
};

class counted_puzzle {
 public:
  using position = counted_position;
  using move = counted_move;

  position initial() const { return counted_position(0); }
  bool is_goal(const position& at) const { return at.value() == 4'000; }
  std::uint64_t hash(const position& at) const {
    return static_cast<std::uint64_t>(at.value() % 97);
  }
  std::vector<move> legal_moves(const position& at) const {
    if (at.value() > 5'000) return {};
    return {counted_move(1), counted_move(3), counted_move(7)};
  }
  position apply(const position& at, const move& by) const {
    return counted_position(at.value() + by.by());
  }
};

TEST(search, positions_and_moves_need_not_be_trivial_nor_hashes_good) {
  for (const solver which : path_solvers) {
    const auto found = solve_on(2, counted_puzzle(), which);
    ASSERT_TRUE(found.solved()) << name_of(which);
    int sum = 0;
    for (const counted_move& by : found.path) sum += by.by();
    EXPECT_EQ(sum, 4'000);
    EXPECT_EQ(counted_position::alive, 0);
  }
}

TEST(search, sequential_search_needs_no_runtime) {
  const auto found = sequential_search(eight_puzzle("123456708"));
  EXPECT_TRUE(found.solved());
  EXPECT_THROW(
      {
        watched<endless> puzzle{endless()};
        puzzle.on_expand = [](std::uint64_t) { throw std::runtime_error("broken"); };
        (void)sequential_search(puzzle);
      },
      std::runtime_error);
}

}  // namespace
