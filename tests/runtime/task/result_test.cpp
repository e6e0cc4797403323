// result_test.cpp: what a result, and its error code, say about a stop.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <exception>
#include <iterator>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/errors.hpp>
#include <tandem/result.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <type_traits>

#include "system.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::operation_cancelled;
using tandem::result;
using tandem::stop_reason;
using tandem::task;
using tandem::test::test_runtime;

constexpr stop_reason all_reasons[] = {stop_reason::user,      stop_reason::deadline,
                                       stop_reason::parent,    stop_reason::sibling_failed,
                                       stop_reason::race_lost, stop_reason::shutdown,
                                       stop_reason::discarded, stop_reason::migrate};

TEST(operation_cancelled, every_reason_is_a_cancellation_and_a_deadline_is_a_time_out_too) {
  for (const stop_reason each : all_reasons) {
    const operation_cancelled thrown(each);
    EXPECT_EQ(thrown.code(), std::errc::operation_canceled) << to_string(each);
    EXPECT_EQ(thrown.code() == std::errc::timed_out, each == stop_reason::deadline)
        << to_string(each);
    EXPECT_NE(thrown.code(), std::errc::interrupted) << to_string(each);
    const result<int> got(std::make_exception_ptr(thrown));
    EXPECT_EQ(got.error(), std::errc::operation_canceled);
    EXPECT_EQ(got.error() == std::errc::timed_out, each == stop_reason::deadline);
  }
  EXPECT_EQ(operation_cancelled(stop_reason::none).code(), std::errc::operation_canceled);
  EXPECT_TRUE(operation_cancelled(stop_reason::none).code()) << "it would be no error";
}

TEST(operation_cancelled, its_text_says_what_is_known_and_speaks_of_time_only_if_that_was_over) {
  const auto text_of = [](stop_reason reason) {
    const operation_cancelled thrown(reason);
    return std::string(thrown.what());
  };
  EXPECT_EQ(text_of(stop_reason::user), "stopped: the task was asked to stop");
  EXPECT_EQ(text_of(stop_reason::deadline), "stopped: its time limit was over");
  EXPECT_EQ(text_of(stop_reason::shutdown), "stopped: its runtime ends");
  const std::string generic = std::make_error_code(std::errc::operation_canceled).message();
  EXPECT_EQ(text_of(stop_reason::none), "stopped: " + generic);
  std::set<std::string> texts;
  for (const stop_reason each : all_reasons) {
    texts.insert(text_of(each));
    EXPECT_EQ(text_of(each), "stopped: " + tandem::make_error_code(each).message());
    EXPECT_EQ(text_of(each).find("time limit") != std::string::npos, each == stop_reason::deadline);
  }
  EXPECT_EQ(texts.size(), std::size(all_reasons)) << "each says something else";
  EXPECT_EQ(tandem::stop_category().message(0), "nobody has said why");
}

TEST(with_timeout, its_end_compares_equal_to_timed_out_however_it_is_looked_at) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto sleeps = []() -> task<int> {
      co_await tandem::sleep_for(10h);
      co_return 0;
    };
    const auto got = co_await tandem::as_result(tandem::with_timeout(1ms, sleeps()));
    EXPECT_EQ(got.error(), std::errc::timed_out);
    EXPECT_EQ(got.error(), std::errc::operation_canceled);
    try {
      co_await tandem::with_timeout(1ms, sleeps());
      ADD_FAILURE() << "it slept for hours";
    } catch (const std::system_error& failure) {
      EXPECT_EQ(failure.code(), std::errc::timed_out);
      EXPECT_EQ(failure.code(), std::errc::operation_canceled);
    }
  }());
}

// The leaf's result holds a code, and no exception.
TEST(with_timeout, a_leaf_that_it_ends_gives_a_code_that_is_timed_out) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    std::error_code seen;
    const auto looks = [](std::error_code& found) -> task<void> {
      const auto got = co_await tandem::as_result(tandem::sleep_for(10h));
      EXPECT_TRUE(got.is_cancelled());
      found = got.error();
    };
    co_await tandem::with_timeout(1ms, looks(seen));
    EXPECT_EQ(seen, std::errc::timed_out);
    EXPECT_EQ(seen, std::errc::operation_canceled);
  }());
}

