// iterative_deepening_end_test.cpp: searches by iterative deepening that fail, are stopped, or meet a limit.
// SPDX-License-Identifier: MIT
#include <tandem/search.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <tandem/errors.hpp>
#include <tandem/run.hpp>
#include <thread>
#include <vector>

#include "runtime/search/guided_puzzles.hpp"
#include "runtime/search/search_support.hpp"

namespace {

using namespace tandem;
using namespace tandem::test;
using namespace std::chrono_literals;

/// The message of the puzzle_error that a search ends with.
template <class P>
std::string error_of(const P& puzzle) {
  try {
    (void)deepen(puzzle);
  } catch (const puzzle_error& error) {
    return error.what();
  }
  return "";
}

TEST(iterative_deepening, estimate_without_bounds_is_one_of_no_goal) {
  // 0 leads to 1 and 2, which lead to each other.
  class trap {
   public:
    using position = int;
    using move = int;
    int initial() const { return 0; }
    bool is_goal(int) const { return false; }
    std::vector<int> legal_moves(int at) const {
      return at == 0 ? std::vector<int>{1, 2} : std::vector<int>{3 - at};
    }
    int apply(int, int to) const { return to; }
    std::uint64_t heuristic(int at) const {
      return at == 0 ? 1 : std::numeric_limits<std::uint64_t>::max();
    }
  };
  EXPECT_EQ(deepen(trap()).outcome, search_outcome::exhausted);
  EXPECT_EQ(run(best_first_search(trap())).outcome, search_outcome::exhausted);
}

TEST(iterative_deepening, estimate_below_0_is_an_error) {
  told_chain chain(10);
  chain.estimate = [](int at) { return at == 4 ? -7 : 0; };
  EXPECT_NE(error_of(chain).find("the heuristic says -7"), std::string::npos) << error_of(chain);
}

TEST(iterative_deepening, estimate_that_is_too_high_on_the_path_is_an_error) {
  told_chain chain(10);
  chain.estimate = [](int at) { return 2 * std::max(0, 10 - at); };
  EXPECT_NE(error_of(chain).find("not admissible: after move 0 of the 10"), std::string::npos)
      << error_of(chain);
  chain.estimate = [](int at) { return at == 10 ? 3 : 0; };
  EXPECT_NE(error_of(chain).find("after move 10 of the 10 that were found it says 3, and the rest "
                                 "costs 0"),
            std::string::npos)
      << error_of(chain);
}

TEST(iterative_deepening, move_that_costs_nothing_is_an_error) {
  told_chain chain(10);
  for (const std::int64_t price : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{unreachable}}) {
    chain.price = [=](int at) { return at == 3 ? price : 1; };
    EXPECT_NE(error_of(chain).find("a move costs " + std::to_string(price)), std::string::npos);
  }
}

TEST(iterative_deepening, exception_of_the_puzzle_is_rethrown_after_all_have_ended) {
  for (const unsigned threads : pool_sizes) {
    watched<endless> in_moves{endless()};
    in_moves.on_expand = [](std::uint64_t call) {
      if (call == 3000) throw std::runtime_error("moves");
    };
    EXPECT_THROW((void)deepen(in_moves, threads), std::runtime_error);
    EXPECT_EQ(in_moves.inside_now, 0);
    watched<endless> in_goals{endless()};
    in_goals.on_is_goal = [](std::uint64_t call) {
      if (call == 3000) throw std::runtime_error("goal");
    };
    EXPECT_THROW((void)deepen(in_goals, threads), std::runtime_error);
    EXPECT_EQ(in_goals.inside_now, 0);
  }
  told_chain chain(10);
  chain.estimate = [](int at) -> std::int64_t {
    if (at == 5) throw std::runtime_error("estimate");
    return 0;
  };
  EXPECT_THROW((void)deepen(chain), std::runtime_error);
}

TEST(iterative_deepening, each_limit_ends_a_search_without_end_and_says_so) {
  for (const unsigned threads : pool_sizes) {
    const auto nodes = deepen(endless(), threads, search_options().with_node_limit(20'000));
    EXPECT_EQ(nodes.outcome, search_outcome::node_limit);
    EXPECT_GT(nodes.nodes, 20'000U);
    EXPECT_NE(nodes.describe().find("the node limit of 20000 was reached after"),
              std::string::npos);
    EXPECT_THROW((void)nodes.solution(), no_solution_error);
    const auto time = deepen(endless(), threads, search_options().with_time_limit(20ms));
    EXPECT_EQ(time.outcome, search_outcome::time_limit);
    EXPECT_NE(time.describe().find("the time limit of 20 ms was reached"), std::string::npos);
  }
}

TEST(iterative_deepening, open_positions_count_as_memory) {
  class wide {
   public:
    using position = int;
    using move = int;
    int initial() const { return 0; }
    bool is_goal(int) const { return false; }
    std::vector<int> legal_moves(int at) const {
      if (at != 0) return {};
      std::vector<int> moves(200'000);
      for (std::size_t i = 0; i < moves.size(); ++i) moves[i] = static_cast<int>(i) + 1;
      return moves;
    }
    int apply(int at, int by) const { return at + by; }
  };
  const auto found = deepen(wide(), 2, search_options().with_memory_limit(1'000'000));
  EXPECT_EQ(found.outcome, search_outcome::memory_limit);
  EXPECT_NE(found.describe().find("the memory limit of 1000000 bytes"), std::string::npos);
  EXPECT_EQ(deepen(wide()).outcome, search_outcome::exhausted);
}

TEST(iterative_deepening, stop_token_ends_it_midway) {
  std::stop_source source;
  watched<endless> puzzle{endless()};
  puzzle.on_expand = [&](std::uint64_t call) {
    if (call == 5000) source.request_stop();
  };
  EXPECT_THROW((void)deepen(puzzle, 2, search_options().with_stop_token(source.get_token())),
               operation_cancelled);
  EXPECT_EQ(puzzle.inside_now, 0);
}

TEST(iterative_deepening, progress_tells_the_bound) {
  std::vector<std::uint64_t> bounds;
  search_options options = search_options().with_node_limit(200'000);
  options.with_progress([&](const search_progress& now) { bounds.push_back(now.depth); }, 0ns);
  (void)deepen(endless(), 2, options);
  ASSERT_FALSE(bounds.empty());
  EXPECT_TRUE(std::is_sorted(bounds.begin(), bounds.end()));
  EXPECT_GT(bounds.back(), 5U);
}

TEST(iterative_deepening, every_worker_gets_its_share_of_a_long_search) {
  // Ends when all four have been seen, and not before.
  std::mutex lock;
  std::set<std::thread::id> seen;
  std::stop_source source;
  watched<endless> puzzle{endless()};
  puzzle.on_expand = [&](std::uint64_t) {
    const std::lock_guard guard(lock);
    seen.insert(std::this_thread::get_id());
    if (seen.size() == 4) source.request_stop();
  };
  EXPECT_THROW((void)deepen(puzzle, 4, search_options().with_stop_token(source.get_token())),
               operation_cancelled);
}

}  // namespace
