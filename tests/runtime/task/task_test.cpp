// task_test.cpp: what a task yields, how it fails, where it resumes, what g++ 12 must not break.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <coroutine>
#include <memory>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/task.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "test_runtime.hpp"

namespace {

using tandem::task;
using tandem::test::test_runtime;

task<int> number(int n) { co_return n; }
task<std::string> text(std::string value) { co_return value; }
task<std::unique_ptr<int>> boxed(int n) { co_return std::make_unique<int>(n); }
task<int&> same(int& n) { co_return n; }
task<void> nothing() { co_return; }
task<int> failing() {
  throw std::runtime_error("planned");
  co_return 0;
}

TEST(task, yields_values_references_nothing_and_move_only_results) {
  test_runtime rt;
  int target = 5;
  EXPECT_EQ(rt.run(number(42)), 42);
  EXPECT_EQ(rt.run(text(std::string(100, 'x'))), std::string(100, 'x'));
  EXPECT_EQ(*rt.run(boxed(7)), 7);
  EXPECT_EQ(&rt.run(same(target)), &target);
  rt.run(nothing());
}

TEST(task, a_failure_reaches_the_awaiter_with_its_type_and_text) {
  test_runtime rt;
  try {
    rt.run([]() -> task<int> { co_return 1 + co_await failing(); }());
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "planned");
  }
}

TEST(task, a_failure_can_be_caught_around_the_await_and_the_task_goes_on) {
  test_runtime rt;
  const int got = rt.run([]() -> task<int> {
    int failures = 0;
    for (int i = 0; i < 10; ++i) {
      try {
        co_await failing();
      } catch (const std::runtime_error&) {
        ++failures;
      }
    }
    co_return failures;
  }());
  EXPECT_EQ(got, 10);
}

TEST(task, a_never_started_task_destroys_its_arguments) {
  auto witness = std::make_shared<int>(1);
  {
    const auto unused = [](std::shared_ptr<int> held) -> task<void> {
      EXPECT_NE(held, nullptr);
      co_return;
    }(witness);
    EXPECT_EQ(witness.use_count(), 2);
  }
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(task, results_and_frames_are_destroyed_exactly_once) {
  test_runtime rt;
  auto witness = std::make_shared<int>(1);
  const auto pass = [](std::shared_ptr<int> in) -> task<std::shared_ptr<int>> { co_return in; };
  rt.run([](auto make, std::shared_ptr<int> in) -> task<void> {
    for (int i = 0; i < 100; ++i) {
      const auto out = co_await make(in);
      EXPECT_EQ(out, in);
    }
  }(pass, witness));
  EXPECT_EQ(witness.use_count(), 1);
}

TEST(task, as_result_takes_values_and_failures_without_rethrowing) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    tandem::result<int> good = co_await tandem::as_result(number(3));
    EXPECT_TRUE(good.has_value());
    EXPECT_EQ(good.value(), 3);
    EXPECT_FALSE(good.error());
    tandem::result<int> bad = co_await tandem::as_result(failing());
    EXPECT_FALSE(bad.has_value());
    EXPECT_EQ(bad.error(), std::errc::state_not_recoverable);
    EXPECT_THROW((void)std::move(bad).value(), std::runtime_error);
    tandem::result<void> done = co_await tandem::as_result(nothing());
    EXPECT_TRUE(done.has_value());
  }());
}

// An awaitable of somebody else: it resumes what it is given from a thread of its own.
class foreign_thread {
 public:
  explicit foreign_thread(std::thread& runner) : runner_(&runner) {}
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> waiting) {
    // The task may be over before the assignment is: the thread waits for it.
    auto assigned = std::make_shared<std::atomic<bool>>(false);
    *runner_ = std::thread([waiting, assigned] {
      while (!assigned->load()) std::this_thread::yield();
      waiting.resume();
    });
    assigned->store(true);
  }
  std::thread::id await_resume() const noexcept { return std::this_thread::get_id(); }

 private:
  std::thread* runner_;
};

TEST(task, a_foreign_awaitable_that_resumes_elsewhere_brings_the_task_back_to_its_home) {
  test_runtime rt;
  std::thread runner;
  bool home = false;
  rt.run([](std::thread& r, tandem::worker_pool& pool, bool& is_home) -> task<void> {
    tandem::environment* const before = tandem::current_environment();
    co_await foreign_thread(r);
    is_home = pool.is_current();
    EXPECT_EQ(tandem::current_environment(), before);
  }(runner, rt.workers(), home));
  runner.join();
  EXPECT_TRUE(home);
}

