// task_scope_test.cpp: children never outlive their scope, and the first failure wins.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::test::test_runtime;

TEST(task_scope, ends_after_all_children_and_yields_what_the_body_returns) {
  test_runtime rt;
  std::atomic<int> ended{0};
  const int got = rt.run([](std::atomic<int>& count) -> task<int> {
    const int value = co_await with_scope([&](task_scope& scope) -> task<int> {
      for (int i = 0; i < 100; ++i) {
        scope.spawn([](std::atomic<int>& c, int n) -> task<void> {
          if (n % 2 == 0) co_await tandem::sleep_for(std::chrono::microseconds(n));
          ++c;
        }(count, i));
      }
      co_return 77;
    });
    EXPECT_EQ(count.load(), 100);
    co_return value;
  }(ended));
  EXPECT_EQ(got, 77);
}

TEST(task_scope, join_waits_for_the_children_so_far_and_may_be_repeated) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    co_await with_scope([](task_scope& scope) -> task<void> {
      std::atomic<int> ended{0};
      for (int round = 1; round <= 50; ++round) {
        for (int i = 0; i < 10; ++i) {
          scope.spawn([](std::atomic<int>& c) -> task<void> {
            co_await tandem::yield();
            ++c;
          }(ended));
        }
        co_await scope.join();
        EXPECT_EQ(ended.load(), round * 10);
      }
      co_await scope.join();
    });
  }());
}

TEST(task_scope, children_may_spawn_siblings) {
  test_runtime rt;
  std::atomic<int> ended{0};
  struct grow {
    static task<void> child(task_scope& scope, std::atomic<int>& count, int depth) {
      ++count;
      if (depth == 0) co_return;
      scope.spawn(child(scope, count, depth - 1));
      scope.spawn(child(scope, count, depth - 1));
    }
  };
  rt.run([](std::atomic<int>& count) -> task<void> {
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(grow::child(scope, count, 10));
      co_return;
    });
  }(ended));
  EXPECT_EQ(ended.load(), 2047);
}

TEST(task_scope, the_first_failure_stops_siblings_and_body_and_is_rethrown) {
  test_runtime rt;
  std::atomic<int> stopped{0};
  const auto sleeps = [](std::atomic<int>& count) -> task<void> {
    try {
      co_await tandem::sleep_for(10h);
    } catch (const tandem::operation_cancelled& e) {
      EXPECT_EQ(e.reason(), tandem::stop_reason::sibling_failed);
      ++count;
      throw;
    }
  };
  try {
    rt.run([](auto make, std::atomic<int>& count) -> task<void> {
      co_await with_scope([&](task_scope& scope) -> task<void> {
        for (int i = 0; i < 5; ++i) scope.spawn(make(count));
        scope.spawn([]() -> task<void> {
          co_await tandem::sleep_for(1ms);
          throw std::runtime_error("first");
        }());
        co_await tandem::sleep_for(10h);
      });
    }(sleeps, stopped));
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "first");
  }
  EXPECT_EQ(stopped.load(), 5);
}

TEST(task_scope, a_failing_body_stops_the_children_and_its_failure_is_rethrown) {
  test_runtime rt;
  std::atomic<bool> ended{false};
  try {
    rt.run([](std::atomic<bool>& e) -> task<void> {
      co_await with_scope([&](task_scope& scope) -> task<void> {
        scope.spawn([](std::atomic<bool>& flag) -> task<void> {
          try {
            co_await tandem::sleep_for(10h);
          } catch (...) {
            flag.store(true);
            throw;
          }
        }(e));
        co_await tandem::yield();
        throw std::runtime_error("body");
      });
    }(ended));
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "body");
  }
  EXPECT_TRUE(ended.load());
}

TEST(task_scope, request_stop_ends_the_children_without_a_failure) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    co_await with_scope([](task_scope& scope) -> task<void> {
      for (int i = 0; i < 20; ++i) {
        scope.spawn([]() -> task<void> { co_await tandem::sleep_for(10h); }());
      }
      co_await tandem::yield();
      EXPECT_TRUE(scope.request_stop());
      EXPECT_FALSE(scope.request_stop());
      EXPECT_TRUE(scope.stop_requested());
    });
    EXPECT_FALSE(tandem::stop_requested());
  }());
}

TEST(task_scope, a_stop_from_outside_reaches_the_children) {
  test_runtime rt;
  std::atomic<int> stopped{0};
  rt.run([](std::atomic<int>& count) -> task<void> {
    const auto body = [](std::atomic<int>& c) -> task<void> {
      co_await with_scope([&](task_scope& scope) -> task<void> {
        for (int i = 0; i < 10; ++i) {
          scope.spawn([](std::atomic<int>& n) -> task<void> {
            try {
              co_await tandem::sleep_for(10h);
            } catch (const tandem::operation_cancelled& e) {
              EXPECT_EQ(e.reason(), tandem::stop_reason::deadline);
              ++n;
            }
          }(c));
        }
        co_await scope.join();
      });
    };
    co_await tandem::with_timeout(1ms, body(count));
  }(stopped));
  EXPECT_EQ(stopped.load(), 10);
}

TEST(task_scope, a_body_that_throws_before_it_is_a_task_leaves_nothing_behind) {
  test_runtime rt;
  EXPECT_THROW(rt.run([]() -> task<void> {
    co_await with_scope([](task_scope&) -> task<void> {
      throw std::logic_error("no task");  // thrown inside the coroutine
      co_return;
    });
  }()),
               std::logic_error);
  EXPECT_THROW(rt.run([]() -> task<void> {
    const auto plain = [](task_scope&) -> task<void> { throw std::logic_error("no coroutine"); };
    co_await with_scope(plain);
  }()),
               std::logic_error);
}

}  // namespace
