// search_limits_test.cpp: limits of every solver.
// SPDX-License-Identifier: MIT
#include <tandem/search.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "runtime/search/search_support.hpp"

namespace {

using namespace tandem;
using namespace tandem::test;
using namespace std::chrono_literals;

TEST(search, node_limit_ends_a_search_without_end) {
  for_each_solver_and_pool([](solver which, unsigned threads) {
    const auto found = solve_on(threads, endless(), which, search_options().with_node_limit(5'000));
    EXPECT_EQ(found.outcome, search_outcome::node_limit);
    EXPECT_FALSE(found.solved());
    EXPECT_GE(found.nodes, 5'000U);
    EXPECT_LE(found.nodes, 5'000U + 1'000U * threads);
  });
  EXPECT_EQ(sequential_search(endless(), search_options().with_node_limit(777)).nodes, 777U);
}

TEST(search, node_limit_that_is_just_enough_does_not_bite) {
  for (const solver which : path_solvers) {
    const auto found =
        solve_on(2, unsolvable(), which, search_options().with_node_limit(reachable_eights));
    EXPECT_EQ(found.outcome, search_outcome::exhausted) << name_of(which);
  }
}

TEST(search, time_limit_ends_a_search_without_end) {
  for_each_solver_and_pool([](solver which, unsigned threads) {
    const auto found = solve_on(threads, endless(), which, search_options().with_time_limit(2ms));
    EXPECT_EQ(found.outcome, search_outcome::time_limit);
    EXPECT_GE(found.elapsed, 2ms);
  });
}

TEST(search, memory_limit_ends_every_solver_after_all_its_tasks_and_says_so) {
  for_each_of(two_way_solvers, [](solver which, unsigned threads) {
    for (const std::size_t limit : {std::size_t{1}, std::size_t{100'000}, std::size_t{2'000'000}}) {
      const watched<endless> puzzle{endless()};
      const auto found =
          solve_on(threads, puzzle, which, search_options().with_memory_limit(limit));
      EXPECT_EQ(puzzle.inside_now, 0);
      EXPECT_EQ(found.outcome, search_outcome::memory_limit);
      EXPECT_EQ(found.limit, limit);
      EXPECT_LE(found.memory_bytes, limit);
      EXPECT_LE(found.seen_bytes, found.memory_bytes);
      EXPECT_TRUE(found.path.empty());
      EXPECT_THROW((void)found.solution(), no_solution_error);
      const std::string words = "the memory limit of " + std::to_string(limit) + " bytes";
      EXPECT_EQ(found.describe().find(words), 0U) << found.describe();
    }
  });
}

TEST(search, memory_limit_that_is_just_enough_does_not_bite) {
  for (const solver which : path_solvers) {
    const auto free = solve_on(1, unsolvable(), which);
    EXPECT_GT(free.memory_bytes, free.seen_bytes) << name_of(which);
    const auto options = search_options().with_memory_limit(free.memory_bytes * 2);
    EXPECT_EQ(solve_on(2, unsolvable(), which, options).outcome, search_outcome::exhausted)
        << name_of(which);
  }
}

TEST(search, what_positions_take_is_told) {
  for (const solver which : path_solvers) {
    for (const unsigned threads : long_pool_sizes) {
      SCOPED_TRACE(name_of(which) + " on " + std::to_string(threads));
      const auto found = solve_on(threads, unsolvable(), which);
      EXPECT_EQ(found.positions_kept, reachable_eights);
      // A string and its parent; A* keeps the cost as well. Slots are 10 to 15 bytes, and chunks
      // are not all full.
      const double node = sizeof(std::string) + sizeof(void*) +
                          (which == solver::best_first ? sizeof(std::uint64_t) : 0);
      EXPECT_GE(found.bytes_per_position(), node + 10);
      EXPECT_LE(found.bytes_per_position(), node + 15 + node / 5);
    }
  }
}

TEST(search, limit_of_0_is_refused_by_setter_and_solver) {
  EXPECT_THROW(search_options().with_node_limit(0), std::invalid_argument);
  EXPECT_THROW(search_options().with_time_limit(0ns), std::invalid_argument);
  EXPECT_THROW(search_options().with_memory_limit(0), std::invalid_argument);
  for (const solver which : all_solvers) {
    const watched<endless> puzzle{endless()};
    search_options nodes;
    nodes.node_limit = 0;
    EXPECT_THROW((void)solve_on(2, puzzle, which, nodes), std::invalid_argument);
    search_options time;
    time.time_limit = 0ns;
    EXPECT_THROW((void)solve_on(2, puzzle, which, time), std::invalid_argument);
    search_options memory;
    memory.memory_limit = 0;
    EXPECT_THROW((void)solve_on(2, puzzle, which, memory), std::invalid_argument);
    EXPECT_EQ(puzzle.expansions, 0U) << name_of(which);
  }
}

}  // namespace
