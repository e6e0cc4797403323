// search_progress_test.cpp: progress of searches, where they run, and whom they let run.
// SPDX-License-Identifier: MIT
#include <tandem/search.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <stdexcept>
#include <tandem/errors.hpp>
#include <tandem/run.hpp>
#include <tandem/runtime.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>

#include "runtime/search/search_support.hpp"

namespace {

using namespace tandem;
using namespace tandem::test;
using namespace std::chrono_literals;

TEST(search, exception_of_the_progress_callback_ends_the_search) {
  for_each_solver_and_pool([](solver which, unsigned threads) {
    const auto options = search_options().with_progress(
        [](const search_progress&) { throw std::runtime_error("no more progress"); }, 0ns);
    EXPECT_THROW((void)solve_on(threads, endless(), which, options), std::runtime_error);
  });
}

TEST(search, progress_is_never_reported_twice_at_once_and_only_grows) {
  for_each_solver_and_pool([](solver which, unsigned threads) {
    const std::uint64_t limit = sanitized ? 50'000 : 200'000;
    std::mutex busy;
    std::uint64_t reports = 0;
    std::uint64_t last = 0;
    const auto options = search_options().with_node_limit(limit).with_progress(
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
  EXPECT_THROW(run(search_beside_a_ticker(solver::cooperative), with_threads(1)),
               operation_cancelled);
  for (const solver which : parallel_solvers) {
    EXPECT_THROW(run(search_beside_a_ticker(which), with_threads(1)), operation_cancelled);
  }
}

}  // namespace
