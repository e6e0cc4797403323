// callback_stream_test.cpp: each of many calls is a value, in order; what there is no room for is dropped as told.
// SPDX-License-Identifier: MIT
#include <tandem/callback_stream.hpp>

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include <tandem/as_result.hpp>
#include <tandem/task_scope.hpp>

#include "runtime/foreign/foreign_sensor.hpp"
#include "test_runtime.hpp"

namespace {

using tandem::callback;
using tandem::callback_stream;
using tandem::errc;
using tandem::overflow_policy;
using tandem::task;
using tandem::with_callbacks;
using tandem::test::foreign_sensor;
using tandem::test::test_runtime;

template <class T>
task<std::vector<T>> all_of(tandem::callback_values<T>& values) {
  std::vector<T> all;
  while (auto one = co_await values.next()) all.push_back(std::move(*one));
  co_return all;
}

/// What is left of `count` values that come before the first is taken, and how many were dropped.
struct left_over {
  std::vector<int> values;
  std::uint64_t dropped = 0;
  std::error_code error;
};
task<left_over> fill(std::size_t capacity, overflow_policy policy, int count) {
  left_over left;
  co_await with_callbacks(callback_stream<int>(capacity, policy,
                                               [&](auto on_value) {
                                                 for (int i = 0; i < count; ++i) on_value(i);
                                               }),
                          [&](auto& values) -> task<void> {
                            while (true) {
                              auto next = co_await tandem::as_result(values.next());
                              if (!next) left.error = next.error();
                              if (!next || !next.value()) break;
                              left.values.push_back(*next.value());
                            }
                            left.dropped = values.dropped();
                          });
  co_return left;
}

TEST(callback_stream, values_come_in_the_order_of_the_calls_until_the_last_copy_dies) {
  test_runtime rt;
  const auto check = []() -> task<std::vector<std::string>> {
    std::thread other;
    const auto subscribe = [&other](callback<void(std::string)> on_value) {
      on_value("during the start");
      other = std::thread([on_value] {
        const std::function<void(std::string)> copy = on_value;
        for (int i = 0; i < 100; ++i) copy(std::to_string(i));
      });
    };
    auto all = co_await with_callbacks(
        callback_stream<std::string>(200, overflow_policy::fail, subscribe), all_of<std::string>);
    other.join();
    co_return all;
  };
  std::vector<std::string> expected{"during the start"};
  for (int i = 0; i < 100; ++i) expected.push_back(std::to_string(i));
  EXPECT_EQ(rt.run(check()), expected);
}

TEST(callback_stream, nobody_holds_the_callback_so_it_ends_at_once) {
  test_runtime rt;
  EXPECT_EQ(rt.run(fill(4, overflow_policy::fail, 0)).values, std::vector<int>());
}

TEST(callback_stream, a_value_too_much_drops_the_oldest_or_itself_or_ends_the_stream) {
  test_runtime rt;
  const left_over oldest = rt.run(fill(3, overflow_policy::drop_oldest, 8));
  EXPECT_EQ(oldest.values, (std::vector{5, 6, 7}));
  EXPECT_EQ(oldest.dropped, 5U);
  const left_over newest = rt.run(fill(3, overflow_policy::drop_newest, 8));
  EXPECT_EQ(newest.values, (std::vector{0, 1, 2}));
  EXPECT_EQ(newest.dropped, 5U);
  const left_over failed = rt.run(fill(3, overflow_policy::fail, 8));
  EXPECT_EQ(failed.values, (std::vector{0, 1, 2}));
  EXPECT_EQ(failed.dropped, 5U);
  EXPECT_EQ(failed.error, errc::callback_overflow);
  const left_over enough = rt.run(fill(8, overflow_policy::fail, 8));
  EXPECT_EQ(enough.values.size(), 8U);
  EXPECT_EQ(enough.dropped, 0U);
  EXPECT_FALSE(enough.error);
}

TEST(callback_stream, without_room_a_value_comes_only_to_somebody_who_waits) {
  test_runtime rt;
  for (const auto policy : {overflow_policy::drop_oldest, overflow_policy::drop_newest}) {
    const left_over none = rt.run(fill(0, policy, 3));
    EXPECT_EQ(none.values, std::vector<int>());
    EXPECT_EQ(none.dropped, 3U);
  }
  foreign_sensor<int> sensor;
  const auto check = [&]() -> task<int> {
    co_return co_await with_callbacks(
        callback_stream<int>(0, overflow_policy::drop_oldest, sensor.subscribing()),
        [](auto& values) -> task<int> {
          const std::optional<int> one = co_await values.next();
          co_return one.value();
        });
  };
  auto waiting = rt->spawn(check());
  while (!waiting.is_done()) {
    sensor.call(4);
    std::this_thread::yield();
  }
  EXPECT_EQ(waiting.wait(), 4);
}

TEST(callback_stream, an_overflow_says_what_it_is) {
  test_runtime rt;
  const auto check = []() -> task<void> {
    const auto twice = [](auto on_value) {
      on_value(1);
      on_value(2);
    };
    co_await with_callbacks(
        callback_stream<int>(1, overflow_policy::fail, twice), [](auto& values) -> task<void> {
          EXPECT_EQ(co_await values.next(), 1);
          for (int i = 0; i < 2; ++i) {
            try {
              co_await values.next();
              ADD_FAILURE() << "no error";
            } catch (const std::system_error& error) {
              EXPECT_EQ(error.code(), errc::callback_overflow);
              EXPECT_NE(std::string_view(error.what()).find("full"), std::string_view::npos);
            }
          }
        });
  };
  rt.run(check());
}

TEST(callback_stream, calls_without_arguments_are_counted_by_a_bool) {
  test_runtime rt;
  const auto check = []() -> task<int> {
    const auto thrice = [](auto on_tick) {
      for (int i = 0; i < 3; ++i) on_tick();
    };
    co_return co_await with_callbacks(callback_stream<void()>(8, overflow_policy::fail, thrice),
                                      [](auto& ticks) -> task<int> {
                                        int count = 0;
                                        while (co_await ticks.next()) ++count;
                                        co_return count;
                                      });
  };
  EXPECT_EQ(rt.run(check()), 3);
}

TEST(callback_stream, several_arguments_are_a_tuple_and_may_be_owned) {
  test_runtime rt;
  const auto check = []() -> task<void> {
    const auto once = [](auto on_pair) { on_pair(3, std::make_unique<int>(4)); };
    co_await with_callbacks(
        callback_stream<void(int, std::unique_ptr<int>)>(1, overflow_policy::fail, once),
        [](auto& pairs) -> task<void> {
          auto next = co_await pairs.next();
          EXPECT_EQ(std::get<0>(*next), 3);
          EXPECT_EQ(*std::get<1>(*next), 4);
          EXPECT_FALSE(co_await pairs.next());
        });
  };
  rt.run(check());
}

TEST(callback_stream, a_library_in_c_lends_its_arguments_and_wants_an_answer) {
  test_runtime rt;
  const auto check = []() -> task<void> {
    std::vector<int> answers;
    void* data = nullptr;
    const auto subscribe = [&](callback<int(const char*)> on_text) {
      data = on_text.c_data();
      std::string lent = "first";
      answers.push_back(on_text.c_function()(lent.c_str(), data));
      lent = "other";
      answers.push_back(on_text.c_function_first()(data, lent.c_str()));
      on_text.c_drop()(data);
    };
    const auto convert = [](const char* text) {
      return tandem::returning(static_cast<int>(std::string_view(text).size()), std::string(text));
    };
    const auto texts = co_await with_callbacks(
        callback_stream<int(const char*)>(4, overflow_policy::fail, subscribe, convert),
        all_of<std::string>);
    EXPECT_EQ(texts, (std::vector<std::string>{"first", "other"}));
    EXPECT_EQ(answers, (std::vector<int>{5, 5}));
  };
  rt.run(check());
}

TEST(callback_stream, held_by_c_alone_it_goes_on_until_the_destroy_notify) {
  test_runtime rt;
  std::atomic<void*> data = nullptr;
  using on_number = callback<void(int)>;
  std::atomic<on_number::function> function = nullptr;
  std::atomic<on_number::drop_function> drop = nullptr;
  const auto check = [&]() -> task<std::vector<int>> {
    co_return co_await with_callbacks(callback_stream<int>(8, overflow_policy::fail,
                                                           [&](on_number of) {
                                                             function = of.c_function();
                                                             data = of.c_data();
                                                             drop = of.c_drop();
                                                           }),
                                      all_of<int>);
  };
  auto waiting = rt->spawn(check());
  while (drop == nullptr) std::this_thread::yield();
  for (int i = 0; i < 3; ++i) function.load()(i, data);
  EXPECT_FALSE(waiting.is_done());
  drop.load()(data);
  EXPECT_EQ(waiting.wait(), (std::vector{0, 1, 2}));
  const std::uint64_t before = tandem::late_callbacks();
  function.load()(3, data);
  drop.load()(data);
  EXPECT_EQ(tandem::late_callbacks() - before, 1U);
}

TEST(callback_stream, what_one_conversion_throws_or_says_is_of_that_value_alone) {
  test_runtime rt;
  const auto check = []() -> task<std::string> {
    const auto four = [](auto on_value) {
      for (int i = 0; i < 4; ++i) on_value(i);
    };
    const auto convert = [](int number) -> tandem::result<int> {
      if (number == 1) return std::make_error_code(std::errc::io_error);
      if (number == 2) throw std::runtime_error("two");
      return number * 10;
    };
    co_return co_await with_callbacks(callback_stream<int>(4, overflow_policy::fail, four, convert),
                                      [](auto& values) -> task<std::string> {
                                        std::string log;
                                        while (true) {
                                          try {
                                            const auto next = co_await values.next();
                                            if (!next) break;
                                            log += std::to_string(*next) + ' ';
                                          } catch (const std::system_error& error) {
                                            log +=
                                                error.code() == std::errc::io_error ? "io " : "? ";
                                          } catch (const std::runtime_error& error) {
                                            log += std::string(error.what()) + ' ';
                                          }
                                        }
                                        co_return log;
                                      });
  };
  EXPECT_EQ(rt.run(check()), "0 io two 30 ");
}

TEST(callback_stream, several_tasks_may_take_and_each_value_goes_to_one) {
  test_runtime rt;
  std::atomic<int> sum = 0;
  const auto check = [&]() -> task<void> {
    std::thread other;
    const auto subscribe = [&other](callback<void(int)> on_value) {
      other = std::thread([on_value = std::move(on_value)] {
        for (int i = 1; i <= 1000; ++i) on_value(i);
      });
    };
    co_await with_callbacks(
        callback_stream<int>(1000, overflow_policy::fail, subscribe), [&](auto& values) {
          return tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
            for (int i = 0; i < 4; ++i) {
              scope.spawn([](auto& source, std::atomic<int>& all) -> task<void> {
                while (const auto one = co_await source.next()) all += *one;
              }(values, sum));
            }
            co_await scope.join();
          });
        });
    other.join();
  };
  rt.run(check());
  EXPECT_EQ(sum, 500'500);
}

