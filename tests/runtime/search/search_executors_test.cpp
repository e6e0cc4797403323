// search_executors_test.cpp: searches on an executor that the caller has chosen.
// SPDX-License-Identifier: MIT
#include <tandem/search.hpp>

#include <gtest/gtest.h>

#include <mutex>
#include <set>
#include <tandem/run.hpp>
#include <tandem/runtime.hpp>
#include <tandem/single_thread_executor.hpp>
#include <tandem/spawn.hpp>
#include <tandem/strand.hpp>
#include <thread>

#include "runtime/search/search_support.hpp"

namespace {

using namespace tandem;
using namespace tandem::test;

constexpr solver placed_solvers[] = {solver::racing, solver::breadth_first, solver::bidirectional,
                                     solver::best_first};

const eight_puzzle far_eight("867254301");

/// The threads on which positions were expanded.
class thread_log {
 public:
  explicit thread_log(watched<eight_puzzle>& puzzle) {
    puzzle.on_expand = [this](std::uint64_t) {
      const std::lock_guard lock(mutex_);
      seen_.insert(std::this_thread::get_id());
    };
  }
  std::set<std::thread::id> seen() const { return seen_; }

 private:
  std::mutex mutex_;
  std::set<std::thread::id> seen_;
};

task<std::thread::id> this_thread_of(executor& where) {
  co_await resume_on(where);
  co_return std::this_thread::get_id();
}

template <class Body>
void search_everywhere(Body body) {
  for (const solver which : placed_solvers) {
    for (const unsigned parallelism : {0U, 3U}) {
      SCOPED_TRACE(name_of(which) + " with parallelism " + std::to_string(parallelism));
      body(which, search_options().with_parallelism(parallelism));
    }
  }
}

TEST(search, runs_on_the_single_thread_that_was_chosen_and_returns_to_the_caller) {
  runtime owner(with_threads(2));
  single_thread_executor lone(owner);
  const std::thread::id lone_id = owner.spawn(this_thread_of(lone)).wait();
  search_everywhere([&](solver which, search_options options) {
    watched<eight_puzzle> puzzle{far_eight};
    const thread_log log(puzzle);
    auto body = [&]() -> task<bool> {
      const auto found = co_await solve(puzzle, which, options.with_executor(lone));
      EXPECT_TRUE(leads_to_goal(far_eight, found.path));
      co_return lone.is_current();
    };
    EXPECT_FALSE(owner.spawn(body()).wait());
    EXPECT_EQ(log.seen(), std::set{lone_id});
    EXPECT_EQ(puzzle.inside_most, 1);
  });
}

TEST(search, on_a_strand_one_task_expands_at_a_time) {
  runtime owner(with_threads(2));
  search_everywhere([&](solver which, search_options options) {
    const strand turns(owner.workers());
    watched<eight_puzzle> puzzle{far_eight};
    const auto found =
        owner.spawn(solve(puzzle, which, options.with_executor(turns.executor()))).wait();
    EXPECT_TRUE(leads_to_goal(far_eight, found.path));
    EXPECT_EQ(puzzle.inside_most, 1);
  });
}

TEST(search, runs_on_the_pool_of_another_runtime) {
  runtime home(with_threads(1));
  runtime other(with_threads(2));
  search_everywhere([&](solver which, search_options options) {
    watched<eight_puzzle> puzzle{far_eight};
    const thread_log log(puzzle);
    auto body = [&]() -> task<std::thread::id> {
      const auto found = co_await solve(puzzle, which, options.with_executor(other.workers()));
      EXPECT_TRUE(leads_to_goal(far_eight, found.path));
      co_return std::this_thread::get_id();
    };
    const std::thread::id home_id = home.spawn(body()).wait();
    EXPECT_FALSE(log.seen().contains(home_id));
  });
}

}  // namespace
