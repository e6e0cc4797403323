// shared_task_test.cpp: work runs once for all that hold it, and is stopped with the last of them.
// SPDX-License-Identifier: MIT
#include <tandem/shared_task.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/detail/stream_pumps.hpp>
#include <tandem/event.hpp>
#include <tandem/select.hpp>
#include <tandem/single_thread_executor.hpp>
#include <tandem/sleep.hpp>
#include <tandem/stopped.hpp>
#include <tandem/strand.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "recording_runtime.hpp"
#include "virtual_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::operation_cancelled;
using tandem::shared_task;
using tandem::stop_reason;
using tandem::task;
using tandem::test::on_virtual_clock;
using tandem::test::recording_runtime;
using tandem::test::test_runtime;

/// What became of one piece of work.
struct progress {
  int begun = 0;
  int ended = 0;
  stop_reason stopped = stop_reason::none;
};

task<std::string> slow(progress& p, std::chrono::microseconds takes = 5ms) {
  ++p.begun;
  const auto slept = co_await tandem::as_result(tandem::sleep_for(takes));
  ++p.ended;
  p.stopped = slept.reason().value_or(stop_reason::none);
  if (!slept) throw operation_cancelled(p.stopped);
  co_return "a value that is on the heap, surely";
}
task<int> fails(std::string text) {
  co_await tandem::yield();
  throw std::runtime_error(text);
}

TEST(shared_task, runs_once_and_all_get_the_same_value) {
  test_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    progress p;
    const shared_task<std::string> shared(slow(p));
    EXPECT_EQ(p.begun, 0);
    const auto ask = [&shared]() -> task<const std::string*> { co_return &co_await shared; };
    auto [a, b, c] = co_await tandem::when_all(ask(), ask(), ask());
    EXPECT_EQ(a, b);
    EXPECT_EQ(b, c);
    EXPECT_EQ(*a, "a value that is on the heap, surely");
    EXPECT_TRUE(shared.is_done());
    const shared_task<std::string> copy = shared;
    EXPECT_EQ(&co_await copy, a);
    const std::string value = co_await shared_task<std::string>(copy);
    EXPECT_EQ(value, *a);
    EXPECT_EQ(p.begun, 1);
  }());
}

TEST(shared_task, yields_references_and_nothing) {
  test_runtime rt;
  int target = 0;
  rt.run([](int& t) -> task<void> {
    const auto refer = [](int& r) -> task<int&> { co_return r; };
    const shared_task<int&> shared(refer(t));
    EXPECT_EQ(&co_await shared, &t);
    EXPECT_EQ(&co_await shared_task<int&>(shared), &t);
    const auto nothing = [](int& r) -> task<void> {
      ++r;
      co_return;
    };
    const shared_task<> once(nothing(t));
    co_await once;
    co_await once;
    co_await shared_task<>(once);
    EXPECT_EQ(t, 1);
    const auto own = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(7); };
    const shared_task<std::unique_ptr<int>> unique(own());
    EXPECT_EQ(*co_await unique, 7);
  }(target));
}

TEST(shared_task, a_wait_that_is_stopped_does_the_others_no_harm) {
  test_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    progress p;
    const shared_task<std::string> shared(slow(p));
    const auto ask = [&shared]() -> task<bool> { co_return !(co_await shared).empty(); };
    const auto give_up = [&]() -> task<bool> {
      const auto got = co_await tandem::as_result(tandem::with_timeout(1ms, ask()));
      co_return got.is_cancelled();
    };
    auto [stays, leaves] = co_await tandem::when_all(ask(), give_up());
    EXPECT_TRUE(stays && leaves);
    EXPECT_EQ(p.stopped, stop_reason::none);
  }());
}

TEST(shared_task, the_last_wait_that_goes_stops_the_work_if_no_copy_is_left) {
  test_runtime rt(on_virtual_clock());
  progress p;
  rt.run([](progress& at) -> task<void> {
    const auto ask = [](shared_task<std::string> held) -> task<void> { (void)co_await held; };
    shared_task<std::string> shared(slow(at));
    auto one = ask(shared);
    auto both = tandem::when_all(std::move(one), ask(std::move(shared)));
    EXPECT_THROW(co_await tandem::with_timeout(1ms, std::move(both)), operation_cancelled);
  }(p));
  EXPECT_TRUE(rt->drain(60s));
  EXPECT_EQ(p.ended, 1);
  EXPECT_EQ(p.stopped, stop_reason::parent);
}

