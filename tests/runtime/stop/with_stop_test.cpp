// with_stop_test.cpp: std::stop_token at both ends of a task.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <tandem/as_result.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tandem/with_stop.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::operation_cancelled;
using tandem::stop_reason;
using tandem::task;
using tandem::with_stop;
using tandem::with_stop_token;
using tandem::test::test_runtime;

task<int> number(int n) { co_return n; }
task<void> never(stop_reason expected) {
  try {
    co_await tandem::sleep_for(10h);
  } catch (const operation_cancelled& e) {
    EXPECT_EQ(e.reason(), expected);
    throw;
  }
}

TEST(with_stop, a_stop_of_the_token_before_or_during_reaches_the_task) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::stop_source before;
    before.request_stop();
    EXPECT_TRUE(
        (co_await tandem::as_result(with_stop(before.get_token(), never(stop_reason::user))))
            .is_cancelled());
    EXPECT_EQ(co_await with_stop(before.get_token(), number(3)), 3);

    std::stop_source during;
    std::optional<std::jthread> thread;
    const auto stops = [](std::stop_source& source, std::optional<std::jthread>& t) -> task<void> {
      t.emplace([&source] { source.request_stop(); });
      co_await never(stop_reason::user);
    };
    EXPECT_TRUE((co_await tandem::as_result(with_stop(during.get_token(), stops(during, thread))))
                    .is_cancelled());
    EXPECT_FALSE(tandem::stop_requested());
  }());
}

TEST(with_stop, without_a_stop_the_value_comes_through_and_the_callback_is_gone) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::stop_source source;
    EXPECT_EQ(*co_await with_stop(source.get_token(),
                                  []() -> task<std::unique_ptr<int>> {
                                    co_await tandem::yield();
                                    co_return std::make_unique<int>(8);
                                  }()),
              8);
    co_await with_stop(std::stop_token(), tandem::sleep_for(1us));
    source.request_stop();
    EXPECT_FALSE(tandem::stop_requested());
  }());
}

TEST(with_stop, a_stop_of_the_caller_reaches_the_task_too) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::stop_source source;
    const auto got = co_await tandem::as_result(
        tandem::with_timeout(1ms, with_stop(source.get_token(), never(stop_reason::deadline))));
    EXPECT_TRUE(got.is_cancelled());
  }());
}

TEST(with_stop, stop_and_end_may_meet_in_any_order) {
  test_runtime rt(2);
  std::atomic<std::stop_source*> target{nullptr};
  std::jthread stopper([&](const std::stop_token& end) {
    while (!end.stop_requested()) {
      if (std::stop_source* const source = target.exchange(nullptr)) {
        source->request_stop();
        delete source;
      }
    }
    delete target.exchange(nullptr);
  });
  rt.run([](std::atomic<std::stop_source*>& to) -> task<void> {
    for (int i = 0; i < 2000; ++i) {
      auto source = std::make_unique<std::stop_source>();
      const std::stop_token token = source->get_token();
      delete to.exchange(source.release());
      const auto got = co_await tandem::as_result(
          with_stop(token, tandem::sleep_for(std::chrono::microseconds(i % 20))));
      EXPECT_TRUE(got || got.is_cancelled());
    }
  }(target));
}

TEST(with_stop_token, the_token_follows_the_stop_state_of_the_task) {
  tandem::runtime_options options;
  options.clock.emplace();  // so that the millisecond does not pass before the body has begun
  test_runtime rt(std::move(options));
  rt.run([]() -> task<void> {
    bool called = false;
    const auto body = [&called](std::stop_token token) -> task<void> {
      EXPECT_FALSE(token.stop_requested());
      const std::stop_callback callback(token, [&called] { called = true; });
      (void)co_await tandem::as_result(tandem::sleep_for(10h));
      while (!token.stop_requested()) (void)co_await tandem::as_result(tandem::yield());
      EXPECT_EQ(tandem::current_stop_reason(), stop_reason::deadline);
    };
    co_await tandem::with_timeout(1ms, with_stop_token(body));
    EXPECT_TRUE(called);
  }());
}

