// condition_variable_test.cpp: no notification is lost, and the mutex is always held again.
// SPDX-License-Identifier: MIT
#include <tandem/condition_variable.hpp>

#include <algorithm>

#include "runtime/support/sync_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::condition_variable;
using tandem::mutex;
using tandem::task;
using tandem::test::settle;
using tandem::test::test_runtime;

/// Waits for the flag; notes r, or c if it was stopped, with the mutex held either way.
task<void> wait_for(condition_variable& changed, mutex& m, const bool& flag, std::string& log) {
  const auto guard = co_await m.scoped_lock();
  try {
    co_await changed.wait(m, [&flag] { return flag; });
    log += 'r';
  } catch (const tandem::operation_cancelled&) {
    log += 'c';
  }
  EXPECT_FALSE(m.try_lock());
}

struct shared {
  condition_variable changed;
  mutex m;
  bool flag = false;
  std::string log;
};

TEST(condition_variable, gives_the_mutex_up_while_it_waits_and_holds_it_when_it_returns) {
  test_runtime rt(1);
  shared s;
  rt.run([](shared& all) -> task<void> {
    auto a = tandem::spawn(wait_for(all.changed, all.m, all.flag, all.log));
    auto b = tandem::spawn(wait_for(all.changed, all.m, all.flag, all.log));
    co_await settle();
    {
      const auto guard = co_await all.m.scoped_lock();  // it is free
      all.changed.notify_all();
      co_await settle();
      EXPECT_EQ(all.log, "");  // they want the mutex
    }
    co_await settle();
    EXPECT_EQ(all.log, "");  // they have looked again, and wait
    all.flag = true;
    all.changed.notify_one();
    co_await a;
    EXPECT_FALSE(b.is_done());
    all.changed.notify_one();
    co_await b;
  }(s));
  EXPECT_EQ(s.log, "rr");
}

TEST(condition_variable, what_is_true_already_is_not_waited_for) {
  test_runtime rt(1);
  shared s;
  s.flag = true;
  rt.run(wait_for(s.changed, s.m, s.flag, s.log));
  EXPECT_EQ(s.log, "r");
  s.changed.notify_one();
  s.changed.notify_all();
}

TEST(condition_variable, a_stopped_wait_ends_with_the_mutex_held_once_it_is_free) {
  test_runtime rt(1);
  shared s;
  rt.run([](shared& all) -> task<void> {
    auto a = tandem::spawn(wait_for(all.changed, all.m, all.flag, all.log));
    co_await settle();
    {
      const auto guard = co_await all.m.scoped_lock();
      a.cancel();
      co_await settle();
      EXPECT_EQ(all.log, "");
    }
    co_await a;
    EXPECT_EQ(all.log, "c");
    EXPECT_TRUE(all.m.try_lock());
    all.m.unlock();
  }(s));
}

TEST(condition_variable, a_stopped_task_does_not_begin_to_wait_and_keeps_the_mutex) {
  test_runtime rt(1);
  shared s;
  rt.run([](shared& all) -> task<void> {
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      auto guard = co_await all.m.scoped_lock();
      scope.request_stop();
      EXPECT_TRUE((co_await tandem::as_result(all.changed.wait(all.m))).is_cancelled());
      EXPECT_FALSE(all.m.try_lock());
    });
  }(s));
}

TEST(condition_variable, a_notification_goes_past_one_that_was_stopped_to_the_next) {
  test_runtime rt(1);
  shared s;
  rt.run([](shared& all) -> task<void> {
    auto a = tandem::spawn(wait_for(all.changed, all.m, all.flag, all.log));
    auto b = tandem::spawn(wait_for(all.changed, all.m, all.flag, all.log));
    co_await settle();
    a.cancel();
    all.flag = true;
    all.changed.notify_one();
    co_await a;
    co_await b;
    std::sort(all.log.begin(), all.log.end());
  }(s));
  EXPECT_EQ(s.log, "cr");
}

TEST(condition_variable, one_that_was_notified_before_the_stop_returns) {
  test_runtime rt(1);
  shared s;
  rt.run([](shared& all) -> task<void> {
    auto a = tandem::spawn([](shared& of) -> task<void> {
      const auto guard = co_await of.m.scoped_lock();
      co_await of.changed.wait(of.m);
      of.log += 'r';
    }(all));
    co_await settle();
    all.changed.notify_one();
    a.cancel();
    co_await a;
  }(s));
  EXPECT_EQ(s.log, "r");
}

TEST(condition_variable, a_time_limit_ends_the_wait_with_the_mutex_held) {
  tandem::runtime_options options = tandem::test::with_threads(0);
  options.clock = tandem::virtual_time(1, 1);
  test_runtime rt(std::move(options));
  shared s;
  rt.run([](shared& all) -> task<void> {
    const auto guard = co_await all.m.scoped_lock();
    const auto got = co_await tandem::as_result(tandem::with_timeout(1ms, all.changed.wait(all.m)));
    EXPECT_TRUE(got.is_cancelled());
    EXPECT_FALSE(all.m.try_lock());
  }(s));
}

TEST(condition_variable, what_the_predicate_throws_comes_out_with_the_mutex_held) {
  test_runtime rt(1);
  shared s;
  rt.run([](shared& all) -> task<void> {
    const auto guard = co_await all.m.scoped_lock();
    const auto got = co_await tandem::as_result(
        all.changed.wait(all.m, []() -> bool { throw std::runtime_error("no"); }));
    EXPECT_FALSE(got.has_value() || got.is_cancelled());
    EXPECT_FALSE(all.m.try_lock());
  }(s));
}

TEST(condition_variable, a_queue_between_threads_loses_nothing) {
  test_runtime rt(4);
  struct state {
    condition_variable filled;
    condition_variable emptied;
    mutex m;
    int items = 0;
    long taken = 0;
  } s;
  rt.run([](state& all) -> task<void> {
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      for (int i = 0; i < 3; ++i) {
        scope.spawn([](state& of) -> task<void> {
          for (int k = 0; k < 1000; ++k) {
            const auto guard = co_await of.m.scoped_lock();
            co_await of.emptied.wait(of.m, [&of] { return of.items < 2; });
            ++of.items;
            of.filled.notify_one();
          }
        }(all));
        scope.spawn([](state& of) -> task<void> {
          for (int k = 0; k < 1000; ++k) {
            const auto guard = co_await of.m.scoped_lock();
            co_await of.filled.wait(of.m, [&of] { return of.items > 0; });
            --of.items;
            ++of.taken;
            of.emptied.notify_one();
          }
        }(all));
      }
      co_return;
    });
  }(s));
  EXPECT_EQ(s.taken, 3000);
}

}  // namespace
