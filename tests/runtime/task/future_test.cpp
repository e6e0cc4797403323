// future_test.cpp: the laws of the bridge to std::future.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <tandem/event.hpp>
#include <tandem/fork_each.hpp>
#include <tandem/future.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "spin_for.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::blocking_pool;
using tandem::from_future;
using tandem::task;
using tandem::test::spin_for;
using tandem::test::test_runtime;

void await_running(tandem::runtime& rt, unsigned count) {
  while (true) {
    const tandem::blocking_stats stats = rt.use_service<blocking_pool>().stats();
    if (stats.threads - stats.idle == count && stats.queued == 0) return;
    std::this_thread::yield();
  }
}

TEST(future, one_that_is_ready_is_taken_without_a_thread) {
  test_runtime rt;
  std::promise<std::unique_ptr<int>> promise;
  promise.set_value(std::make_unique<int>(5));
  const auto check = [](std::future<std::unique_ptr<int>> awaited) -> task<int> {
    const std::unique_ptr<int> got = co_await from_future(std::move(awaited));
    co_return *got;
  };
  EXPECT_EQ(rt.run(check(promise.get_future())), 5);
  EXPECT_EQ(rt->find_service<blocking_pool>(), nullptr);
}

TEST(future, a_long_row_of_ready_ones_gives_way_to_others) {
  test_runtime rt(1);
  bool other_ran = false;
  const auto check = [&other_ran]() -> task<void> {
    tandem::spawn([](bool& ran) -> task<void> {
      ran = true;
      co_return;
    }(other_ran))
        .detach();
    std::promise<void> promise;
    promise.set_value();
    const std::shared_future<void> ready = promise.get_future();
    for (int i = 0; i < 1000; ++i) co_await from_future(ready);
    EXPECT_TRUE(other_ran);
  };
  rt.run(check());
}

TEST(future, one_that_is_not_ready_is_waited_for_elsewhere) {
  test_runtime rt(1);
  std::promise<int> promise;
  auto handle = rt->spawn([](std::future<int> awaited) -> task<int> {
    co_return co_await from_future(std::move(awaited));
  }(promise.get_future()));
  await_running(*rt, 1);
  const auto seven = []() -> task<int> { co_return 7; };
  EXPECT_EQ(rt.run(seven()), 7) << "the only worker is free meanwhile";
  promise.set_value(6);
  EXPECT_EQ(handle.wait(), 6);
}

TEST(future, failures_come_through_broken_promises_and_empty_futures_among_them) {
  test_runtime rt;
  const auto take = [](std::future<int> awaited) -> task<int> {
    co_return co_await from_future(std::move(awaited));
  };
  std::promise<int> failed;
  failed.set_exception(std::make_exception_ptr(std::runtime_error("theirs")));
  EXPECT_THROW(rt.run(take(failed.get_future())), std::runtime_error);
  std::future<int> orphan = std::promise<int>().get_future();
  EXPECT_THROW(rt.run(take(std::move(orphan))), std::future_error);
  EXPECT_THROW(rt.run(take(std::future<int>())), std::future_error);
}

TEST(future, references_nothing_shared_and_deferred_ones_are_awaited_too) {
  test_runtime rt;
  int there = 0;
  const auto check = [&there]() -> task<void> {
    std::promise<int&> reference;
    reference.set_value(there);
    int& same = co_await from_future(reference.get_future());
    EXPECT_EQ(&same, &there);

    std::future<std::thread::id> deferred =
        std::async(std::launch::deferred, [] { return std::this_thread::get_id(); });
    const std::thread::id elsewhere = co_await from_future(std::move(deferred));
    EXPECT_NE(elsewhere, std::this_thread::get_id());

    std::promise<std::string> text;
    const std::shared_future<std::string> shared = text.get_future();
    text.set_value("many");
    const std::string first = co_await from_future(shared);
    const std::string second = co_await from_future(shared);
    EXPECT_EQ(first + second, "manymany");
  };
  rt.run(check());
}

TEST(future, a_stop_ends_the_wait_and_leaves_a_referenced_future_valid) {
  test_runtime rt;
  std::promise<int> promise;
  std::future<int> awaited = promise.get_future();
  const auto wait = [](std::future<int>& of) -> task<int> { co_return co_await from_future(of); };
  auto handle = rt->spawn(wait(awaited));
  await_running(*rt, 1);
  handle.cancel();
  EXPECT_THROW(handle.wait(), tandem::operation_cancelled);
  EXPECT_TRUE(awaited.valid());
  const auto limited = [&]() -> task<int> {
    co_return co_await tandem::with_timeout(1ms, wait(awaited));
  };
  EXPECT_THROW(rt.run(limited()), std::system_error);
  promise.set_value(9);
  EXPECT_EQ(rt.run(wait(awaited)), 9);
}

