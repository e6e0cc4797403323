// finally_test.cpp: clean-up runs once, however the body ended, and nobody's stop reaches it.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/finally.hpp>
#include <tandem/sleep.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_resource.hpp>
#include <tandem/with_stop.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "recording_runtime.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::finally;
using tandem::operation_cancelled;
using tandem::stop_reason;
using tandem::task;
using tandem::with_resource;
using tandem::test::recording_runtime;
using tandem::test::test_runtime;

using log = std::vector<std::string>;

task<int> body(log& at, int n, bool fails = false) {
  at.emplace_back("body");
  co_await tandem::yield();
  if (fails) throw std::runtime_error("body failed");
  co_return n;
}
task<void> clean(log& at, bool fails = false) {
  at.emplace_back("clean");
  co_await tandem::sleep_for(10us);
  EXPECT_FALSE(tandem::stop_requested());
  at.emplace_back("cleaned");
  if (fails) throw std::logic_error("clean-up failed");
}
const log all_of_it{"body", "clean", "cleaned"};

TEST(finally, after_a_value_the_clean_up_runs_and_the_value_comes_out) {
  test_runtime rt;
  log seen;
  rt.run([](log& at) -> task<void> {
    EXPECT_EQ(co_await finally(body(at, 4), clean(at)), 4);
    EXPECT_EQ(at, all_of_it);
    at.clear();
    EXPECT_EQ(co_await finally(body(at, 5), [&at] { return clean(at); }), 5);
    EXPECT_EQ(at, all_of_it);
    const auto own = []() -> task<std::unique_ptr<int>> { co_return std::make_unique<int>(6); };
    EXPECT_EQ(*co_await finally(own(), tandem::yield()), 6);
  }(seen));
}

TEST(finally, after_a_failure_the_clean_up_runs_and_the_failure_comes_out) {
  test_runtime rt;
  log seen;
  EXPECT_THROW(rt.run([](log& at) -> task<void> {
    (void)co_await finally(body(at, 0, true), clean(at));
  }(seen)),
               std::runtime_error);
  EXPECT_EQ(seen, all_of_it);
}

TEST(finally, after_a_cancellation_the_clean_up_runs_unstopped) {
  test_runtime rt;
  log seen;
  rt.run([](log& at) -> task<void> {
    const auto sleeps = [](log& l) -> task<void> {
      l.emplace_back("body");
      co_await tandem::sleep_for(10h);
    };
    const auto got =
        co_await tandem::as_result(tandem::with_timeout(100us, finally(sleeps(at), clean(at))));
    EXPECT_TRUE(got.is_cancelled());
  }(seen));
  EXPECT_EQ(seen, all_of_it);
}

TEST(finally, a_stop_during_the_clean_up_does_not_reach_it) {
  test_runtime rt;
  log seen;
  rt.run([](log& at) -> task<void> {
    std::stop_source source;
    const auto stops = [&source](log& l) -> task<void> {
      l.emplace_back("clean");
      source.request_stop();
      co_await tandem::sleep_for(100us);
      l.emplace_back("cleaned");
    };
    auto guarded = finally(body(at, 3), [&] { return stops(at); });
    EXPECT_EQ(co_await tandem::with_stop(source.get_token(), std::move(guarded)), 3);
  }(seen));
  EXPECT_EQ(seen, all_of_it);
}

TEST(finally, a_clean_up_that_fails_is_thrown_after_a_value_and_reported_after_a_failure) {
  recording_runtime rt;
  log seen;
  EXPECT_THROW(rt.run([](log& at) -> task<void> {
    (void)co_await finally(body(at, 1), clean(at, true));
  }(seen)),
               std::logic_error);
  EXPECT_THROW(rt.run([](log& at) -> task<void> {
    (void)co_await finally(body(at, 1, true), clean(at, true));
  }(seen)),
               std::runtime_error);
  EXPECT_THROW(rt.run([](log& at) -> task<void> {
    const auto no_task = []() -> task<void> { throw std::out_of_range("no clean-up"); };
    (void)co_await finally(body(at, 1, true), no_task);
  }(seen)),
               std::runtime_error);
  EXPECT_EQ(rt.suppressed(), (log{"clean-up failed", "no clean-up"}));
}

