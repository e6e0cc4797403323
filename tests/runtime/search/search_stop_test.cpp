// search_stop_test.cpp: searches that are stopped, or fail.
// SPDX-License-Identifier: MIT
#include <tandem/search.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <stop_token>
#include <tandem/errors.hpp>
#include <tandem/run.hpp>
#include <tandem/runtime.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>

#include "runtime/search/search_support.hpp"
#include "waits.hpp"

namespace {

using namespace tandem;
using namespace tandem::test;
using namespace std::chrono_literals;

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
    tandem::test::flag is_searching;
    puzzle.on_expand = [&](std::uint64_t) {
      is_searching = true;
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
        // From both ends only the start and the goals are asked whether they are goals.
        if (which == solver::bidirectional && place == 2 && when > 2) continue;
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

TEST(search, stop_token_ends_every_solver_midway) {
  for_each_solver_and_pool([](solver which, unsigned threads) {
    std::stop_source source;
    watched<endless> puzzle{endless()};
    puzzle.on_apply = [&](std::uint64_t call) {
      if (call == 10'000) source.request_stop();
    };
    const auto options = search_options().with_stop_token(source.get_token());
    try {
      (void)solve_on(threads, puzzle, which, options);
      ADD_FAILURE() << "it came to an end";
    } catch (const operation_cancelled& cancelled) {
      EXPECT_EQ(cancelled.reason(), stop_reason::user);
    }
    EXPECT_EQ(puzzle.inside_now, 0);
  });
}

TEST(search, stop_token_that_was_stopped_before_ends_every_solver) {
  for (const solver which : all_solvers) {
    std::stop_source source;
    source.request_stop();
    const auto options = search_options().with_stop_token(source.get_token());
    EXPECT_THROW((void)solve_on(2, endless(), which, options), operation_cancelled)
        << name_of(which);
  }
}

}  // namespace