TEST(result, a_constant_one_lends_its_value_or_throws) {
  const result<std::string> text(std::string("kept"));
  EXPECT_EQ(&text.value(), &text.value());
  EXPECT_EQ(text.value(), "kept");
  static_assert(std::is_same_v<decltype(text.value()), const std::string&>);
  int number = 3;
  const result<int&> target(number);
  target.value() = 4;
  EXPECT_EQ(number, 4);
  const result<> nothing;
  nothing.value();
  static_assert(std::is_void_v<decltype(nothing.value())>);
  const result<int> refused(std::make_error_code(std::errc::io_error));
  EXPECT_THROW((void)refused.value(), std::system_error);
  const result<> stopped(std::make_exception_ptr(operation_cancelled(stop_reason::user)));
  EXPECT_THROW(stopped.value(), operation_cancelled);
}

TEST(result, its_reason_is_which_stop_ended_it_and_null_for_everything_else) {
  EXPECT_EQ(result<int>(7).reason(), std::nullopt);
  EXPECT_EQ(result<>().reason(), std::nullopt);
  for (const stop_reason each : all_reasons) {
    EXPECT_EQ(result<int>(std::make_exception_ptr(operation_cancelled(each))).reason(), each);
    const result<int> of_code(make_error_code(each));
    EXPECT_EQ(of_code.reason(), each);
    EXPECT_TRUE(of_code.is_cancelled());
    try {
      of_code.exception() ? std::rethrow_exception(of_code.exception()) : void();
    } catch (const operation_cancelled& thrown) {
      EXPECT_EQ(thrown.reason(), each);
    }
  }
  const std::error_code others[] = {std::make_error_code(std::errc::timed_out),
                                    std::make_error_code(std::errc::connection_reset)};
  for (const std::error_code& each : others) {
    EXPECT_EQ(result<int>(each).reason(), std::nullopt);
    EXPECT_EQ(result<int>(std::make_exception_ptr(std::system_error(each))).reason(), std::nullopt);
  }
  EXPECT_EQ(result<int>(std::make_exception_ptr(std::logic_error("no"))).reason(), std::nullopt);
}

TEST(result, a_cancellation_that_does_not_say_why_has_the_reason_none) {
  const auto bare = std::make_error_code(std::errc::operation_canceled);
  EXPECT_EQ(result<int>(bare).reason(), stop_reason::none);
  EXPECT_EQ(result<int>(std::make_exception_ptr(std::system_error(bare))).reason(),
            stop_reason::none);
  EXPECT_EQ(result<int>(tandem::test::cancelled_by_system()).reason(), stop_reason::none);
}

TEST(result, tells_a_limit_from_a_failed_sibling) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto sleeps = []() -> task<void> { co_await tandem::sleep_for(10h); };
    const auto late = co_await tandem::as_result(tandem::with_timeout(1ms, sleeps()));
    EXPECT_EQ(late.reason(), stop_reason::deadline);
    std::optional<stop_reason> sibling;
    const auto looks = [](std::optional<stop_reason>& found) -> task<void> {
      found = (co_await tandem::as_result(tandem::sleep_for(10h))).reason();
    };
    const auto fails = []() -> task<void> {
      throw std::runtime_error("on purpose");
      co_return;
    };
    const auto body = [&](tandem::task_scope& scope) -> task<void> {
      scope.spawn(looks(sibling));
      scope.spawn(fails());
      co_return;
    };
    const auto got = co_await tandem::as_result(tandem::with_scope(body));
    EXPECT_EQ(got.reason(), std::nullopt);
    EXPECT_EQ(sibling, stop_reason::sibling_failed);
  }());
}

}  // namespace
