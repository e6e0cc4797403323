// slow_names_test.cpp: limits, tries and stops of look-ups that hang.
// SPDX-License-Identifier: MIT
#include "slow_names.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/blocking_options.hpp>
#include <tandem/io/resolve.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_any.hpp>
#include <vector>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::endpoint;
using tandem::io::name_of;
using tandem::io::resolve;
using tandem::io::resolve_errc;
using tandem::io::resolve_options;
using tandem::test::answer_names;
using tandem::test::hanging_name_calls;
using tandem::test::name_answer;
using tandem::test::name_calls;
using tandem::test::release_names;
using tandem::test::test_runtime;

const std::vector<endpoint> here{endpoint::loopback_v4(80)};

/// Lets all go on at its end: the runtime's end waits for them.
class released_at_end {
 public:
  released_at_end() = default;
  released_at_end(const released_at_end&) = delete;
  released_at_end& operator=(const released_at_end&) = delete;
  ~released_at_end() { release_names(); }
};

resolve_options with(unsigned tries, std::chrono::milliseconds limit) {
  resolve_options made;
  made.tries = tries;
  made.pause = 1ms;
  made.limit = limit;
  return made;
}

template <class Body>
void run(Body body) {
  test_runtime rt;
  const released_at_end releases;
  rt.run(body());
}

task<void> calls_hang(int count) {
  while (hanging_name_calls() < count) co_await tandem::sleep_for(1ms);
}

TEST(slow_names, a_limit_ends_the_await_and_the_call_goes_on_by_itself) {
  run([]() -> task<void> {
    answer_names({name_answer::hangs});
    try {
      (void)co_await resolve("hangs.example", 80, with(1, 5ms));
      ADD_FAILURE() << "it hangs";
    } catch (const std::system_error& failure) {
      EXPECT_EQ(failure.code(), std::errc::timed_out);
      EXPECT_NE(std::string(failure.what()).find("hangs.example"), std::string::npos);
    }
  });
}

TEST(slow_names, a_stop_ends_the_await_and_the_call_goes_on_by_itself) {
  run([]() -> task<void> {
    answer_names({name_answer::hangs});
    const auto first = co_await tandem::when_any(resolve("hangs.example", 80), calls_hang(1));
    EXPECT_EQ(first.index, 1U);
    const auto second = co_await tandem::when_any(name_of(endpoint::loopback_v4(0)), calls_hang(2));
    EXPECT_EQ(second.index, 1U);
    EXPECT_EQ(hanging_name_calls(), 2);
  });
}

TEST(slow_names, a_stop_within_the_limit_is_a_stop) {
  run([]() -> task<void> {
    answer_names({name_answer::hangs});
    const auto stopped =
        co_await as_result(tandem::with_timeout(5ms, resolve("hangs.example", 80, with(3, 1h))));
    EXPECT_TRUE(stopped.is_cancelled());
  });
}

TEST(slow_names, what_has_not_begun_when_its_limit_is_over_never_begins) {
  tandem::runtime_options options;
  options.blocking.max_threads = 1;
  {
    test_runtime rt(options);
    const released_at_end releases;
    rt.run([]() -> task<void> {
      answer_names({name_answer::hangs});
      for (int i = 0; i < 3; ++i) {
        const auto late = co_await as_result(resolve("hangs.example", 80, with(1, 5ms)));
        EXPECT_EQ(late.error(), std::errc::timed_out);
      }
    }());
  }
  EXPECT_LE(name_calls(), 1);
}

TEST(slow_names, asks_again_while_nobody_answers_as_often_as_it_is_told) {
  run([]() -> task<void> {
    const std::vector<name_answer> third_time{name_answer::try_again, name_answer::try_again,
                                              name_answer::found};
    answer_names(third_time);
    EXPECT_EQ(co_await resolve("late.example", 80, with(3, 1h)), here);
    EXPECT_EQ(name_calls(), 3);
    answer_names(third_time);
    const auto twice = co_await as_result(resolve("late.example", 80, with(2, 1h)));
    EXPECT_EQ(twice.error(), resolve_errc::try_again);
    EXPECT_EQ(name_calls(), 2);
    answer_names(third_time);
    const auto once = co_await as_result(resolve("late.example", 80));
    EXPECT_EQ(once.error(), resolve_errc::try_again);
    EXPECT_EQ(name_calls(), 1);
  });
}

TEST(slow_names, a_try_that_hangs_is_left_behind_by_the_next_one) {
  run([]() -> task<void> {
    answer_names({name_answer::hangs, name_answer::found});
    EXPECT_EQ(co_await resolve("slow.example", 80, with(2, 20ms)), here);
  });
}

TEST(slow_names, an_address_has_a_name_or_it_is_told_that_it_has_none) {
  run([]() -> task<void> {
    answer_names({name_answer::try_again, name_answer::found});
    EXPECT_EQ(co_await name_of(endpoint::loopback_v4(7), with(2, 1h)), "here.example");
    try {
      (void)co_await name_of(endpoint::parse("192.0.2.7:80"));
      ADD_FAILURE() << "it has a name";
    } catch (const std::system_error& failure) {
      EXPECT_EQ(failure.code(), resolve_errc::host_not_found);
      EXPECT_NE(std::string(failure.what()).find("name_of 192.0.2.7"), std::string::npos);
    }
  });
}

}  // namespace
