// callback_stream_end_test.cpp: however the use ends, it is unsubscribed, and waited for, before anything goes.
// SPDX-License-Identifier: MIT
#include <tandem/callback_stream.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <tandem/as_result.hpp>
#include <tandem/clock.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <tandem/virtual_time.hpp>
#include <tandem/yield.hpp>

#include "runtime/foreign/foreign_sensor.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::callback;
using tandem::callback_stream;
using tandem::late_callbacks;
using tandem::overflow_policy;
using tandem::task;
using tandem::with_callbacks;
using tandem::test::foreign_sensor;
using tandem::test::test_runtime;

using sensor = foreign_sensor<int>;
using values_of_int = tandem::callback_values<int>;

/// Unsubscribes by a task that has to wait, and says when it has.
struct slow_library {
  sensor of;
  int unsubscribed = 0;

  auto subscribing() {
    return [this](callback<void(int)> on_value) {
      of.listen(std::move(on_value));
      return [this] { return unsubscribe(); };
    };
  }
  task<void> unsubscribe() {
    for (int i = 0; i < 3; ++i) co_await tandem::yield();
    of.call(99);  // still answered
    of.ignore();
    ++unsubscribed;
  }
};

template <class Use>
task<void> use(slow_library& library, Use& body) {
  co_await with_callbacks(
      callback_stream<int>(4, overflow_policy::drop_newest, library.subscribing()),
      [&body](values_of_int& values) -> task<void> { co_await body(values); });
}

TEST(callback_stream_end, a_use_that_returns_or_throws_is_unsubscribed_and_that_is_awaited) {
  test_runtime rt;
  slow_library library;
  const auto breaks = [&](values_of_int& values) -> task<void> {
    EXPECT_EQ(library.unsubscribed, 0);
    library.of.call(1);
    while (const auto one = co_await values.next()) {
      if (*one == 1) break;
    }
  };
  rt.run(use(library, breaks));
  EXPECT_EQ(library.unsubscribed, 1);
  const auto throws = [](values_of_int&) -> task<void> {
    co_await tandem::yield();
    throw std::runtime_error("enough");
  };
  EXPECT_THROW(rt.run(use(library, throws)), std::runtime_error);
  EXPECT_EQ(library.unsubscribed, 2);
  // Before it is a task.
  const auto throws_at_once = [](values_of_int&) -> task<void> { throw std::logic_error("no"); };
  EXPECT_THROW(rt.run(use(library, throws_at_once)), std::logic_error);
  EXPECT_EQ(library.unsubscribed, 3);
}

TEST(callback_stream_end, a_stop_ends_the_use_and_not_the_unsubscribing) {
  test_runtime rt;
  slow_library library;
  const auto waits = [](values_of_int& values) -> task<void> { co_await values.next(); };
  auto stopped = rt->spawn(use(library, waits));
  library.of.wait_for_listener();
  stopped.cancel();
  EXPECT_THROW(stopped.wait(), tandem::operation_cancelled);
  EXPECT_EQ(library.unsubscribed, 1);
}

TEST(callback_stream_end, it_is_unsubscribed_though_the_library_let_go_first) {
  test_runtime rt;
  slow_library library;
  const auto drains = [&](values_of_int& values) -> task<void> {
    library.of.call(5);
    library.of.ignore();
    EXPECT_EQ(co_await values.next(), 5);
    EXPECT_EQ(co_await values.next(), std::nullopt);
  };
  rt.run(use(library, drains));
  EXPECT_EQ(library.unsubscribed, 1);
}

TEST(callback_stream_end, one_that_is_stopped_already_subscribes_nothing) {
  test_runtime rt;
  std::atomic<bool> runs{false};
  bool subscribed = false;
  auto stopped = rt->spawn([](std::atomic<bool>& begun, bool& called) -> task<void> {
    begun = true;
    while (!tandem::stop_requested()) std::this_thread::yield();
    const auto got = co_await tandem::as_result(
        with_callbacks(callback_stream<int>(1, overflow_policy::fail, [&](auto) { called = true; }),
                       [](auto& values) -> task<void> { co_await values.next(); }));
    EXPECT_EQ(got.reason(), tandem::stop_reason::user);
  }(runs, subscribed));
  while (!runs) std::this_thread::yield();
  stopped.cancel();
  stopped.wait();
  EXPECT_FALSE(subscribed);
}

