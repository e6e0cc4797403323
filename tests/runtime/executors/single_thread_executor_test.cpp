// single_thread_executor_test.cpp: confinement to one thread, and the end of that thread.
// SPDX-License-Identifier: MIT
#include <tandem/single_thread_executor.hpp>


#include <memory>
#include <tandem/clock.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/strand.hpp>
#include <tandem/sync_wait.hpp>
#include <thread>

#include "runtime/executors/executor_support.hpp"
#include "system.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

using namespace std::chrono_literals;
using tandem::event;
using tandem::join_handle;
using tandem::runtime;
using tandem::single_thread_executor;
using tandem::task;
using tandem::test::driven;
using tandem::test::exclusive;
using tandem::test::note;
using tandem::test::simulated;
using tandem::test::test_runtime;

task<std::thread::id> current_thread() { co_return std::this_thread::get_id(); }

TEST(single_thread_executor, all_segments_run_on_one_thread_which_is_nobody_elses) {
  test_runtime rt(4);
  single_thread_executor own(*rt);
  const std::thread::id thread = tandem::sync_wait(own, current_thread());
  EXPECT_NE(thread, std::this_thread::get_id());
  exclusive state;
  std::vector<join_handle<void>> all;
  for (int i = 0; i < 16; ++i) {
    all.push_back(rt->spawn(own, [](exclusive& s, std::thread::id expected) -> task<void> {
      for (int k = 0; k < 100; ++k) {
        s.step();
        EXPECT_EQ(std::this_thread::get_id(), expected);
        if (k % 10 == 0) {
          co_await tandem::sleep_for(1us);
        } else {
          co_await tandem::yield();
        }
      }
    }(state, thread)));
  }
  for (auto& each : all) each.wait();
  EXPECT_FALSE(state.broken());
  EXPECT_EQ(state.steps(), 1600);
}

TEST(single_thread_executor, runs_what_is_posted_in_order) {
  test_runtime rt(2);
  std::string log;
  {
    single_thread_executor own(*rt);
    for (char letter = 'a'; letter <= 'z'; ++letter) rt->spawn(own, note(log, letter)).detach();
  }
  EXPECT_EQ(log, "abcdefghijklmnopqrstuvwxyz");
}

TEST(single_thread_executor, its_thread_bears_its_name) {
  test_runtime rt(1);
  single_thread_executor own(*rt, "database");
  EXPECT_EQ(own.name(), "database");
  tandem::sync_wait(own, []() -> task<void> {
    EXPECT_EQ(tandem::test::name_of_this_thread(), "database");
    co_return;
  }());
}

TEST(single_thread_executor, tasks_come_and_go_by_resume_on) {
  test_runtime rt(2);
  single_thread_executor own(*rt);
  const std::thread::id thread = tandem::sync_wait(own, current_thread());
  rt.run([](single_thread_executor& home, tandem::worker_pool& pool,
            std::thread::id expected) -> task<void> {
    for (int i = 0; i < 100; ++i) {
      co_await tandem::resume_on(home);
      EXPECT_EQ(std::this_thread::get_id(), expected);
      EXPECT_TRUE(home.is_current());
      EXPECT_FALSE(pool.is_current());
      co_await tandem::resume_on(pool);
      EXPECT_NE(std::this_thread::get_id(), expected);
      EXPECT_TRUE(pool.is_current());
    }
  }(own, rt.workers(), thread));
}

TEST(single_thread_executor, forked_children_stay_on_it) {
  test_runtime rt(4);
  single_thread_executor own(*rt);
  tandem::sync_wait(own, [](single_thread_executor& home) -> task<void> {
    const auto child = [](single_thread_executor& here) -> task<void> {
      EXPECT_TRUE(here.is_current());
      co_await tandem::yield();
      EXPECT_TRUE(here.is_current());
    };
    co_await tandem::fork_join(child(home), child(home), child(home));
    EXPECT_TRUE(home.is_current());
  }(own));
}

TEST(single_thread_executor, blocking_there_for_a_task_is_refused) {
  test_runtime rt(2);
  single_thread_executor own(*rt);
  tandem::sync_wait(own, [](single_thread_executor& home) -> task<void> {
    EXPECT_THROW((void)tandem::sync_wait(home, current_thread()), tandem::would_deadlock);
    co_return;
  }(own));
}

