// deadlock_test.cpp: tasks that wait for each other, or for nobody, are told of; others are not.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <future>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include <tandem/tandem.hpp>

#include "support/test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::deadlock_kind;
using tandem::deadlock_report;
using tandem::task;
using tandem::test::test_runtime;

/// Hears of reports.
class reports {
 public:
  void add(const deadlock_report& report) {
    const std::lock_guard hold(lock_);
    all_.push_back(report);
    came_.notify_all();
  }
  /// Waits for the first; the watchdog sees one that never comes.
  deadlock_report first() {
    std::unique_lock hold(lock_);
    came_.wait(hold, [this] { return !all_.empty(); });
    return all_.front();
  }
  std::size_t count() {
    const std::lock_guard hold(lock_);
    return all_.size();
  }

 private:
  std::mutex lock_;
  std::condition_variable came_;
  std::vector<deadlock_report> all_;
};

tandem::runtime_options watched(reports& by) {
  tandem::runtime_options options = tandem::test::with_threads(2);
  options.log_deadlock = false;
  options.deadlock_after = 10ms;
  options.on_deadlock = [&by](const deadlock_report& report) { by.add(report); };
  return options;
}

task<void> wait_for(tandem::event& what) { co_await what.wait(); }

/// Takes its own, tells, waits until the other has its own, too, and wants that.
task<void> cross(tandem::mutex& own, tandem::mutex& others, tandem::latch& both) {
  const tandem::mutex_guard first = co_await own.scoped_lock();
  both.count_down();
  co_await both.wait();
  const tandem::mutex_guard second = co_await others.scoped_lock();
}

TEST(deadlock, tasks_that_wait_for_an_event_and_nothing_else_is_out_are_a_standstill_told_once) {
  reports told;
  test_runtime rt(watched(told));
  tandem::event never;
  auto first = rt->spawn(wait_for(never));
  auto second = rt->spawn(wait_for(never));
  const deadlock_report report = told.first();
  EXPECT_EQ(report.kind, deadlock_kind::standstill);
  EXPECT_EQ(report.tasks.size(), 1U + (report.tasks.size() == 2 ? 1U : 0U));  // alike ones are one
  EXPECT_NE(report.text.find("waits for an event"), std::string::npos) << report.text;
  EXPECT_NE(report.text.find("only a thread outside"), std::string::npos) << report.text;
#if TANDEM_TEST_HAS_NAMES
  EXPECT_NE(report.text.find(", in wait_for("), std::string::npos) << report.text;
#endif
  never.set();
  first.wait();
  second.wait();
  EXPECT_EQ(told.count(), 1U);
}

TEST(deadlock, a_pool_that_finds_its_size_is_found_to_stand_still_though_it_has_timers_of_its_own) {
  reports told;
  tandem::runtime_options options = watched(told);
  options.max_threads = 16;
  test_runtime rt(options);
  tandem::event never;
  auto waiting = rt->spawn(wait_for(never));
  EXPECT_EQ(told.first().kind, deadlock_kind::standstill);
  never.set();
  waiting.wait();
}

TEST(deadlock, a_span_longer_than_clocks_can_tell_is_waited_for) {
  reports told;
  tandem::runtime_options options = watched(told);
  options.deadlock_after = std::chrono::milliseconds::max();
  options.look_every = std::chrono::milliseconds::max();
  test_runtime rt(options);
  tandem::event never;
  auto waits = rt->spawn(wait_for(never));
  std::this_thread::sleep_for(100ms);
  EXPECT_EQ(told.count(), 0U);
  never.set();
  waits.wait();
}

TEST(deadlock, a_circle_of_locks_is_found_while_others_run) {
  reports told;
  tandem::runtime_options options = watched(told);
  options.look_every = 5ms;
  test_runtime rt(options);
  tandem::mutex a;
  tandem::mutex b;
  tandem::latch both(2);
  std::atomic<bool> over{false};
  const auto pulse = [](std::atomic<bool>& end) -> task<void> {
    while (!end.load()) co_await tandem::sleep_for(1ms);
  };
  auto goes_on = rt->spawn(pulse(over));
  auto first = rt->spawn(cross(a, b, both));
  auto second = rt->spawn(cross(b, a, both));
  const deadlock_report report = told.first();
  EXPECT_EQ(report.kind, deadlock_kind::circle);
  EXPECT_EQ(report.tasks.size(), 2U);
  EXPECT_NE(report.text.find("2 tasks wait for each other in a circle"), std::string::npos);
  first.cancel();
  second.cancel();
  EXPECT_THROW(first.wait(), tandem::operation_cancelled);
  try {
    second.wait();  // may have got its second lock before its stop
  } catch (const tandem::operation_cancelled&) {}
  over = true;
  goes_on.wait();
}