TEST(callback_stream_end, what_subscribing_throws_is_thrown_and_calls_are_late) {
  test_runtime rt;
  std::optional<callback<void(int)>> kept;
  bool used = false;
  const auto check = [&]() -> task<void> {
    co_await with_callbacks(callback_stream<int>(1, overflow_policy::fail,
                                                 [&](auto on_value) {
                                                   kept = on_value;
                                                   on_value(1);
                                                   throw std::runtime_error("refused");
                                                 }),
                            [&](auto&) -> task<void> {
                              used = true;
                              co_return;
                            });
  };
  EXPECT_THROW(rt.run(check()), std::runtime_error);
  EXPECT_FALSE(used);
  const std::uint64_t before = late_callbacks();
  (*kept)(2);
  EXPECT_EQ(late_callbacks() - before, 1U);
}

TEST(callback_stream_end, a_failure_to_unsubscribe_is_thrown_unless_the_use_failed) {
  std::atomic<int> suppressed{0};
  tandem::runtime_options options = tandem::test::with_threads(2);
  options.on_suppressed_exception = [&](const std::exception_ptr&) noexcept { ++suppressed; };
  test_runtime rt(options);
  const auto check = [](bool use_fails) -> task<void> {
    const auto subscribe = [](callback<void(int)>) {
      return [] { throw std::logic_error("cannot"); };
    };
    co_await with_callbacks(callback_stream<int>(1, overflow_policy::fail, subscribe),
                            [use_fails](auto&) -> task<void> {
                              if (use_fails) throw std::runtime_error("first");
                              co_return;
                            });
  };
  EXPECT_THROW(rt.run(check(false)), std::logic_error);
  EXPECT_EQ(suppressed, 0);
  EXPECT_THROW(rt.run(check(true)), std::runtime_error);
  EXPECT_EQ(suppressed, 1);
}

TEST(callback_stream_end, an_unsubscribing_that_hangs_is_stopped_after_its_grace) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(1);
  tandem::runtime rt(options);
  auto ended = rt.spawn([]() -> task<std::chrono::steady_clock::duration> {
    const auto began = tandem::now();
    const auto got = co_await tandem::as_result(with_callbacks(
        callback_stream<int>(1, overflow_policy::fail,
                             [](auto) {
                               return [] {
                                 return []() -> task<void> { co_await tandem::sleep_for(1h); }();
                               };
                             }),
        [](auto&) -> task<void> { co_return; }, 3s));
    EXPECT_EQ(got.reason(), tandem::stop_reason::deadline);
    co_return tandem::now() - began;
  }());
  EXPECT_EQ(ended.wait(), 3s);
}

TEST(callback_stream_end, later_calls_hit_nothing_also_when_the_slot_is_used_again) {
  test_runtime rt;
  std::vector<callback<void(int)>> kept;
  const auto once = [&](int number) -> task<void> {
    const auto got =
        co_await with_callbacks(callback_stream<int>(4, overflow_policy::fail,
                                                     [&](callback<void(int)> on_value) {
                                                       for (const auto& old : kept) old(-1);
                                                       on_value(number);
                                                       kept.push_back(std::move(on_value));
                                                     }),
                                [](auto& values) -> task<int> {
                                  const std::optional<int> one = co_await values.next();
                                  co_return one.value();
                                });
    EXPECT_EQ(got, number);
  };
  const std::uint64_t before = late_callbacks();
  for (int i = 0; i < 10; ++i) rt.run(once(i));
  EXPECT_EQ(late_callbacks() - before, 45U);
}

/// A conversion that is inside until the test lets it go.
struct slow_conversion {
  std::atomic<bool> is_inside{false};
  std::atomic<bool> may_go{false};

  auto converting() {
    return [this](int value) {
      is_inside = true;
      while (!may_go) std::this_thread::yield();
      return value;
    };
  }
  void wait() const {
    while (!is_inside) std::this_thread::yield();
  }
};

