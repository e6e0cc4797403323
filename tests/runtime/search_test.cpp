// search_test.cpp: laws of the solvers.
// SPDX-License-Identifier: MIT
#include <tandem/search.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <tandem/errors.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>

#include "search_puzzles.hpp"

namespace {

using namespace tandem;
using namespace tandem::test;
using namespace std::chrono_literals;

enum class solver { sequential, cooperative, racing, breadth_first, counting };

constexpr solver path_solvers[] = {solver::sequential, solver::cooperative, solver::racing,
                                   solver::breadth_first};
constexpr solver tree_solvers[] = {solver::sequential, solver::cooperative, solver::racing,
                                   solver::breadth_first, solver::counting};
constexpr unsigned pool_sizes[] = {1, 2, 4};

std::string name_of(solver which) {
  switch (which) {
    case solver::sequential: return "sequential";
    case solver::cooperative: return "cooperative";
    case solver::racing: return "racing";
    case solver::breadth_first: return "breadth_first";
    case solver::counting: return "counting";
  }
  return "";
}

template <class P>
task<search_result<P>> solve(const P& puzzle, solver which, search_options options = {}) {
  switch (which) {
    case solver::sequential: co_return sequential_search(puzzle, options);
    case solver::cooperative: co_return co_await cooperative_search(puzzle, options);
    case solver::racing: co_return co_await racing_search(puzzle, options);
    case solver::breadth_first: co_return co_await breadth_first_search(puzzle, options);
    case solver::counting: break;
  }
  co_return co_await count_solutions(puzzle, options);
}

runtime_options with_threads(unsigned threads) {
  runtime_options options;
  options.min_threads = threads;
  return options;
}

template <class P>
search_result<P> solve_on(unsigned threads, const P& puzzle, solver which,
                          search_options options = {}) {
  return run(solve(puzzle, which, std::move(options)), with_threads(threads));
}

template <class P>
bool leads_to_goal(const P& puzzle, const std::vector<typename P::move>& path) {
  auto at = puzzle.initial();
  for (const auto& by : path) {
    const auto legal = puzzle.legal_moves(at);
    if (std::find(legal.begin(), legal.end(), by) == legal.end()) return false;
    at = puzzle.apply(at, by);
  }
  return puzzle.is_goal(at);
}

eight_puzzle unsolvable() { return eight_puzzle(std::string(unsolvable_eight)); }

// What a solver can be asked to do without an end, on any puzzle.
template <class Body>
void for_each_solver_and_pool(Body body) {
  for (const solver which : tree_solvers) {
    for (const unsigned threads : pool_sizes) {
      SCOPED_TRACE(name_of(which) + " on " + std::to_string(threads));
      body(which, threads);
    }
  }
}

TEST(search, unsolvable_puzzle_is_exhausted_after_exactly_every_reachable_position) {
  for (const solver which : path_solvers) {
    for (const unsigned threads : pool_sizes) {
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
    for (const solver which : path_solvers) {
      for (const unsigned threads : pool_sizes) {
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

TEST(search, breadth_first_path_is_shortest) {
  for (const std::string_view start : farthest_eights) {
    EXPECT_EQ(solve_on(2, eight_puzzle(std::string(start)), solver::breadth_first).path.size(),
              31U);
  }
  EXPECT_EQ(solve_on(2, eight_puzzle("123456708"), solver::breadth_first).path.size(), 1U);
}

TEST(search, breadth_first_visits_the_known_number_of_positions_at_every_depth) {
  const std::vector<std::uint64_t> by_depth{1,     2,     4,     8,     16,    20,    39,    62,
                                            116,   152,   286,   396,   748,   1024,  1893,  2512,
                                            4485,  5638,  9529,  10878, 16993, 17110, 23952, 20224,
                                            24047, 15578, 14560, 6274,  3910,  760,   221,   2};
  std::vector<std::uint64_t> found;
  std::uint64_t before = 0;
  for (std::size_t depth = 0; depth < by_depth.size(); ++depth) {
    const shallow<eight_puzzle> puzzle(eight_puzzle("123456780"), static_cast<int>(depth));
    const std::uint64_t nodes = solve_on(2, puzzle, solver::breadth_first).nodes;
    found.push_back(nodes - before);
    before = nodes;
  }
  EXPECT_EQ(found, by_depth);
}

TEST(search, breadth_first_visits_the_same_number_of_positions_in_every_run) {
  std::set<std::uint64_t> nodes;
  for (const unsigned threads : {1U, 2U, 4U, 2U, 4U}) {
    nodes.insert(solve_on(threads, eight_puzzle("023156478"), solver::breadth_first).nodes);
  }
  EXPECT_EQ(nodes.size(), 1U);
}

TEST(search, start_that_is_a_goal_has_an_empty_path) {
  for (const solver which : path_solvers) {
    const auto found = solve_on(2, eight_puzzle("123456780"), which);
    EXPECT_TRUE(found.solved()) << name_of(which);
    EXPECT_TRUE(found.path.empty());
    EXPECT_EQ(found.nodes, 1U);
  }
}

TEST(search, position_is_expanded_once_by_whoever_inserted_it) {
  for (const solver which : path_solvers) {
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
      counts.push_back(solve_on(threads, queens(n), solver::counting).solutions);
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
  const auto counted = solve_on(2, puzzle, solver::counting);
  EXPECT_EQ(counted.nodes, 100'001U);
  EXPECT_EQ(counted.solutions, 1U);
}

TEST(search, parallelism_bounds_how_many_search_at_once) {
  for (const solver which : {solver::racing, solver::breadth_first, solver::counting}) {
    watched<endless> puzzle{endless()};
    (void)solve_on(4, puzzle, which, search_options().with_parallelism(1).with_node_limit(20'000));
    EXPECT_EQ(puzzle.inside_most, 1) << name_of(which);
  }
}

TEST(search, every_worker_takes_part_when_steps_are_slow) {
  for (const solver which : {solver::racing, solver::breadth_first, solver::counting}) {
    watched<endless> puzzle{endless()};
    puzzle.on_expand = [&](std::uint64_t) {
      if (puzzle.inside_most < 2) std::this_thread::sleep_for(300us);
    };
    (void)solve_on(2, puzzle, which, search_options().with_node_limit(20'000));
    EXPECT_EQ(puzzle.inside_most, 2) << name_of(which);
  }
}

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

TEST(search, stop_from_outside_ends_every_solver_midway) {
  for_each_solver_and_pool([](solver which, unsigned threads) {
    std::stop_source source;
    watched<endless> puzzle{endless()};
    puzzle.on_apply = [&](std::uint64_t call) {
      if (call == 10'000) source.request_stop();
    };
    try {
      (void)run(solve(puzzle, which), source.get_token(), with_threads(threads));
      ADD_FAILURE() << "it came to an end";
    } catch (const operation_cancelled& cancelled) {
      EXPECT_EQ(cancelled.reason(), stop_reason::user);
    }
  });
}

task<void> stopped_search_leaves_nobody_inside(solver which) {
  watched<endless> puzzle{endless()};
  try {
    (void)co_await with_timeout(2ms, solve(puzzle, which));
    ADD_FAILURE() << "it came to an end";
  } catch (const operation_cancelled&) {
    EXPECT_EQ(puzzle.inside_now, 0);
  }
  const std::uint64_t calls = puzzle.applications;
  for (int i = 0; i < 1000; ++i) co_await yield();
  EXPECT_EQ(puzzle.applications, calls);
}

TEST(search, deadline_ends_every_solver_after_all_its_tasks) {
  for_each_solver_and_pool([](solver which, unsigned threads) {
    run(stopped_search_leaves_nobody_inside(which), with_threads(threads));
  });
}

TEST(search, shutdown_of_the_runtime_ends_every_solver) {
  for_each_solver_and_pool([](solver which, unsigned threads) {
    watched<endless> puzzle{endless()};
    std::atomic<bool> is_searching{false};
    puzzle.on_expand = [&](std::uint64_t) {
      is_searching = true;
      is_searching.notify_all();
    };
    runtime owner(with_threads(threads));
    auto handle = owner.spawn(solve(puzzle, which));
    is_searching.wait(false);
    owner.shutdown();
    EXPECT_THROW((void)handle.wait(), operation_cancelled);
    EXPECT_EQ(puzzle.inside_now, 0);
  });
}

TEST(search, exception_of_the_puzzle_is_rethrown_after_all_have_ended) {
  for_each_solver_and_pool([](solver which, unsigned threads) {
    for (const int place : {0, 1, 2}) {
      for (const std::uint64_t when : {1U, 2U, 3'000U}) {
        watched<endless> puzzle{endless()};
        const auto thrower = [&](std::uint64_t call) {
          if (call == when) throw std::runtime_error("the puzzle is broken");
        };
        (place == 0   ? puzzle.on_apply
         : place == 1 ? puzzle.on_expand
                      : puzzle.on_is_goal) = thrower;
        try {
          (void)solve_on(threads, puzzle, which);
          ADD_FAILURE() << "it came to an end";
        } catch (const std::runtime_error& error) {
          EXPECT_STREQ(error.what(), "the puzzle is broken");
        }
        EXPECT_EQ(puzzle.inside_now, 0);
      }
    }
  });
}

TEST(search, first_of_many_exceptions_is_rethrown) {
  for_each_solver_and_pool([](solver which, unsigned threads) {
    watched<endless> puzzle{endless()};
    puzzle.on_apply = [](std::uint64_t call) {
      if (call > 1'000) throw std::runtime_error("the puzzle is broken");
    };
    EXPECT_THROW((void)solve_on(threads, puzzle, which), std::runtime_error);
  });
}

TEST(search, exception_of_the_progress_callback_ends_the_search) {
  for_each_solver_and_pool([](solver which, unsigned threads) {
    const auto options = search_options().with_progress(
        [](const search_progress&) { throw std::runtime_error("no more progress"); }, 0ns);
    EXPECT_THROW((void)solve_on(threads, endless(), which, options), std::runtime_error);
  });
}

TEST(search, progress_is_never_reported_twice_at_once_and_only_grows) {
  for_each_solver_and_pool([](solver which, unsigned threads) {
    std::mutex busy;
    std::uint64_t reports = 0;
    std::uint64_t last = 0;
    const auto options = search_options().with_node_limit(200'000).with_progress(
        [&](const search_progress& now) {
          const std::unique_lock alone(busy, std::try_to_lock);
          EXPECT_TRUE(alone.owns_lock());
          EXPECT_GE(now.nodes, last);
          last = now.nodes;
          ++reports;
        },
        0ns);
    (void)solve_on(threads, endless(), which, options);
    EXPECT_GT(reports, 0U);
  });
}

// A task that needs a thousand turns on the only worker, then stops the search without end.
task<void> search_beside_a_ticker(solver which) {
  const endless puzzle;
  auto both = [&](task_scope& scope) -> task<void> {
    auto ticker = [](task_scope& in) -> task<void> {
      for (int i = 0; i < 1'000; ++i) co_await yield();
      in.request_stop();
    };
    scope.spawn(ticker(scope));
    (void)co_await solve(puzzle, which);
  };
  co_await with_scope(both);
}

TEST(search, long_search_lets_other_tasks_of_its_worker_run) {
  for (const solver which :
       {solver::cooperative, solver::racing, solver::breadth_first, solver::counting}) {
    EXPECT_THROW(run(search_beside_a_ticker(which), with_threads(1)), operation_cancelled);
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