TEST(with_stop_token, a_task_that_only_polls_sees_the_stop_while_it_holds_the_only_worker) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    const auto polls = [](std::stop_token token) -> task<int> {
      int rounds = 1;
      while (!token.stop_requested()) ++rounds;
      co_return rounds;
    };
    EXPECT_GT(co_await tandem::with_timeout(1ms, with_stop_token(polls)), 0);
  }());
}

TEST(with_stop_token, in_a_stopped_task_the_token_is_stopped_from_the_start) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto body = []() -> task<bool> {
      (void)co_await tandem::as_result(tandem::sleep_for(10h));
      const auto asks = [](std::stop_token token) -> task<bool> {
        co_return token.stop_requested();
      };
      co_return co_await with_stop_token(asks);
    };
    EXPECT_TRUE(co_await tandem::with_timeout(100us, body()));
  }());
}

TEST(with_stop_token, values_failures_and_captures_come_through) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto own = [p = std::make_shared<int>(6)](std::stop_token) -> task<int> {
      co_await tandem::yield();
      co_return *p;
    };
    EXPECT_EQ(co_await with_stop_token(own), 6);
    const int n = 7;
    EXPECT_EQ(co_await with_stop_token([n](std::stop_token) -> task<int> { co_return n; }), 7);
    const auto fails = [](std::stop_token) -> task<void> {
      throw std::runtime_error("inside");
      co_return;
    };
    EXPECT_TRUE((co_await tandem::as_result(with_stop_token(fails))).exception() != nullptr);
    const auto no_coroutine = [](std::stop_token) -> task<void> { throw std::logic_error("call"); };
    EXPECT_TRUE((co_await tandem::as_result(with_stop_token(no_coroutine))).exception() != nullptr);
  }());
}

TEST(with_stop_token, a_callback_may_stop_other_tasks) {
  // It runs after the walk, without stop locks: else this would be a deadlock.
  test_runtime rt;
  rt.run([]() -> task<void> {
    auto other = tandem::spawn(never(stop_reason::user));
    const auto body = [&other](std::stop_token token) -> task<void> {
      const std::stop_callback callback(token, [&other] { (void)other.cancel(); });
      (void)co_await tandem::as_result(tandem::sleep_for(10h));
      // The wait may end before the token knows: a body that left now would take its callback
      // along.
      while (!token.stop_requested()) (void)co_await tandem::as_result(tandem::yield());
    };
    const auto limited = [&]() -> task<void> {
      co_await tandem::when_all(with_stop_token(body), with_stop_token(body));
    };
    co_await tandem::with_timeout(1ms, limited());
    EXPECT_TRUE((co_await tandem::as_result(other)).is_cancelled());
  }());
}

TEST(with_stop_token, stop_and_end_may_meet_in_any_order) {
  test_runtime rt(2);
  rt.run([]() -> task<void> {
    for (int i = 0; i < 2000; ++i) {
      bool called = false;
      const auto body = [&called, i](std::stop_token token) -> task<void> {
        const std::stop_callback callback(token, [&called] { called = true; });
        co_await tandem::sleep_for(std::chrono::microseconds(i % 20));
      };
      const auto got = co_await tandem::as_result(
          tandem::with_timeout(std::chrono::microseconds(i % 15), with_stop_token(body)));
      EXPECT_TRUE(got || got.is_cancelled());
    }
  }());
}

task<int> nested(int depth) {
  if (depth == 0) co_return 0;
  std::stop_source source;
  const auto deeper = [depth](std::stop_token) { return nested(depth - 1); };
  co_return 1 + co_await with_stop(source.get_token(), with_stop_token(deeper));
}

TEST(with_stop, twenty_thousand_levels_are_no_stack_depth) {
  test_runtime rt;
  EXPECT_EQ(rt.run(nested(20'000)), 20'000);
}

}  // namespace
