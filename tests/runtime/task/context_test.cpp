// context_test.cpp: laws of values that flow down with the work.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <tandem/context.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <utility>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::context_local;
using tandem::task;
using tandem::with_context;
using tandem::test::test_runtime;

const context_local<std::string> request_id("none");
const context_local<int> level;

std::string id_of_plain_function() { return request_id.get(); }

task<std::string> id_after_waits() {
  co_await tandem::yield();
  co_await tandem::sleep_for(1ms);
  co_return id_of_plain_function();
}

TEST(context, a_value_is_seen_below_its_binding_in_plain_functions_and_after_waits) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    EXPECT_EQ(id_of_plain_function(), "none");
    EXPECT_EQ(request_id.find(), nullptr);
    EXPECT_EQ(co_await with_context(request_id, "r-17", id_after_waits()), "r-17");
    EXPECT_EQ(id_of_plain_function(), "none");
  }());
  EXPECT_EQ(id_of_plain_function(), "none") << "outside any task";
}

TEST(context, an_inner_binding_hides_the_outer_one_and_leaves_others_alone) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    co_await with_context(request_id, "outer", []() -> task<void> {
      co_await with_context(level, 2, []() -> task<void> {
        co_await with_context(request_id, "inner", []() -> task<void> {
          EXPECT_EQ(request_id.get(), "inner");
          EXPECT_EQ(level.get(), 2);
          co_return;
        }());
        EXPECT_EQ(request_id.get(), "outer");
        EXPECT_EQ(level.get(), 2);
      }());
      EXPECT_EQ(level.get(), 0);
      EXPECT_EQ(co_await with_context(request_id, "again", id_after_waits()), "again");
      EXPECT_EQ(request_id.get(), "outer");
    }());
  }());
}

TEST(context, a_spawned_task_keeps_what_its_spawner_had_though_the_block_is_over) {
  test_runtime rt;
  std::weak_ptr<int> watched;
  const context_local<std::shared_ptr<int>> held;
  rt.run([](const context_local<std::shared_ptr<int>>& local,
            std::weak_ptr<int>& watch) -> task<void> {
    std::optional<tandem::join_handle<int>> left_behind;
    auto value = std::make_shared<int>(7);
    watch = value;
    co_await with_context(local, std::move(value),
                          [](const auto& inner, auto& handle) -> task<void> {
                            handle = tandem::spawn([](const auto& innermost) -> task<int> {
                              co_await tandem::sleep_for(2ms);
                              co_return *innermost.get();
                            }(inner));
                            co_return;
                          }(local, left_behind));
    EXPECT_EQ(local.get(), nullptr);
    EXPECT_FALSE(watch.expired());
    EXPECT_EQ(co_await std::move(*left_behind), 7);
  }(held, watched));
  EXPECT_TRUE(rt->drain(10s));
  EXPECT_TRUE(watched.expired()) << "nobody is left who could read it";
}

TEST(context, forks_scopes_and_timeouts_pass_it_on) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    co_await with_context(request_id, "r-1", []() -> task<void> {
      auto [a, b] = co_await tandem::fork_join(id_after_waits(), id_after_waits());
      EXPECT_EQ(a + b, "r-1r-1");
      EXPECT_EQ(co_await tandem::with_timeout(1h, id_after_waits()), "r-1");
      co_await tandem::with_scope([](tandem::task_scope& scope) -> task<void> {
        scope.spawn([]() -> task<void> { EXPECT_EQ(co_await id_after_waits(), "r-1"); }());
        co_return;
      });
    }());
  }());
}

TEST(context, a_child_of_a_scope_has_the_context_of_its_spawner_not_of_the_scope) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    co_await tandem::with_scope([](tandem::task_scope& scope) -> task<void> {
      co_await with_context(request_id, "inside", [](tandem::task_scope& s) -> task<void> {
        s.spawn([]() -> task<void> { EXPECT_EQ(co_await id_after_waits(), "inside"); }());
        co_return;
      }(scope));
      EXPECT_EQ(request_id.get(), "none");
    });
  }());
}

TEST(context, suppressed_flow_captures_nothing) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    co_await with_context(request_id, "r-9", []() -> task<void> {
      EXPECT_EQ(co_await tandem::spawn(tandem::no_flow, id_after_waits()), "none");
      EXPECT_EQ(co_await tandem::spawn(id_after_waits()), "r-9");
      co_await tandem::suppress_flow([]() -> task<void> {
        EXPECT_EQ(request_id.get(), "none");
        EXPECT_EQ(co_await tandem::spawn(id_after_waits()), "none");
      }());
      EXPECT_EQ(request_id.get(), "r-9");
    }());
  }());
}

TEST(context, failures_and_stops_pass_through_a_binding) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    try {
      co_await with_context(level, 1, []() -> task<void> {
        co_await tandem::yield();
        throw std::runtime_error("inside");
      }());
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& failure) {
      EXPECT_STREQ(failure.what(), "inside");
    }
    EXPECT_EQ(level.get(), 0);
    try {
      co_await tandem::with_timeout(1ms, []() -> task<void> {
        co_await with_context(level, 1, []() -> task<void> { co_await tandem::sleep_for(1h); }());
      }());
      ADD_FAILURE() << "the stop did not reach the child";
    } catch (const tandem::operation_cancelled& stopped) {
      EXPECT_EQ(stopped.reason(), tandem::stop_reason::deadline);
    }
  }());
}

TEST(context, a_binding_that_never_started_frees_its_value) {
  auto value = std::make_shared<int>(1);
  const context_local<std::shared_ptr<int>> held;
  {
    auto unused = with_context(held, value, id_after_waits());
    auto moved = std::move(unused);
    EXPECT_EQ(value.use_count(), 2);
  }
  EXPECT_EQ(value.use_count(), 1);
}

task<int> bind_deeply(int depth) {
  if (depth == 0) co_return level.get();
  co_return co_await with_context(level, depth, bind_deeply(depth - 1));
}

task<int> bind_two_deeply(int depth) {
  if (depth == 0) co_return level.get();
  co_return co_await with_context(request_id, "x", [](int left) -> task<int> {
    co_return co_await with_context(level, left, bind_two_deeply(left - 1));
  }(depth));
}

task<std::string> id_below(int depth) {
  if (depth == 0) co_return id_of_plain_function();
  co_return co_await id_below(depth - 1);
}

// Called on the joiner's stack, and too deep for it: the rest runs when that stack has unwound.
TEST(context, a_deep_task_that_its_joiner_calls_keeps_its_own) {
  test_runtime rt(tandem::test::with_threads(1));
  rt.run([]() -> task<void> {
    std::optional<tandem::join_handle<std::string>> deep;
    co_await with_context(request_id, "its own", [&deep]() -> task<void> {
      deep.emplace(tandem::spawn(id_below(10'000)));
      co_return;
    }());
    co_await with_context(request_id, "the joiner's", [&deep]() -> task<void> {
      const std::string seen = co_await *deep;
      EXPECT_EQ(seen, "its own");
      EXPECT_EQ(id_of_plain_function(), "the joiner's");
    }());
  }());
}

TEST(context, depth_of_bindings_is_not_depth_of_the_stack) {
  test_runtime rt;
  EXPECT_EQ(rt.run(bind_deeply(100'000)), 1);
  EXPECT_EQ(rt.run(bind_two_deeply(50'000)), 1);
}

}  // namespace
