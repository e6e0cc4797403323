// callback_stop_test.cpp: what a stop does to an awaited callback: it waits, lets go, or tells the library.
// SPDX-License-Identifier: MIT
#include <tandem/from_callback.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <utility>

#include <tandem/as_result.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <tandem/virtual_time.hpp>
#include <tandem/yield.hpp>

#include "runtime/foreign/callback_keeper.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::from_callback;
using tandem::late_callbacks;
using tandem::task;
using tandem::test::keeper;
using tandem::test::test_runtime;

TEST(callback_stop, a_task_that_is_stopped_starts_nothing) {
  test_runtime rt;
  bool started = false;
  std::atomic<bool> runs{false};
  auto stopped = rt->spawn([](std::atomic<bool>& begun, bool& called) -> task<void> {
    begun = true;
    while (!tandem::stop_requested()) std::this_thread::yield();
    const auto got = co_await as_result(from_callback<void()>([&](auto done) {
      called = true;
      done();
    }));
    EXPECT_TRUE(got.is_cancelled());
    EXPECT_EQ(got.reason(), tandem::stop_reason::user);
  }(runs, started));
  while (!runs) std::this_thread::yield();
  stopped.cancel();
  stopped.wait();
  EXPECT_FALSE(started);
}

TEST(callback_stop, without_a_function_for_it_a_stop_waits_for_the_call) {
  test_runtime rt;
  keeper<void(int)> kept;
  std::atomic<bool> ended{false};
  auto stopped = rt->spawn([](keeper<void(int)>& one, std::atomic<bool>& over) -> task<int> {
    const int got = co_await from_callback<void(int)>([&](auto done) { one.keep(done); });
    over = true;
    co_return got;
  }(kept, ended));
  kept.wait();
  stopped.cancel();
  rt.run([]() -> task<void> {
    for (int i = 0; i < 100; ++i) co_await tandem::yield();
  }());
  EXPECT_FALSE(ended);
  (*kept.held)(2);
  EXPECT_EQ(stopped.wait(), 2);  // the call has won
}

TEST(callback_stop, one_that_may_be_abandoned_ends_with_the_stop) {
  test_runtime rt;
  keeper<void(int)> kept;
  auto stopped = rt->spawn([](keeper<void(int)>& one) -> task<void> {
    const auto got = co_await as_result(from_callback<void(int)>(
        [&](auto done) { one.keep(done); }, tandem::as_values, tandem::abandonable));
    EXPECT_EQ(got.reason(), tandem::stop_reason::user);
  }(kept));
  kept.wait();
  stopped.cancel();
  stopped.wait();
  const std::uint64_t before = late_callbacks();
  (*kept.held)(1);
  EXPECT_EQ(late_callbacks() - before, 1U);
}

TEST(callback_stop, the_library_is_told_of_a_stop_and_may_call_at_once) {
  test_runtime rt;
  keeper<void(int)> kept;
  auto stopped = rt->spawn([](keeper<void(int)>& one) -> task<int> {
    co_return co_await from_callback<void(int)>(
        [&](auto done) { one.keep(done); }, tandem::as_values,
        [&]() noexcept { (*one.held)(-1); });  // as a library that cancels inline
  }(kept));
  kept.wait();
  stopped.cancel();
  EXPECT_EQ(stopped.wait(), -1);
}

TEST(callback_stop, one_that_is_dropped_for_a_stop_is_cancelled) {
  test_runtime rt;
  keeper<void(int)> kept;
  auto stopped = rt->spawn([](keeper<void(int)>& one) -> task<void> {
    const auto got = co_await as_result(
        from_callback<void(int)>([&](auto done) { one.keep(std::move(done)); }, tandem::as_values,
                                 [&]() noexcept { one.held.reset(); }));
    EXPECT_TRUE(got.is_cancelled());
  }(kept));
  kept.wait();
  stopped.cancel();
  stopped.wait();
}

TEST(callback_stop, a_stop_that_comes_while_it_starts_is_told_afterwards) {
  test_runtime rt;
  std::atomic<bool> inside{false};
  std::atomic<bool> asked{false};
  bool start_is_over = false;
  auto stopped =
      rt->spawn([](std::atomic<bool>& in, std::atomic<bool>& stop, bool& over) -> task<int> {
        keeper<void(int)> one;
        co_return co_await from_callback<void(int)>(
            [&](auto done) {
              one.keep(done);
              in = true;
              while (!stop) std::this_thread::yield();
              over = true;
            },
            tandem::as_values,
            [&]() noexcept {
              EXPECT_TRUE(over);
              (*one.held)(5);
            });
      }(inside, asked, start_is_over));
  while (!inside) std::this_thread::yield();
  stopped.cancel();
  asked = true;
  EXPECT_EQ(stopped.wait(), 5);
}

TEST(callback_stop, a_virtual_clock_waits_for_the_call) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(1);
  tandem::runtime rt(options);
  std::thread other;
  auto got = rt.spawn([](std::thread& late) -> task<int> {
    co_return co_await tandem::with_timeout(1s, [](std::thread& from) -> task<int> {
      co_return co_await from_callback<void(int)>([&](auto done) {
        from = std::thread([done] {
          std::this_thread::sleep_for(5ms);
          done(3);
        });
      });
    }(late));
  }(other));
  EXPECT_EQ(got.wait(), 3);
  other.join();
}

}  // namespace
