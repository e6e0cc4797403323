// strand_test.cpp: one segment at a time, in order, on whatever thread.
// SPDX-License-Identifier: MIT
#include <tandem/strand.hpp>

#include <tandem/fair_scheduler.hpp>
#include <tandem/parallel_for.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/single_thread_executor.hpp>
#include <tandem/when_all.hpp>

#include "runtime/executors/executor_support.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

using namespace std::chrono_literals;
using tandem::event;
using tandem::join_handle;
using tandem::runtime;
using tandem::strand;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::test::driven;
using tandem::test::exclusive;
using tandem::test::note;
using tandem::test::simulated;
using tandem::test::test_runtime;

task<void> many_steps(exclusive& state, int steps) {
  for (int i = 0; i < steps; ++i) {
    state.step();
    co_await tandem::yield();
  }
}

TEST(strand, segments_of_its_tasks_never_overlap) {
  test_runtime rt(4);
  exclusive state;
  {
    strand one(rt.workers());
    std::vector<join_handle<void>> all;
    for (int i = 0; i < 32; ++i) all.push_back(rt->spawn(one, many_steps(state, 200)));
    for (auto& each : all) each.wait();
  }
  EXPECT_FALSE(state.broken());
  EXPECT_EQ(state.steps(), 32 * 200);
}

TEST(strand, runs_tasks_in_the_order_in_which_they_were_spawned_whatever_thread_takes_them) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    runtime rt(simulated(seed, 4));
    strand one(rt.workers());
    std::string log;
    for (char letter = 'a'; letter <= 'z'; ++letter) rt.spawn(one, note(log, letter)).detach();
    rt.run_until_idle();
    ASSERT_EQ(log, "abcdefghijklmnopqrstuvwxyz") << "seed " << seed;
  }
}

TEST(strand, a_task_that_gives_way_goes_behind_all_that_wait_there) {
  runtime rt(simulated(7, 2));
  strand one(rt.workers());
  std::string log;
  for (const char letter : {'a', 'b', 'c'}) rt.spawn(one, note(log, letter, 3)).detach();
  rt.run_until_idle();
  EXPECT_EQ(log, "abcabcabc");
}

TEST(strand, a_batch_of_resumed_tasks_keeps_its_order) {
  runtime rt(simulated(3, 4));
  strand one(rt.workers());
  event go;
  std::string log;
  for (char letter = 'a'; letter <= 'h'; ++letter) {
    rt.spawn(one,
             [](event& e, std::string& letters, char own) -> task<void> {
               co_await e;
               letters += own;
             }(go, log, letter))
        .detach();
  }
  rt.run_until_idle();
  EXPECT_EQ(log, "");
  go.set();
  rt.run_until_idle();
  EXPECT_EQ(log, "abcdefgh");
}

TEST(strand, an_await_releases_it) {
  runtime rt(simulated(1, 1));
  strand one(rt.workers());
  event done;
  std::string log;
  rt.spawn(one,
           [](event& e, std::string& letters) -> task<void> {
             letters += "waits ";
             co_await e;
             letters += "goes on";
           }(done, log))
      .detach();
  rt.spawn(one,
           [](event& e, std::string& letters) -> task<void> {
             letters += "lets it ";
             e.set();
             co_return;
           }(done, log))
      .detach();
  rt.run_until_idle();
  EXPECT_EQ(log, "waits lets it goes on");
}

TEST(strand, gives_way_to_others_below_after_sixteen_segments) {
  runtime rt(driven());
  strand one(rt.workers());
  std::string log;
  rt.spawn([](strand target, std::string& letters) -> task<void> {
      for (int i = 0; i < 40; ++i) tandem::spawn(target, note(letters, 's')).detach();
      tandem::spawn(note(letters, 'o')).detach();
      co_return;
    }(one, log))
      .detach();
  rt.run_until_idle();
  std::string expected(41, 's');
  expected[16] = 'o';
  EXPECT_EQ(log, expected);
}

TEST(strand, a_post_allocates_nothing) {
  runtime rt(driven());
  strand one(rt.workers());
  struct counted : tandem::job {
    counted() : job([](tandem::job* self) noexcept { ++static_cast<counted*>(self)->runs; }) {}
    int runs = 0;
  };
  std::vector<counted> items(100);
  const auto post_all = [&] {
    for (counted& each : items) one.executor().post(&each, tandem::post_kind::spawn);
    rt.run_until_idle();
  };
  post_all();
  const long before = tandem::test::news();
  post_all();
  EXPECT_EQ(tandem::test::news() - before, 0);
  for (const counted& each : items) EXPECT_EQ(each.runs, 2);
}