TEST(single_thread_executor, its_end_waits_for_the_tasks_that_were_spawned_there) {
  test_runtime rt(2);
  event go;
  event waits;
  bool ended = false;
  auto own = std::make_unique<single_thread_executor>(*rt);
  rt->spawn(*own,
            [](event& begun, event& e, bool& done) -> task<void> {
              begun.set();
              co_await e;
              co_await tandem::yield();
              done = true;
            }(waits, go, ended))
      .detach();
  rt.run([](event& e) -> task<void> { co_await e; }(waits));
  own->close();
  rt->spawn([](event& e) -> task<void> {
      e.set();
      co_return;
    }(go))
      .detach();
  own.reset();
  EXPECT_TRUE(ended);
}

TEST(single_thread_executor, once_closed_refuses_tasks_and_says_which_it_is) {
  test_runtime rt(2);
  single_thread_executor own(*rt, "printer");
  own.close();
  own.close();
  std::string log;
  try {
    (void)rt->spawn(own, note(log, 'x'));
    FAIL() << "nothing was thrown";
  } catch (const tandem::executor_closed& refused) {
    EXPECT_NE(std::string(refused.what()).find("printer"), std::string::npos) << refused.what();
  }
  rt.run([](single_thread_executor& home, std::string& letters) -> task<void> {
    EXPECT_THROW(tandem::spawn(home, note(letters, 'x')).detach(), tandem::executor_closed);
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      EXPECT_THROW(scope.spawn(home, note(letters, 'x')), tandem::executor_closed);
      co_return;
    });
  }(own, log));
  own.join();
  own.join();
  EXPECT_EQ(log, "");
}

TEST(single_thread_executor, its_end_waits_for_the_strands_over_it) {
  test_runtime rt(2);
  std::string log;
  {
    single_thread_executor own(*rt);
    const tandem::strand over(own);
    rt->spawn(over, note(log, 's', 20)).detach();
  }
  EXPECT_EQ(log, std::string(20, 's'));
}

TEST(single_thread_executor, may_end_on_a_worker_once_its_tasks_were_awaited) {
  test_runtime rt(1);
  rt.run([](runtime& owner) -> task<void> {
    single_thread_executor own(owner);
    co_await tandem::spawn(own, []() -> task<void> { co_await tandem::yield(); }());
  }(*rt));
}

TEST(single_thread_executor, a_runtime_without_threads_is_run_while_it_ends) {
  runtime rt(driven());
  event go;
  bool ended = false;
  {
    single_thread_executor own(rt);
    rt.spawn(own,
             [](event& e, bool& done) -> task<void> {
               co_await e;
               done = true;
             }(go, ended))
        .detach();
    rt.spawn([](event& e) -> task<void> {
        e.set();
        co_return;
      }(go))
        .detach();
  }
  EXPECT_TRUE(ended);
}

TEST(single_thread_executor, keeps_a_virtual_clock_from_moving_while_it_runs_something) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    runtime rt(simulated(seed, 2));
    single_thread_executor own(rt);
    const auto took = tandem::sync_wait(own, []() -> task<std::chrono::nanoseconds> {
      const auto before = tandem::now();
      for (int i = 0; i < 20; ++i) co_await tandem::yield();
      co_await tandem::sleep_for(5s);
      for (int i = 0; i < 20; ++i) co_await tandem::yield();
      co_return tandem::now() - before;
    }());
    ASSERT_EQ(took, 5s) << "seed " << seed;
  }
}

TEST(single_thread_executor_death, a_job_posted_after_its_end_says_what_has_outlived_what) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        test_runtime rt(1);
        single_thread_executor own(*rt, "gone");
        own.join();
        tandem::job late([](tandem::job*) noexcept {});
        own.post(&late);
      },
      "posted to executor gone after its end");
}

TEST(single_thread_executor_death, its_destruction_by_its_own_task_says_so) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        test_runtime rt(1);
        auto own = std::make_unique<single_thread_executor>(*rt);
        tandem::sync_wait(*own, [](std::unique_ptr<single_thread_executor>& home) -> task<void> {
          home.reset();
          co_return;
        }(own));
      },
      "by a task that runs on it");
}

}  // namespace