// A foreign awaitable that does not suspend, in the two ways it can say so.
struct suspends_never {
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<>) const noexcept { return false; }
  int await_resume() const noexcept { return 1; }
};
struct hands_back {
  bool await_ready() const noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> self) const noexcept {
    return self;
  }
  int await_resume() const noexcept { return 2; }
};

TEST(task, foreign_awaitables_may_decline_to_suspend) {
  test_runtime rt;
  const int sum = rt.run([]() -> task<int> {
    int total = 0;
    for (int i = 0; i < 100'000; ++i) {
      total += co_await suspends_never();
      total += co_await hands_back();
    }
    co_return total;
  }());
  EXPECT_EQ(sum, 300'000);
}

task<tandem::executor*> where_after_moving(tandem::executor& target) {
  co_await tandem::resume_on(target);
  EXPECT_TRUE(target.is_current());
  co_await tandem::yield();
  EXPECT_TRUE(target.is_current());
  co_return &target;
}

TEST(task, resume_on_moves_the_child_and_the_parent_resumes_at_its_own_home) {
  test_runtime here(1);
  test_runtime there(1);
  here.run([](tandem::worker_pool& own, tandem::worker_pool& other) -> task<void> {
    for (int i = 0; i < 100; ++i) {
      EXPECT_EQ(co_await where_after_moving(other), &other);
      EXPECT_TRUE(own.is_current());
    }
  }(here.workers(), there.workers()));
}

// The forms of toolchain.md that g++ 12 gets wrong for careless types; tandem's have to survive
// them.
TEST(gcc_12, temporaries_with_non_trivial_members_in_one_co_await_expression) {
  test_runtime rt;
  auto witness = std::make_shared<int>(3);
  rt.run([](std::shared_ptr<int> w) -> task<void> {
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ((co_await text(std::string(40, 'a') + (co_await text("b")))).size(), 41U);
      const bool pick = i % 2 == 0;
      std::string chosen;
      if (pick) {
        chosen = co_await text("left");
      } else {
        chosen = co_await text("right");
      }
      EXPECT_EQ(chosen, pick ? "left" : "right");
      const auto got = co_await tandem::as_result(text(std::string(50, 'q')));
      EXPECT_TRUE(got.has_value());
      // Captures that have destructors: the lambda has a name (task_scope.hpp says why).
      const auto body = [w, name = std::string(60, 'n')](tandem::task_scope& scope) -> task<void> {
        scope.spawn([](std::shared_ptr<int> inner, std::string n) -> task<void> {
          EXPECT_EQ(*inner, 3);
          EXPECT_EQ(n.size(), 60U);
          co_return;
        }(w, name));
        co_await tandem::yield();
        EXPECT_EQ(name.size(), 60U);
      };
      co_await tandem::with_scope(body);
      // A temporary one with trivial captures.
      co_await tandem::with_scope([&w, i](tandem::task_scope&) -> task<void> {
        co_await tandem::yield();
        EXPECT_GE(i, 0);
        EXPECT_EQ(*w, 3);
      });
    }
  }(witness));
  EXPECT_EQ(witness.use_count(), 1);
}

#if defined(__clang__) || __GNUC__ > 12
TEST(clang, a_temporary_lambda_with_captures_that_have_destructors) {
  test_runtime rt;
  auto witness = std::make_shared<int>(3);
  rt.run([](std::shared_ptr<int> w) -> task<void> {
    for (int i = 0; i < 10; ++i) {
      co_await tandem::with_scope(
          [w, name = std::string(60, 'n')](tandem::task_scope&) -> task<void> {
            co_await tandem::yield();
            EXPECT_EQ(name.size(), 60U);
          });
    }
  }(witness));
  EXPECT_EQ(witness.use_count(), 1);
}
#endif

TEST(task_death, awaiting_an_empty_task_says_so) {
  EXPECT_DEATH(
      {
        test_runtime rt;
        rt.run([]() -> task<void> { co_await task<void>(); }());
      },
      "an empty task");
}

}  // namespace
