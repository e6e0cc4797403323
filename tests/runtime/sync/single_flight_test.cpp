// single_flight_test.cpp: one call for each key at a time, shared by all that ask for it.
// SPDX-License-Identifier: MIT
#include <tandem/single_flight.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/sleep.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <utility>

#include "virtual_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::operation_cancelled;
using tandem::single_flight;
using tandem::task;
using tandem::test::on_virtual_clock;
using tandem::test::test_runtime;

/// Counts its calls.
class loader {
 public:
  task<std::string> load(std::string key) {
    ++begun_;
    const auto slept = co_await tandem::as_result(tandem::sleep_for(5ms));
    if (!slept) ++stopped_;
    if (!slept) throw operation_cancelled(*slept.reason());
    if (fails_) throw std::runtime_error(key);
    co_return key + std::to_string(begun_);
  }
  void fail(bool does) { fails_ = does; }
  int begun() const { return begun_; }
  int stopped() const { return stopped_; }

 private:
  int begun_ = 0;
  int stopped_ = 0;
  bool fails_ = false;
};

/// A loader behind a single_flight.
class shared_loader {
 public:
  task<std::string> ask(const std::string& key) {
    return flights_.run(key, [this](const std::string& k) { return from_.load(k); });
  }
  loader& from() { return from_; }
  std::size_t in_flight() const { return flights_.in_flight(); }

 private:
  loader from_;
  single_flight<std::string, std::string> flights_;
};

TEST(single_flight, those_that_ask_meanwhile_share_one_call_and_later_ones_begin_another) {
  test_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    shared_loader all;
    const auto late = [&all]() -> task<std::string> {
      co_await tandem::sleep_for(2ms);
      EXPECT_EQ(all.in_flight(), 2U);
      co_return co_await all.ask("a");
    };
    auto [a, b, other, c] =
        co_await tandem::when_all(all.ask("a"), all.ask("a"), all.ask("b"), late());
    EXPECT_EQ(a, b);
    EXPECT_EQ(a, c);
    EXPECT_NE(a, other);
    EXPECT_EQ(all.from().begun(), 2);
    EXPECT_EQ(all.in_flight(), 0U);
    EXPECT_EQ(co_await all.ask("a"), "a3");
  }());
}

TEST(single_flight, a_failure_is_shared_and_not_remembered) {
  test_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    shared_loader all;
    all.from().fail(true);
    const auto fails = [&all]() -> task<bool> {
      co_return !(co_await tandem::as_result(all.ask("a"))).has_value();
    };
    auto [a, b] = co_await tandem::when_all(fails(), fails());
    EXPECT_TRUE(a && b);
    EXPECT_EQ(all.from().begun(), 1);
    all.from().fail(false);
    EXPECT_EQ(co_await all.ask("a"), "a2");
  }());
}

TEST(single_flight, a_caller_that_is_stopped_leaves_the_call_to_the_others) {
  test_runtime rt(on_virtual_clock());
  rt.run([]() -> task<void> {
    shared_loader all;
    const auto gives_up = [&all]() -> task<bool> {
      const auto got = co_await tandem::as_result(tandem::with_timeout(1ms, all.ask("a")));
      co_return got.is_cancelled();
    };
    auto [gone, value] = co_await tandem::when_all(gives_up(), all.ask("a"));
    EXPECT_TRUE(gone);
    EXPECT_EQ(value, "a1");
    EXPECT_EQ(all.from().stopped(), 0);
  }());
}

TEST(single_flight, a_call_that_everybody_has_left_is_stopped_and_not_joined_any_more) {
  test_runtime rt(on_virtual_clock());
  shared_loader all;
  rt.run([](shared_loader& from) -> task<void> {
    EXPECT_THROW((void)co_await tandem::with_timeout(1ms, from.ask("a")), operation_cancelled);
    EXPECT_EQ(co_await from.ask("a"), "a2");
  }(all));
  EXPECT_TRUE(rt->drain(60s));
  EXPECT_EQ(all.from().stopped(), 1);
  EXPECT_EQ(all.in_flight(), 0U);
}

TEST(single_flight, may_go_while_a_call_is_being_stopped) {
  test_runtime rt(on_virtual_clock());
  loader from;
  rt.run([](loader& l) -> task<void> {
    single_flight<int, std::string> flights;
    const auto make = [&l] { return l.load("x"); };
    EXPECT_THROW((void)co_await tandem::with_timeout(1ms, flights.run(1, make)),
                 operation_cancelled);
  }(from));
  EXPECT_TRUE(rt->drain(60s));
  EXPECT_EQ(from.stopped(), 1);
}

TEST(single_flight, yields_nothing_if_that_is_what_the_calls_yield) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    single_flight<int, void> flights;
    int called = 0;
    const auto make = [&called]() -> task<void> {
      ++called;
      co_return;
    };
    co_await flights.run(1, make);
    co_await flights.run(1, make);
    EXPECT_EQ(called, 2);
    EXPECT_THROW(co_await flights.run(1, []() -> task<void> { throw std::logic_error("at once"); }),
                 std::logic_error);
    { [[maybe_unused]] const auto dropped = flights.run(1, make); }
    EXPECT_EQ(flights.in_flight(), 0U);
  }());
}

}  // namespace