/// Calls the library when it dies.
class calls_back {
 public:
  explicit calls_back(const std::function<void()>* when_gone) noexcept : when_gone_(when_gone) {}
  calls_back(calls_back&& other) noexcept : when_gone_(std::exchange(other.when_gone_, nullptr)) {}
  calls_back& operator=(calls_back&&) = delete;
  ~calls_back() {
    if (when_gone_ != nullptr) (*when_gone_)();
  }

 private:
  const std::function<void()>* when_gone_;
};

TEST(callback_stream, a_dropped_value_dies_outside_of_the_lock) {
  test_runtime rt;
  for (const auto policy :
       {overflow_policy::drop_oldest, overflow_policy::drop_newest, overflow_policy::fail}) {
    std::optional<callback<void(calls_back)>> held;
    int died = 0;
    const std::function<void()> again = [&] {
      if (++died < 3) (*held)(calls_back(&again));
    };
    const auto check = [&]() -> task<void> {
      co_await with_callbacks(callback_stream<void(calls_back)>(1, policy,
                                                                [&](auto on_value) {
                                                                  held = on_value;
                                                                  on_value(calls_back(nullptr));
                                                                  on_value(calls_back(&again));
                                                                  on_value(calls_back(nullptr));
                                                                }),
                              [&](auto& values) -> task<void> {
                                EXPECT_GE(values.dropped(), 2U);
                                co_return;
                              });
    };
    rt.run(check());
    EXPECT_GE(died, 1);
  }
}

}  // namespace
