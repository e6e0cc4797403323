// race_test.cpp: the first to end decides; what must not be dropped may not race.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/channel.hpp>
#include <tandem/mutex.hpp>
#include <tandem/race.hpp>
#include <tandem/shielded.hpp>
#include <tandem/sleep.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <variant>
#include <vector>

#include "recording_runtime.hpp"
#include "runtime/combine/timed_children.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::operation_cancelled;
using tandem::race;
using tandem::stop_reason;
using tandem::task;
using tandem::test::fails;
using tandem::test::late;
using tandem::test::recording_runtime;
using tandem::test::test_runtime;

task<int> number(int n) { co_return n; }

/// What accept and receive look like.
class lossy_awaiter {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = std::true_type;
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  int await_resume() const noexcept { return 1; }
};
static_assert(tandem::detail::lossy_when_dropped<lossy_awaiter>);
static_assert(tandem::detail::lossy_when_dropped<decltype(tandem::as_result(lossy_awaiter()))>);
static_assert(!tandem::detail::lossy_when_dropped<tandem::sleep_awaiter>);
static_assert(!tandem::detail::lossy_when_dropped<task<int>>);
static_assert(tandem::detail::lossy_when_dropped<tandem::mutex_awaiter>);
static_assert(!tandem::detail::lossy_when_dropped<tandem::scoped_mutex_awaiter>);
static_assert(tandem::detail::lossy_when_dropped<tandem::receive_awaiter<int>>);
static_assert(!tandem::detail::may_race<task<int>, lossy_awaiter>);
// Found by review: a block around it hid what must not be dropped.
static_assert(tandem::detail::lossy_when_dropped<
              decltype(tandem::with_timeout(std::chrono::seconds(1), lossy_awaiter()))>);
static_assert(tandem::detail::lossy_when_dropped<decltype(tandem::shielded(lossy_awaiter()))>);

TEST(race, yields_the_value_of_the_first) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    EXPECT_EQ(co_await race(late(1, 10h), late(2, 100us), late(3, 10h)), 2);
    EXPECT_EQ(co_await race(number(4), late(5, 10h)), 4);
    EXPECT_EQ(co_await race(number(6)), 6);
    co_await race(tandem::sleep_for(10h), tandem::sleep_for(10us));
    static_assert(std::is_void_v<decltype(race(tandem::sleep_for(1s)).await_resume())>);
  }());
}

TEST(race, of_different_types_yields_a_variant_that_says_who) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto text = []() -> task<std::string> {
      co_return "a string that is on the heap, surely";
    };
    auto first = co_await race(late(1, 10h), tandem::sleep_for(10h), text());
    static_assert(std::is_same_v<decltype(first), std::variant<int, std::monostate, std::string>>);
    EXPECT_EQ(first.index(), 2U);
    EXPECT_EQ(std::get<2>(first), "a string that is on the heap, surely");
    auto second = co_await race(late(1, 10h), tandem::sleep_for(10us));
    EXPECT_EQ(second.index(), 1U);
  }());
}

TEST(race, references_and_move_only_values_come_through) {
  test_runtime rt;
  int target = 0;
  rt.run([](int& t) -> task<void> {
    const auto refer = [](int& r) -> task<int&> { co_return r; };
    EXPECT_EQ(&co_await race(refer(t), refer(t)), &t);
    const auto own = [](int n) -> task<std::unique_ptr<int>> {
      co_return std::make_unique<int>(n);
    };
    EXPECT_EQ(*co_await race(own(1), own(1)), 1);
  }(target));
}

TEST(race, of_a_range_yields_one_value) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto children = std::views::iota(0, 20) | std::views::transform([](int i) {
                            return i == 13 ? late(i, 200us) : late(i, 10h);
                          });
    EXPECT_EQ(co_await race(children), 13);
  }());
  EXPECT_THROW((void)race(std::vector<task<int>>()), std::invalid_argument);
}

TEST(race, a_failure_that_is_first_is_thrown_and_a_later_one_is_reported) {
  recording_runtime rt(1);
  rt.run([]() -> task<void> {
    const auto got = co_await tandem::as_result(race(late(1, 10h), fails(100us, "first")));
    EXPECT_THROW(const_cast<tandem::result<int>&>(got).value(), std::runtime_error);
    const auto spiteful = []() -> task<int> {
      const auto slept = co_await tandem::as_result(tandem::sleep_for(10h));
      EXPECT_TRUE(slept.is_cancelled());
      EXPECT_EQ(tandem::current_stop_reason(), stop_reason::race_lost);
      throw std::logic_error("lost, and broken");
    };
    EXPECT_EQ(co_await race(spiteful(), late(2, 100us)), 2);
  }());
  EXPECT_EQ(rt.suppressed(), (std::vector<std::string>{"lost, and broken"}));
}

TEST(race, a_stop_of_the_caller_comes_out_as_a_cancellation) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    try {
      co_await tandem::with_timeout(1ms, race(late(1, 10h), late(2, 10h)));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const operation_cancelled& e) {
      EXPECT_EQ(e.reason(), stop_reason::deadline);
    }
  }());
}

TEST(race, ends_that_meet_have_one_winner) {
  test_runtime rt(4);
  rt.run([]() -> task<void> {
    for (int i = 0; i < 1000; ++i) {
      const int got = co_await race(late(1, std::chrono::microseconds(i % 7)), late(2, 3us),
                                    number(i % 3 == 0 ? 3 : 4));
      EXPECT_TRUE(got >= 1 && got <= 4);
    }
  }());
}

}  // namespace