TEST(deadlock, a_circle_that_a_time_limit_ends_is_none) {
  test_runtime rt(0U);
  tandem::mutex a;
  tandem::mutex b;
  tandem::latch both(2);
  const auto limited = [](task<void> body) -> task<void> {
    (void)co_await tandem::as_result(tandem::with_timeout(1h, std::move(body)));
  };
  auto first = rt->spawn(limited(cross(a, b, both)));
  auto second = rt->spawn(limited(cross(b, a, both)));
  (*rt).run_until_idle();
  std::string all;
  for (const std::string& each : (*rt).diagnose(0ms)) all += each;
  EXPECT_EQ(all.find("circle"), std::string::npos) << all;
  first.cancel();
  second.cancel();
  (*rt).run_until_idle();
}

TEST(deadlock, a_task_that_joins_its_own_child_that_waits_for_it_is_a_circle) {
  test_runtime rt(0U);
  tandem::mutex lock;
  const auto parent = [](tandem::mutex& m) -> task<void> {
    const tandem::mutex_guard guard = co_await m.scoped_lock();
    const auto wants = [](tandem::mutex& other) -> task<void> {
      const tandem::mutex_guard never = co_await other.scoped_lock();
    };
    const auto body = [&](tandem::task_scope& scope) -> task<void> {
      scope.spawn(wants(m));
      co_return;
    };
    co_await tandem::with_scope(body);
  };
  auto waiting = rt->spawn(parent(lock));
  (*rt).run_until_idle();
  std::string all;
  for (const std::string& each : (*rt).diagnose(0ms)) all += each;
  EXPECT_NE(all.find("2 tasks wait for each other in a circle"), std::string::npos) << all;
  waiting.cancel();
  (*rt).run_until_idle();
}

std::string all_advice(const tandem::runtime& of) {
  std::string all;
  (void)of.diagnose(0ms);  // a circle is told of by a look that has seen its waits before
  for (const std::string& each : of.diagnose(0ms)) all += each + "\n";
  return all;
}

task<void> hold_until(tandem::mutex& lock, tandem::event& over) {
  const tandem::mutex_guard guard = co_await lock.scoped_lock();
  co_await over.wait();
}

task<void> want(tandem::mutex& lock) {
  const tandem::mutex_guard guard = co_await lock.scoped_lock();
}

TEST(deadlock, a_lock_between_parts_of_one_task_is_none) {
  test_runtime rt(0U);
  tandem::mutex lock;
  tandem::event over;
  const auto parts = [](tandem::mutex& m, tandem::event& e) -> task<void> {
    co_await tandem::when_all(hold_until(m, e), want(m));
  };
  const auto forks = [](tandem::mutex& m, tandem::event& e) -> task<void> {
    co_await tandem::fork_join(hold_until(m, e), want(m));
  };
  for (int way = 0; way < 2; ++way) {
    over.reset();
    auto both = rt->spawn(way == 0 ? parts(lock, over) : forks(lock, over));
    (*rt).run_until_idle();
    const std::string all = all_advice(*rt);
    EXPECT_EQ(all.find("can never go on"), std::string::npos) << all;
    EXPECT_EQ(all.find("in a circle"), std::string::npos) << all;
    over.set();
    (*rt).run_until_idle();
    EXPECT_TRUE(both.is_done());
  }
}

TEST(deadlock, a_child_of_a_scope_that_wants_what_a_part_beside_the_scope_holds_is_none) {
  test_runtime rt(0U);
  tandem::mutex lock;
  tandem::event over;
  const auto with_children = [](tandem::mutex& m) -> task<void> {
    const auto body = [&m](tandem::task_scope& scope) -> task<void> {
      scope.spawn(want(m));
      co_return;
    };
    co_await tandem::with_scope(body);
  };
  const auto all_of_it = [&]() -> task<void> {
    co_await tandem::when_all(hold_until(lock, over), with_children(lock));
  };
  auto whole = rt->spawn(all_of_it());
  (*rt).run_until_idle();
  const std::string all = all_advice(*rt);
  EXPECT_EQ(all.find("in a circle"), std::string::npos) << all;
  over.set();
  (*rt).run_until_idle();
  EXPECT_TRUE(whole.is_done());
}

