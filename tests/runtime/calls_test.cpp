// calls_test.cpp: children are called on the stack of their parent, and everything still holds.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <coroutine>
#include <memory>
#include <new>
#include <random>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tandem/as_result.hpp>
#include <tandem/fork_each.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::fork_join;
using tandem::task;
using tandem::test::test_runtime;

/// Counts how many of its kind live.
class counted {
 public:
  explicit counted(std::atomic<int>& live) : live_(&live) { ++*live_; }
  counted(const counted& other) : live_(other.live_) { ++*live_; }
  counted& operator=(const counted&) = delete;
  ~counted() { --*live_; }

 private:
  std::atomic<int>* live_;
};

task<int> holds(counted, int suspensions) {
  for (int i = 0; i < suspensions; ++i) co_await tandem::yield();
  co_return suspensions;
}

TEST(calls, arguments_of_a_child_are_gone_when_its_parent_goes_on) {
  test_runtime rt;
  std::atomic<int> live{0};
  rt.run([](std::atomic<int>& count) -> task<void> {
    for (const int suspensions : {0, 1, 3}) {
      EXPECT_EQ(co_await holds(counted(count), suspensions), suspensions);
      EXPECT_EQ(count.load(), 0);
      auto [a, b] =
          co_await fork_join(holds(counted(count), suspensions), holds(counted(count), 0));
      EXPECT_EQ(count.load(), 0);
      EXPECT_EQ(a + b, suspensions);
      std::vector<task<int>> many;
      for (int i = 0; i < 100; ++i) many.push_back(holds(counted(count), i % 3 * suspensions));
      (void)co_await fork_join(std::move(many));
      EXPECT_EQ(count.load(), 0);
    }
    {
      const task<int> never = holds(counted(count), 0);
      EXPECT_EQ(count.load(), 1);
    }
    EXPECT_EQ(count.load(), 0);
  }(live));
}

task<int> down(int depth, bool throws) {
  if (depth == 0) {
    if (throws) throw std::runtime_error("at the bottom");
    co_await tandem::yield();
    co_return 0;
  }
  co_return co_await down(depth - 1, throws) + 1;
}