TEST(callback_stream_end, a_call_that_is_inside_is_waited_for) {
  test_runtime rt;
  sensor library;
  slow_conversion slow;
  std::atomic<bool> use_is_over{false};
  auto waiting =
      rt->spawn([](sensor& of, slow_conversion& inside, std::atomic<bool>& over) -> task<void> {
        co_await with_callbacks(
            callback_stream<int>(1, overflow_policy::fail, of.subscribing(), inside.converting()),
            [&](auto&) -> task<void> {
              while (!inside.is_inside) co_await tandem::yield();
            });
        EXPECT_TRUE(inside.may_go);
        over = true;
      }(library, slow, use_is_over));
  library.wait_for_listener();
  std::thread other([&] { library.call(1); });
  slow.wait();
  while (library.has_listener()) std::this_thread::yield();  // unsubscribed
  rt.run([]() -> task<void> {
    for (int i = 0; i < 100; ++i) co_await tandem::yield();
  }());
  EXPECT_FALSE(use_is_over);
  waiting.cancel();  // nor does a stop let go
  slow.may_go = true;
  EXPECT_NO_THROW(waiting.wait());
  other.join();
}

TEST(callback_stream_end,
     a_value_that_is_being_made_when_the_last_handle_goes_comes_before_the_end) {
  test_runtime rt;
  slow_conversion slow;
  std::atomic<void*> data{nullptr};
  std::atomic<callback<void(int)>::function> function{nullptr};
  const auto check = [&]() -> task<std::vector<int>> {
    co_return co_await with_callbacks(callback_stream<int>(
                                          4, overflow_policy::fail,
                                          [&](callback<void(int)> on_value) {
                                            data = on_value.c_data();
                                            function = on_value.c_function();
                                          },
                                          slow.converting()),
                                      [](auto& values) -> task<std::vector<int>> {
                                        std::vector<int> all;
                                        while (const auto one = co_await values.next())
                                          all.push_back(*one);
                                        co_return all;
                                      });
  };
  auto waiting = rt->spawn(check());
  while (function == nullptr) std::this_thread::yield();
  std::thread other([&] { function.load()(7, data); });
  slow.wait();
  // As a library does that frees on one thread what another one still uses.
  tandem::detail::drop_callback_of_c(tandem::detail::from_callback_data(data));
  const std::uint64_t before = late_callbacks();
  function.load()(8, data);
  EXPECT_EQ(late_callbacks() - before, 1U);
  rt.run([]() -> task<void> {
    for (int i = 0; i < 100; ++i) co_await tandem::yield();
  }());
  EXPECT_FALSE(waiting.is_done());
  slow.may_go = true;
  EXPECT_EQ(waiting.wait(), std::vector{7});
  other.join();
}

TEST(callback_stream_end, a_stop_of_next_loses_no_value) {
  test_runtime rt;
  sensor library;
  const auto check = [&]() -> task<void> {
    co_await with_callbacks(callback_stream<int>(4, overflow_policy::fail, library.subscribing()),
                            [&](values_of_int& values) -> task<void> {
                              auto stopped =
                                  tandem::spawn([](values_of_int& of) -> task<std::optional<int>> {
                                    co_return co_await of.next();
                                  }(values));
                              co_await tandem::yield();
                              stopped.cancel();
                              library.call(1);
                              auto first = co_await tandem::as_result(std::move(stopped));
                              EXPECT_TRUE(first || first.is_cancelled());
                              const std::optional<int> one = first ? first.value() : std::nullopt;
                              library.call(2);
                              if (!one) {
                                EXPECT_EQ(co_await values.next(), 1);
                              }
                              EXPECT_EQ(co_await values.next(), 2);
                            });
  };
  for (int i = 0; i < 100; ++i) rt.run(check());
}

TEST(callback_stream_end, a_virtual_clock_waits_for_the_call) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(1);
  tandem::runtime rt(options);
  sensor library;
  auto got = rt.spawn([](sensor& of) -> task<int> {
    co_return co_await with_callbacks(
        callback_stream<int>(1, overflow_policy::fail, of.subscribing()),
        [](auto& values) -> task<int> {
          const std::optional<int> one = co_await tandem::with_timeout(1s, values.next());
          co_return one.value();
        });
  }(library));
  std::thread other([&library] {
    library.wait_for_listener();
    std::this_thread::sleep_for(5ms);
    library.call(3);
  });
  EXPECT_EQ(got.wait(), 3);
  other.join();
}

}  // namespace