TEST(deadlock, a_circle_whose_every_part_is_stuck_is_told_of_once) {
  test_runtime rt(0U);
  tandem::mutex lock;
  const auto twice = [](tandem::mutex& m) -> task<void> {
    const tandem::mutex_guard first = co_await m.scoped_lock();
    co_await tandem::when_all(want(m), want(m));
  };
  auto stuck = rt->spawn(twice(lock));
  (*rt).run_until_idle();
  const std::string all = all_advice(*rt);
  const std::size_t at = all.find("a task waits for itself, and can never go on");
  EXPECT_NE(at, std::string::npos) << all;
  EXPECT_EQ(all.find("can never go on", at + 60), std::string::npos) << all;
  stuck.cancel();
  (*rt).run_until_idle();
}

TEST(deadlock, a_circle_through_a_scope_below_a_time_limit_is_none) {
  test_runtime rt(0U);
  tandem::mutex lock;
  const auto parent = [](tandem::mutex& m) -> task<void> {
    const tandem::mutex_guard guard = co_await m.scoped_lock();
    const auto body = [&m](tandem::task_scope& scope) -> task<void> {
      scope.spawn(want(m));
      co_return;
    };
    (void)co_await tandem::as_result(tandem::with_timeout(1h, tandem::with_scope(body)));
  };
  auto waiting = rt->spawn(parent(lock));
  (*rt).run_until_idle();
  const std::string all = all_advice(*rt);
  EXPECT_EQ(all.find("in a circle"), std::string::npos) << all;
  waiting.cancel();
  (*rt).run_until_idle();
}

TEST(deadlock, a_task_that_time_or_another_runtime_lets_go_on_is_no_standstill) {
  reports told;
  tandem::runtime_options options;  // it sizes itself, with timers of its own
  options.log_deadlock = false;
  options.deadlock_after = 10ms;
  options.on_deadlock = [&told](const deadlock_report& report) { told.add(report); };
  test_runtime rt(options);
  test_runtime other(1U);
  tandem::event never;
  const auto limited = [](tandem::event& e) -> task<void> {
    (void)co_await tandem::as_result(tandem::with_timeout(1500ms, wait_for(e)));
  };
  const auto sleeps = []() -> task<void> { co_await tandem::sleep_for(1500ms); };
  const auto joins = [](tandem::join_handle<> of) -> task<void> { co_await std::move(of); };
  auto first = rt->spawn(limited(never));
  first.wait();
  auto second = rt->spawn(joins(other->spawn(sleeps())));
  second.wait();
  EXPECT_EQ(told.count(), 0U);
}

TEST(deadlock, a_plain_job_that_runs_may_let_a_task_go_on) {
  struct slow_job : tandem::job {
    explicit slow_job(tandem::event& what) : job(&slow_job::work), sets(what) {}
    static void work(tandem::job* self) noexcept {
      std::this_thread::sleep_for(1500ms);
      static_cast<slow_job*>(self)->sets.set();
    }
    tandem::event& sets;
  };
  reports told;
  test_runtime rt(watched(told));
  tandem::single_thread_executor own(*rt, "own");
  tandem::event ready;
  slow_job job(ready);
  own.post(&job, tandem::post_kind::spawn);
  rt->spawn(wait_for(ready)).wait();
  EXPECT_EQ(told.count(), 0U);
  own.join();
}

TEST(deadlock, where_time_is_virtual_the_exception_says_what_the_tasks_wait_for) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(1);
  tandem::runtime rt(options);
  tandem::event never;
  tandem::join_handle<> waiting = rt.spawn(wait_for(never));
  try {
    waiting.wait();
    ADD_FAILURE() << "it has ended";
  } catch (const tandem::stalled& failure) {
    EXPECT_NE(std::string(failure.what()).find("waits for an event"), std::string::npos)
        << failure.what();
  }
  never.set();
  rt.run_until_idle();
}

TEST(deadlock, whoever_waits_for_time_or_a_call_is_none) {
  reports told;
  test_runtime rt(watched(told));
  std::promise<void> inside;
  std::promise<void> over;
  const auto calls = [](std::promise<void>& there, std::promise<void>& end) -> task<void> {
    co_await tandem::blocking([&] {
      there.set_value();
      end.get_future().wait();
    });
  };
  const auto sleeps = []() -> task<void> { co_await tandem::sleep_for(1h); };
  auto call = rt->spawn(calls(inside, over));
  inside.get_future().wait();
  auto sleep = rt->spawn(sleeps());
  // As after the half second of a worker that lies down.
  rt->diagnose(0ms);
  EXPECT_EQ(told.count(), 0U);
  over.set_value();
  call.wait();
  sleep.cancel();
}

}  // namespace