TEST(strand, is_left_by_a_task_that_moves_to_the_pool_below) {
  test_runtime rt(1);
  rt.run([](tandem::worker_pool& pool) -> task<void> {
    strand one(pool);
    EXPECT_FALSE(one.is_current());
    co_await tandem::resume_on(one);
    EXPECT_TRUE(one.is_current());
    // The turn goes on meanwhile: going on inside it would keep the strand for the rest of the
    // segment.
    co_await tandem::resume_on(pool);
    EXPECT_FALSE(one.is_current());
    co_await tandem::resume_on(one);
    EXPECT_TRUE(one.is_current());
  }(rt.workers()));
}

TEST(strand, a_caller_goes_on_at_its_own_home_after_a_callee_that_moved) {
  test_runtime rt(2);
  rt.run([](tandem::worker_pool& pool) -> task<void> {
    strand one(pool);
    strand other(pool);
    co_await tandem::resume_on(one);
    co_await [](strand target, const strand& left) -> task<void> {
      co_await tandem::resume_on(target);
      EXPECT_TRUE(target.is_current());
      EXPECT_FALSE(left.is_current());
    }(other, one);
    EXPECT_TRUE(one.is_current());
    EXPECT_FALSE(other.is_current());
  }(rt.workers()));
}

TEST(strand, children_are_segments_of_it_too) {
  test_runtime rt(4);
  exclusive state;
  strand one(rt.workers());
  tandem::sync_wait(one, [](exclusive& s, const strand& home) -> task<void> {
    co_await tandem::fork_join(many_steps(s, 50), many_steps(s, 50), many_steps(s, 50));
    co_await tandem::when_all(many_steps(s, 50), many_steps(s, 50));
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (int i = 0; i < 4; ++i) scope.spawn(many_steps(s, 50));
      co_return;
    });
    EXPECT_TRUE(home.is_current());
  }(state, one));
  EXPECT_FALSE(state.broken());
  EXPECT_EQ(state.steps(), 9 * 50);
}

TEST(strand, a_parallel_loop_of_its_tasks_stays_on_it) {
  test_runtime rt(4);
  exclusive state;
  strand one(rt.workers());
  tandem::sync_wait(one, [](exclusive& s) -> task<void> {
    co_await tandem::parallel_for(0, 10'000, [&](int) { s.step(); });
  }(state));
  EXPECT_FALSE(state.broken());
  EXPECT_EQ(state.steps(), 10'000);
}

TEST(strand, timers_and_stops_resume_on_it) {
  runtime rt(simulated(5, 2));
  strand one(rt.workers());
  tandem::sync_wait(one, [](const strand& home) -> task<void> {
    co_await tandem::sleep_for(1h);
    EXPECT_TRUE(home.is_current());
    bool stopped = false;
    try {
      co_await tandem::with_timeout(1s, tandem::sleep_for(1h));
    } catch (const tandem::operation_cancelled&) {
      stopped = true;
    }
    EXPECT_TRUE(stopped);
    EXPECT_TRUE(home.is_current());
  }(one));
}

TEST(strand, over_a_strand_is_serialised_with_the_tasks_of_both) {
  test_runtime rt(4);
  exclusive state;
  {
    strand below(rt.workers(), "below");
    strand above(below.executor(), "above");
    EXPECT_FALSE(above == below);
    std::vector<join_handle<void>> all;
    for (int i = 0; i < 16; ++i) {
      all.push_back(rt->spawn(i % 2 == 0 ? below : above, many_steps(state, 100)));
    }
    for (auto& each : all) each.wait();
  }
  EXPECT_FALSE(state.broken());
  EXPECT_EQ(state.steps(), 16 * 100);
}

TEST(strand, over_a_thread_stays_on_that_thread) {
  test_runtime rt(2);
  tandem::single_thread_executor thread(*rt);
  strand one(thread);
  tandem::sync_wait(one, [](tandem::executor& below) -> task<void> {
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(below.is_current());
      co_await tandem::yield();
    }
  }(thread));
}

}  // namespace