TEST(shared_task, a_copy_keeps_the_work_going_without_a_wait) {
  test_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    progress p;
    const shared_task<std::string> shared(slow(p));
    const auto ask = [&shared]() -> task<void> { (void)co_await shared; };
    EXPECT_THROW(co_await tandem::with_timeout(1ms, ask()), operation_cancelled);
    EXPECT_FALSE(shared.is_done());
    EXPECT_FALSE((co_await shared).empty());
    EXPECT_EQ(p.begun, 1);
  }());
}

TEST(shared_task, may_begin_before_anybody_waits_and_a_stopped_task_begins_nothing) {
  test_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    progress p;
    const shared_task<std::string> shared(slow(p, 0us));
    const auto too_late = [&shared]() -> task<void> {
      (void)co_await tandem::as_result(tandem::sleep_for(1h));
      (void)co_await shared;
    };
    EXPECT_THROW(co_await tandem::with_timeout(1ms, too_late()), operation_cancelled);
    co_await tandem::sleep_for(1ms);
    EXPECT_EQ(p.begun, 0);
    shared.start();
    co_await tandem::sleep_for(1ms);
    EXPECT_TRUE(shared.is_done());
    { const shared_task<std::string> never(slow(p)); }
    EXPECT_EQ(p.begun, 1);
  }());
}

TEST(shared_task, each_wait_gets_the_failure_and_one_that_nobody_got_is_reported) {
  recording_runtime rt(1);
  rt.run([]() -> task<void> {
    const shared_task<int> shared(fails("for both"));
    const auto ask = [&shared]() -> task<bool> {
      try {
        (void)co_await shared;
        co_return false;
      } catch (const std::runtime_error&) {
        co_return true;
      }
    };
    auto [a, b] = co_await tandem::when_all(ask(), ask());
    EXPECT_TRUE(a && b);
    shared_task<int> unheard(fails("nobody listens"));
    unheard.start();
    while (!unheard.is_done()) co_await tandem::yield();
    unheard = shared_task<int>();
    co_await tandem::yield();
  }());
  while (rt.suppressed().empty()) std::this_thread::yield();  // the work's own frame may go last
  EXPECT_EQ(rt.suppressed(), (std::vector<std::string>{"nobody listens"}));
}

TEST(shared_task, what_cannot_begin_fails_for_all) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    progress p;
    tandem::single_thread_executor closed(*tandem::current_environment()->runtime());
    const shared_task<std::string> shared(slow(p));
    closed.close();
    shared.start(closed);
    EXPECT_THROW((void)co_await shared, tandem::executor_closed);
    EXPECT_THROW((void)co_await shared, tandem::executor_closed);
    EXPECT_EQ(p.begun, 0);
  }());
}

TEST(shared_task, is_a_branch_of_a_select_that_loses_nothing) {
  test_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    progress p;
    const shared_task<std::string> shared(slow(p));
    auto first = co_await tandem::select(shared, tandem::sleep_for(1ms));
    EXPECT_EQ(first.index(), 1U);
    auto second = co_await tandem::select(tandem::sleep_for(1h), shared);
    EXPECT_EQ(second.index(), 1U);
    auto third = co_await tandem::select(shared, tandem::stopped());
    EXPECT_EQ(third.index(), 0U);
    EXPECT_EQ(p.begun, 1);
  }());
}

TEST(shared_task, begins_at_the_home_of_whoever_awaits_it_first) {
  test_runtime rt;
  tandem::strand alone(rt.workers());
  tandem::sync_wait(alone, []() -> task<void> {
    const auto where = []() -> task<tandem::executor*> {
      co_return &co_await tandem::detail::current_home();
    };
    const shared_task<tandem::executor*> shared(where());
    EXPECT_EQ(co_await shared, &co_await tandem::detail::current_home());
  }());
}

}  // namespace