TEST(future, a_stop_that_races_with_the_value_loses_neither) {
  test_runtime rt;
  for (int i = 0; i < 200; ++i) {
    std::promise<int> promise;
    std::future<int> awaited = promise.get_future();
    auto handle = rt->spawn(
        [](std::future<int>& of) -> task<int> { co_return co_await from_future(of); }(awaited));
    std::thread setter([&promise] { promise.set_value(3); });
    spin_for(std::chrono::microseconds(i % 32));
    handle.cancel();
    int got = 0;
    try {
      got = handle.wait();
    } catch (const tandem::operation_cancelled&) {
      got = awaited.get();
    }
    EXPECT_EQ(got, 3);
    setter.join();
  }
}

TEST(future, eight_tasks_await_at_once) {
  test_runtime rt;
  std::vector<std::promise<std::size_t>> promises(8);
  std::atomic<std::size_t> sum{0};
  const auto one = [&](std::size_t i) -> task<void> {
    sum += co_await from_future(promises[i].get_future());
  };
  auto all = rt->spawn([](auto& make) -> task<void> { co_await tandem::fork_each(8, make); }(one));
  await_running(*rt, 8);
  for (std::size_t i = 0; i < 8; ++i) promises[i].set_value(i);
  all.wait();
  EXPECT_EQ(sum.load(), 28U);
}

TEST(future, an_awaiter_that_is_never_awaited_takes_nothing_by_reference) {
  std::promise<int> promise;
  std::future<int> awaited = promise.get_future();
  { [[maybe_unused]] auto dropped = from_future(awaited); }
  EXPECT_TRUE(awaited.valid());
}

TEST(spawn_future, values_nothing_references_and_failures_reach_the_future) {
  // Released after the runtime's end: libstdc++ counts references where TSan cannot see it, so the
  // worker must not be the one to free what this thread has read.
  std::exception_ptr ours;
  test_runtime rt;
  int there = 0;
  const auto value = []() -> task<std::unique_ptr<int>> {
    co_await tandem::yield();
    co_return std::make_unique<int>(4);
  };
  const auto nothing = []() -> task<void> { co_return; };
  const auto reference = [&there]() -> task<int&> { co_return there; };
  const auto failure = []() -> task<int> {
    co_await tandem::yield();
    throw std::runtime_error("ours");
  };
  EXPECT_EQ(*tandem::spawn_future(*rt, value()).get(), 4);
  tandem::spawn_future(*rt, nothing()).get();
  EXPECT_EQ(&tandem::spawn_future(*rt, reference()).get(), &there);
  try {
    tandem::spawn_future(*rt, failure()).get();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "ours");
    ours = std::current_exception();
  }
}

TEST(spawn_future, a_dropped_future_drops_the_outcome_a_failure_included) {
  tandem::runtime_options options = tandem::test::with_threads(2);
  options.on_unhandled_exception = [](const std::exception_ptr&) { ADD_FAILURE(); };
  test_runtime rt(options);
  const auto failure = []() -> task<int> {
    co_await tandem::yield();
    throw std::runtime_error("nobody asks");
  };
  { const auto dropped = tandem::spawn_future(*rt, failure()); }
  EXPECT_TRUE(rt->drain(1h));
}

TEST(spawn_future, a_stopped_task_leaves_its_cancellation_in_the_future) {
  std::future<void> given;
  tandem::event never;
  {
    test_runtime rt;
    given =
        tandem::spawn_future(*rt, [](tandem::event& e) -> task<void> { co_await e.wait(); }(never));
  }
  EXPECT_EQ(given.wait_for(0s), std::future_status::ready);
  EXPECT_THROW(given.get(), std::exception) << "operation_cancelled";
}

TEST(spawn_future, one_that_the_runtime_refuses_throws_at_once) {
  test_runtime rt;
  rt->shutdown();
  const auto nothing = []() -> task<void> { co_return; };
  EXPECT_THROW((void)tandem::spawn_future(*rt, nothing()), tandem::runtime_stopped);
}

TEST(to_future, a_running_task_and_one_that_has_ended_give_their_outcome) {
  test_runtime rt;
  const auto value = []() -> task<int> {
    co_await tandem::yield();
    co_return 8;
  };
  EXPECT_EQ(tandem::to_future(rt->spawn(value())).get(), 8);
  auto ended = rt->spawn(value());
  while (!ended.is_done()) std::this_thread::yield();
  EXPECT_EQ(tandem::to_future(std::move(ended)).get(), 8);
  const auto failure = []() -> task<int> {
    co_await tandem::yield();
    throw std::runtime_error("ours");
  };
  EXPECT_THROW(tandem::to_future(rt->spawn(failure())).get(), std::runtime_error);
}

TEST(to_future, there_and_back_again) {
  test_runtime rt;
  const auto inner = []() -> task<int> {
    co_await tandem::yield();
    co_return 11;
  };
  const auto check = [&]() -> task<int> {
    co_return co_await from_future(tandem::spawn_future(*rt, inner()));
  };
  EXPECT_EQ(rt.run(check()), 11);
}

}  // namespace