TEST(finally, the_grace_period_ends_a_clean_up_that_hangs) {
  recording_runtime rt;
  rt.run([]() -> task<void> {
    const auto ready = []() -> task<int> { co_return 1; };
    try {
      (void)co_await finally(ready(), tandem::sleep_for(10h), 1ms);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const operation_cancelled& e) {
      EXPECT_EQ(e.reason(), stop_reason::deadline);
    }
    const auto got = co_await tandem::as_result(
        tandem::with_timeout(100us, finally(tandem::sleep_for(10h), tandem::sleep_for(10h), 1ms)));
    EXPECT_TRUE(got.is_cancelled());
  }());
  EXPECT_EQ(rt.suppressed(), (log{"stopped: its time limit was over"}));
}

TEST(finally, destroyed_before_its_start_it_runs_neither) {
  log seen;
  { auto unused = finally(body(seen, 1), clean(seen)); }
  EXPECT_EQ(seen, log());
}

TEST(finally, nests_and_the_innermost_clean_up_runs_first) {
  test_runtime rt;
  std::string order;
  rt.run([](std::string& o) -> task<void> {
    const auto say = [](std::string& to, char c) -> task<void> {
      co_await tandem::yield();
      to += c;
    };
    co_await finally(finally(say(o, 'a'), say(o, 'b')), say(o, 'c'));
  }(order));
  EXPECT_EQ(order, "abc");
}

task<int> nested(int depth) {
  if (depth == 0) co_return 0;
  const auto nothing = []() -> task<void> { co_return; };
  co_return 1 + co_await finally(nested(depth - 1), nothing);
}

TEST(finally, twenty_thousand_levels_are_no_stack_depth) {
  test_runtime rt;
  EXPECT_EQ(rt.run(nested(20'000)), 20'000);
}

/// Says what is done to it.
class connection {
 public:
  explicit connection(log& at) : at_(&at) {}
  connection(connection&&) noexcept = default;
  task<int> query() {
    at_->emplace_back("query");
    co_await tandem::yield();
    co_return 9;
  }
  task<void> sleep() {
    at_->emplace_back("sleep");
    co_await tandem::sleep_for(10h);
  }
  task<void> close() {
    co_await tandem::yield();
    at_->emplace_back("close");
  }

 private:
  log* at_;
};
task<connection> connects(log& at) {
  co_await tandem::yield();
  at.emplace_back("connect");
  co_return connection(at);
}

TEST(with_resource, acquires_uses_and_releases_in_this_order) {
  test_runtime rt;
  log seen;
  rt.run([](log& at) -> task<void> {
    EXPECT_EQ(co_await with_resource(
                  connects(at), [](connection& c) { return c.query(); },
                  [](connection& c) { return c.close(); }),
              9);
    EXPECT_EQ(at, (log{"connect", "query", "close"}));
    at.clear();
    EXPECT_EQ(co_await with_resource(connection(at), &connection::query, &connection::close), 9);
  }(seen));
  EXPECT_EQ(seen, (log{"query", "close"}));
}

TEST(with_resource, releases_after_a_failure_and_after_a_stop) {
  test_runtime rt;
  log seen;
  rt.run([](log& at) -> task<void> {
    const auto no_task = [](connection&) -> task<void> { throw std::runtime_error("use"); };
    auto failed =
        co_await tandem::as_result(with_resource(connects(at), no_task, &connection::close));
    EXPECT_THROW(failed.value(), std::runtime_error);
    std::stop_source source;
    const auto stops_and_sleeps = [&source](connection& c) -> task<void> {
      source.request_stop();
      co_await c.sleep();
    };
    auto used = with_resource(connects(at), stops_and_sleeps, &connection::close);
    auto stopped =
        co_await tandem::as_result(tandem::with_stop(source.get_token(), std::move(used)));
    EXPECT_TRUE(stopped.is_cancelled());
  }(seen));
  EXPECT_EQ(seen, (log{"connect", "close", "connect", "sleep", "close"}));
}

TEST(with_resource, without_a_resource_nothing_is_used_or_released) {
  test_runtime rt;
  log seen;
  rt.run([](log& at) -> task<void> {
    const auto refuses = []() -> task<connection> {
      co_await tandem::yield();
      throw std::runtime_error("refused");
    };
    auto got = co_await tandem::as_result(
        with_resource(refuses(), &connection::query, &connection::close));
    EXPECT_THROW(got.value(), std::runtime_error);
    (void)at;
  }(seen));
  EXPECT_EQ(seen, log());
}

}  // namespace
