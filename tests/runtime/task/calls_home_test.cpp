// calls_home_test.cpp: where a parent goes on after a call: at its home, in its environment, with its variables.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <string_view>
#include <tandem/fork_each.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <thread>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::fork_join;
using tandem::task;
using tandem::test::test_runtime;

TEST(calls, a_child_that_moves_away_returns_to_its_parents_home) {
  test_runtime rt;
  test_runtime other;
  rt.run([](tandem::executor& home, tandem::executor& away) -> task<void> {
    const auto wanderer = [](tandem::executor& target) -> task<int> {
      co_await tandem::resume_on(target);
      EXPECT_TRUE(target.is_current());
      co_return 1;
    };
    for (int i = 0; i < 200; ++i) {
      EXPECT_EQ(co_await wanderer(away), 1);
      EXPECT_TRUE(home.is_current());
      auto [a, b, c] = co_await fork_join(wanderer(home), wanderer(away), wanderer(home));
      EXPECT_EQ(a + b + c, 3);
      EXPECT_TRUE(home.is_current());
    }
  }(rt.workers(), other.workers()));
}

// Pointers that move in pairs through a loop around a co_await: what g++ 12 vectorises wrongly.
struct cursor {
  const double* a;
  const double* b;
  double* c;
  int size;
  int id;

  cursor part(int row, int column, int inner) const {
    const int half = size / 2;
    return {a + (row * 4 + inner) * half, b + (inner * 4 + column) * half,
            c + (row * 4 + column) * half, half, id * 8 + row * 4 + column * 2 + inner};
  }
};

std::array<double, 16> grid_a;
std::array<double, 16> grid_b;
std::array<double, 16> grid_c;
int strayed = 0;

template <class Array>
bool is_in(const Array& all, const double* at) {
  return at >= all.data() && at < all.data() + all.size();
}

task<void> walk(cursor at) {
  if (at.size == 1) {
    if (!is_in(grid_a, at.a) || !is_in(grid_b, at.b) || !is_in(grid_c, at.c)) ++strayed;
    co_return;
  }
  for (int inner = 0; inner < 2; ++inner) {
    co_await fork_join(walk(at.part(0, 0, inner)), walk(at.part(0, 1, inner)),
                       walk(at.part(1, 0, inner)), walk(at.part(1, 1, inner)));
  }
}

TEST(calls, a_loop_around_an_await_keeps_its_variables) {
  test_runtime rt(1);
  rt.run(walk({grid_a.data(), grid_b.data(), grid_c.data(), 4, 1}));
  EXPECT_EQ(strayed, 0);
}

/// Suspends, goes on elsewhere, and only then returns from its await_suspend, as a preempted thread
/// might.
struct late_return {
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> self) {
    std::thread([self] { self.resume(); }).detach();
    std::this_thread::sleep_for(20ms);  // opens the window; nothing depends on it
  }
  void await_resume() const noexcept {}
};
task<int> goes_on_elsewhere() {
  co_await late_return();
  co_return 1;
}
task<int> under_a_timeout() { co_return co_await tandem::with_timeout(1h, goes_on_elsewhere()); }
task<int> in_a_scope() {
  const auto body = [](tandem::task_scope&) -> task<int> {
    co_return co_await goes_on_elsewhere();
  };
  co_return co_await tandem::with_scope(body);
}

TEST(calls, a_parent_goes_on_in_its_own_environment_wherever_its_children_end) {
  test_runtime rt(2);
  rt.run([]() -> task<void> {
    const tandem::environment* const env = tandem::current_environment();
    const auto at_once = []() -> task<int> { co_return 1; };
    for (int i = 0; i < 4; ++i) {
      co_await fork_join(at_once(), under_a_timeout());
      EXPECT_EQ(tandem::current_environment(), env);
      co_await fork_join(at_once(), in_a_scope(), at_once());
      EXPECT_EQ(tandem::current_environment(), env);
      (void)co_await tandem::fork_each(
          3, [](std::size_t which) { return which == 1 ? under_a_timeout() : in_a_scope(); });
      EXPECT_EQ(tandem::current_environment(), env);
    }
  }());
}

TEST(calls, stolen_children_see_the_environment_of_their_task) {
  test_runtime rt(2);
  rt.run([]() -> task<void> {
    std::atomic<int> both{0};
    const auto meets = [](std::atomic<int>& count, const tandem::environment* env) -> task<bool> {
      ++count;
      while (count.load() < 2) std::this_thread::yield();  // ends only if the other was stolen
      co_return tandem::current_environment() == env;
    };
    const tandem::environment* const env = tandem::current_environment();
    auto [a, b] = co_await fork_join(meets(both, env), meets(both, env));
    EXPECT_TRUE(a);
    EXPECT_TRUE(b);
  }());
}

/// Keeps jobs until somebody polls it.
class polled final : public tandem::executor {
 public:
  explicit polled(tandem::runtime& owner) : owner_(owner) {}
  void post(tandem::job* item, tandem::post_kind) noexcept override { jobs_.push_back(item); }
  bool is_current() const noexcept override { return false; }
  tandem::runtime* owner() const noexcept override { return &owner_; }
  std::string_view name() const noexcept override { return "polled"; }
  void poll() noexcept {
    while (tandem::job* item = jobs_.pop_front()) item->run(item);
  }

 private:
  tandem::runtime& owner_;
  tandem::job_list jobs_;
};

TEST(calls_death, running_jobs_from_inside_a_task_says_so) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        test_runtime rt(1);
        polled executor(*rt);
        rt.run([](polled& own) -> task<void> {
          auto handle = tandem::spawn(own, []() -> task<void> { co_return; }());
          own.poll();
          co_await handle;
        }(executor));
      },
      "from inside a task");
}

}  // namespace