TEST(calls, deep_chains_suspend_and_throw_without_using_the_stack) {
  test_runtime rt;
  EXPECT_EQ(rt.run(down(300'000, false)), 300'000);
  EXPECT_THROW(rt.run(down(20'000, true)), std::runtime_error);
}

task<long> comb(int depth) {  // a fork at every level, one child of which goes on
  if (depth == 0) co_return 1;
  auto [a, b] = co_await fork_join(comb(depth - 1), comb(0));
  co_return a + b;
}
task<long> mirrored_comb(int depth) {
  if (depth == 0) co_return 1;
  auto [a, b] = co_await fork_join(mirrored_comb(0), mirrored_comb(depth - 1));
  co_return a + b;
}

TEST(calls, forks_may_be_nested_far_deeper_than_the_stack) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    test_runtime rt(threads);
    EXPECT_EQ(rt.run(comb(100'000)), 100'001);
    EXPECT_EQ(rt.run(mirrored_comb(100'000)), 100'001);
  }
}

TEST(calls, an_array_yields_an_array_and_a_view_a_vector) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto twice = [](int x) -> task<std::unique_ptr<int>> {
      co_return std::make_unique<int>(2 * x);
    };
    std::array<task<std::unique_ptr<int>>, 3> three{twice(1), twice(2), twice(3)};
    const auto boxes = co_await fork_join(std::move(three));
    static_assert(std::is_same_v<decltype(boxes), const std::array<std::unique_ptr<int>, 3>>);
    EXPECT_EQ(*boxes[0] + *boxes[1] + *boxes[2], 12);

    const std::vector<std::unique_ptr<int>> doubled =
        co_await fork_join(std::views::iota(0, 50) | std::views::transform(twice));
    EXPECT_EQ(doubled.size(), 50U);
    for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(*doubled[i], static_cast<int>(2 * i));

    std::array<task<void>, 2> nothing{[]() -> task<void> { co_return; }(),
                                      []() -> task<void> { co_await tandem::yield(); }()};
    co_await fork_join(std::move(nothing));
  }());
}

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

// A tree whose nodes end in every way there is.
struct wild_tree {
  std::atomic<int> live{0};
  std::atomic<int> failures{0};

  task<int> node(int depth, unsigned random, counted) {
    const unsigned mine = random * 2654435761U;
    const unsigned what = (mine >> 16) % 64;
    if (what == 0) co_await tandem::yield();
    if (what == 1) co_await tandem::sleep_for(10us);
    if (what == 2) {
      ++failures;
      throw std::runtime_error("node");
    }
    if (depth == 0) co_return 1;
    const auto one = [&](unsigned i) { return node(depth - 1, mine + i, counted(live)); };
    if (what < 32) {
      auto [a, b, c] = co_await fork_join(one(1), one(2), one(3));
      co_return a + b + c;
    }
    std::vector<task<int>> children;
    for (unsigned i = 0; i < what % 7; ++i) children.push_back(one(i));
    int sum = 0;
    for (const int each : co_await fork_join(std::move(children))) sum += each;
    co_return sum;
  }
};

TEST(calls, failures_amid_wide_and_deep_forks_leave_nothing_behind) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    std::atomic<int> suppressed{0};
    tandem::runtime_options options = tandem::test::with_threads(threads);
    options.on_suppressed_exception = [&](const std::exception_ptr&) { ++suppressed; };
    test_runtime rt(options);
    int thrown = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
      wild_tree tree;
      const int before = suppressed.load();
      try {
        rt.run(tree.node(7, seed, counted(tree.live)));
      } catch (const std::runtime_error&) {
        ++thrown;
        EXPECT_GT(tree.failures.load(), suppressed.load() - before);
      }
      EXPECT_EQ(tree.live.load(), 0) << "seed " << seed;
    }
    EXPECT_GT(thrown, 0);
  }
}

TEST(calls, a_stop_amid_wide_and_deep_forks_leaves_nothing_behind) {
  for (const unsigned threads : {1U, 2U, 4U}) {
    tandem::runtime_options options = tandem::test::with_threads(threads);
    options.on_suppressed_exception = [](const std::exception_ptr&) {};
    test_runtime rt(options);
    for (unsigned seed = 0; seed < 60; ++seed) {
      wild_tree tree;
      rt.run([](wild_tree& all, unsigned random) -> task<void> {
        (void)co_await tandem::as_result(tandem::with_timeout(
            std::chrono::microseconds(random % 10 * 100), all.node(8, random, counted(all.live))));
        EXPECT_EQ(all.live.load(), 0);
      }(tree, seed));
    }
  }
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

// What could not be made counts as failed; what was made runs.
TEST(calls, fork_each_survives_a_maker_that_throws) {
  for (const unsigned threads : {1U, 2U}) {
    test_runtime rt(threads);
    for (const int at : {0, 5, 9}) {
      std::atomic<int> live{0};
      std::atomic<int> ran{0};
      rt.run([](int bad, std::atomic<int>& count, std::atomic<int>& done) -> task<void> {
        const auto child = [](counted, std::atomic<int>& n) -> task<void> {
          ++n;
          co_return;
        };
        try {
          co_await tandem::fork_each(10, [&](std::size_t i) {
            if (static_cast<int>(i) == bad) throw std::runtime_error("made no child");
            return child(counted(count), done);
          });
          ADD_FAILURE() << "nothing was thrown";
        } catch (const std::runtime_error&) {
          EXPECT_EQ(done.load(), 9 - bad);  // they are made from the last to the first
        }
      }(at, live, ran));
      EXPECT_EQ(live.load(), 0);
    }
  }
}

TEST(calls, fork_each_yields_results_in_order) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto box = [](std::size_t i) -> task<std::unique_ptr<std::size_t>> {
      if (i % 5 == 0) co_await tandem::yield();
      co_return std::make_unique<std::size_t>(i);
    };
    for (const std::size_t n : {0UL, 1UL, 2UL, 77UL}) {
      auto boxes = co_await tandem::fork_each(n, box);
      EXPECT_EQ(boxes.size(), n);
      for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(*boxes[i], i);
      std::size_t sum = 0;
      for (const auto& each : boxes) sum += *each;
      EXPECT_EQ(sum, n == 0 ? 0 : n * (n - 1) / 2);
    }
    const std::array<std::unique_ptr<std::size_t>, 4> four = co_await tandem::fork_each<4>(box);
    EXPECT_EQ(*four[3], 3U);
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

TEST(calls, more_children_than_memory_has_addresses_are_refused) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto child = [](std::size_t) -> task<int> { co_return 1; };
    EXPECT_THROW((void)co_await tandem::fork_each(static_cast<std::size_t>(-1), child),
                 std::bad_array_new_length);
  }());
}

TEST(calls_death, forking_an_empty_task_says_so) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        test_runtime rt(1);
        rt.run([]() -> task<void> {
          co_await tandem::fork_each(2, [](std::size_t) { return task<void>(); });
        }());
      },
      "an empty task");
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
