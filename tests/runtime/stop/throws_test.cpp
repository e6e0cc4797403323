// throws_test.cpp: what a stop costs: a throw for each frame of the user's that it leaves, none for the library's.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <tandem/channel.hpp>
#include <tandem/context.hpp>
#include <tandem/event.hpp>
#include <tandem/finally.hpp>
#include <tandem/for_each_concurrent.hpp>
#include <tandem/fork_each.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/latch.hpp>
#include <tandem/mutex.hpp>
#include <tandem/race.hpp>
#include <tandem/retry.hpp>
#include <tandem/semaphore.hpp>
#include <tandem/shielded.hpp>
#include <tandem/when_all.hpp>
#include <tandem/when_any.hpp>
#include <tandem/with_resource.hpp>

#include "counted_throws.hpp"
#include "runtime/support/sync_support.hpp"

TANDEM_TEST_COUNT_NEW

namespace tandem {

namespace {

using std::chrono::hours;
using test::test_runtime;

task<void> sleep_long() { co_await sleep_for(hours(1)); }

/// A frame of the user's above `depth` others, the lowest of which sleeps.
task<void> nested(int depth) {
  if (depth == 0) {
    co_await sleep_for(hours(1));
  } else {
    co_await nested(depth - 1);
  }
}

/// Fresh throws, rethrows, and calls of operator new, from the stop of a scope with `children` of
/// these until all have ended, once that has been done before.
std::array<long, 3> costs_of_stop(auto make, int children = 1) {
  test_runtime rt(1);
  std::array<long, 3> costs{};
  auto once = [&](task_scope& scope) -> task<void> {
    for (int i = 0; i < children; ++i) scope.spawn(make());
    co_await test::settle();
    const test::throw_count before = test::thrown();
    const long news = test::news();
    scope.request_stop();
    (void)co_await as_result(shielded(scope.join()));
    costs = {test::thrown().fresh - before.fresh, test::thrown().further - before.further,
             test::news() - news};
  };
  for (int i = 0; i < 2; ++i) {
    rt.run([](auto& body) -> task<void> { (void)co_await as_result(with_scope(body)); }(once));
  }
  return costs;
}

TEST(throws, a_sleeping_task_throws_once_in_its_own_frame_and_allocates_nothing) {
  EXPECT_EQ(costs_of_stop([] { return sleep_long(); }), (std::array<long, 3>{1, 0, 0}));
  EXPECT_EQ(costs_of_stop([] { return sleep_long(); }, 100), (std::array<long, 3>{100, 0, 0}));
}

TEST(throws, three_frames_of_the_users_are_one_throw_and_two_rethrows) {
  EXPECT_EQ(costs_of_stop([] { return nested(2); }), (std::array<long, 3>{1, 2, 0}));
}

TEST(throws, a_callable_that_is_kept_is_no_frame_of_the_users) {
  const auto kept = [] { return detail::hold_call([] { return sleep_long(); }); };
  EXPECT_EQ(costs_of_stop(kept), (std::array<long, 3>{1, 0, 0}));
}

TEST(throws, what_limits_or_joins_awaitables_throws_nothing_itself) {
  const std::array<long, 3> once{0, 1, 0};  // in the frame that awaits
  EXPECT_EQ(
      costs_of_stop([]() -> task<void> { co_await with_timeout(hours(2), sleep_for(hours(1))); }),
      once);
  EXPECT_EQ(costs_of_stop([]() -> task<void> {
              co_await when_all(sleep_for(hours(1)), sleep_for(hours(2)));
            }),
            once);
  EXPECT_EQ(costs_of_stop(
                []() -> task<void> { co_await race(sleep_for(hours(1)), sleep_for(hours(2))); }),
            once);
}

TEST(throws, waits_for_what_tasks_share_throw_nothing_below_a_limit) {
  const std::array<long, 3> once{0, 1, 0};  // in the frame that awaits the limit
  const auto limited = [once](const char* what, auto wait) {
    EXPECT_EQ(costs_of_stop([&wait]() -> task<void> { co_await with_timeout(hours(2), wait()); }),
              once)
        << what;
  };
  event never;
  limited("event", [&never] { return never.wait(); });
  mutex locked;
  ASSERT_TRUE(locked.try_lock());
  limited("mutex::lock", [&locked] { return locked.lock(); });
  limited("mutex::scoped_lock", [&locked] { return locked.scoped_lock(); });
  locked.unlock();
  semaphore none(0);
  limited("semaphore", [&none] { return none.scoped(2); });
  latch open(1);
  limited("latch", [&open] { return open.wait(); });
  channel<int> empty(1);
  limited("channel::receive", [&empty] { return empty.receive(); });
  channel<int> full(1);
  ASSERT_TRUE(full.try_send(1));
  limited("channel::send", [&full] { return full.send(2); });
}

TEST(throws, forks_scopes_and_bindings_throw_nothing_below_a_limit) {
  static context_local<int> number;
  EXPECT_EQ(costs_of_stop([]() -> task<void> {
              co_await with_timeout(hours(2), fork_join(sleep_long(), sleep_long()));
            }),
            (std::array<long, 3>{2, 1, 0}));
  EXPECT_EQ(costs_of_stop([]() -> task<void> {
              co_await with_timeout(hours(2),
                                    fork_each(2, [](std::size_t) { return sleep_long(); }));
            }),
            (std::array<long, 3>{2, 1, 0}));
  EXPECT_EQ(costs_of_stop([]() -> task<void> {
              co_await with_timeout(hours(2), with_context(number, 1, sleep_long()));
            }),
            (std::array<long, 3>{1, 1, 0}));
  EXPECT_EQ(costs_of_stop([]() -> task<void> {
              const auto body = [](task_scope&) { return sleep_long(); };
              co_await with_timeout(hours(2), with_scope(body));
            }),
            (std::array<long, 3>{1, 1, 0}));
}

TEST(throws, a_pause_between_attempts_throws_nothing_itself) {
  // The attempt fails at once; the stop comes between two of them.
  const auto fails = []() -> task<void> {
    throw std::runtime_error("planned");
    co_return;
  };
  const auto cost = costs_of_stop([fails] {
    return retry(fails,
                 retry_options().attempts(2).initial_delay(hours(1)).jitter(retry_jitter::none));
  });
  EXPECT_EQ(cost[0] + cost[1], 1)
      << "the failure of the attempt is reported, and its text asked for";
}

TEST(throws, tasks_of_the_users_throw_once_each_and_whoever_awaits_them_once) {
  EXPECT_EQ(costs_of_stop([]() -> task<void> { co_await with_timeout(hours(2), sleep_long()); }),
            (std::array<long, 3>{1, 1, 0}));
  EXPECT_EQ(costs_of_stop([]() -> task<void> { co_await when_all(sleep_long(), sleep_long()); }),
            (std::array<long, 3>{2, 1, 0}));
  EXPECT_EQ(costs_of_stop([]() -> task<void> { co_await race(sleep_long(), sleep_long()); }),
            (std::array<long, 3>{2, 1, 0}));
}

TEST(throws, for_each_concurrent_throws_nothing_itself) {
  static constexpr std::array<int, 5> items{1, 2, 3, 4, 5};
  EXPECT_EQ(costs_of_stop([]() -> task<void> {
              co_await for_each_concurrent(items, 2, [](int) { return sleep_long(); });
            }),
            (std::array<long, 3>{2, 1, 0}));
}

TEST(throws, clean_ups_resources_and_attempts_throw_nothing_themselves) {
  const auto nothing = []() -> task<void> { co_return; };
  EXPECT_EQ(costs_of_stop([nothing]() -> task<void> { return finally(sleep_long(), nothing); }),
            (std::array<long, 3>{1, 0, 0}));
  EXPECT_EQ(costs_of_stop([] {
              return with_resource(
                  1, [](int&) { return sleep_long(); }, [](int&) -> task<void> { co_return; });
            }),
            (std::array<long, 3>{1, 0, 0}));
  const auto fails = []() -> task<void> {
    co_await sleep_for(hours(1));
    co_return;
  };
  EXPECT_EQ(costs_of_stop([fails] { return retry(fails, retry_options().attempts(1)); }),
            (std::array<long, 3>{1, 0, 0}));
}

TEST(throws, a_result_is_asked_for_without_a_throw) {
  const std::array<long, 3> once{1, 0, 0};  // in the sleeper's frame
  EXPECT_EQ(costs_of_stop([]() -> task<void> {
              const auto got = co_await as_result(with_timeout(hours(2), sleep_long()));
              EXPECT_TRUE(got.is_cancelled());
              EXPECT_EQ(got.reason(), stop_reason::user);
              EXPECT_EQ(got.error(), std::errc::operation_canceled);
            }),
            once);
  EXPECT_EQ(costs_of_stop([]() -> task<void> {
              const auto got = co_await as_result(when_all(sleep_long()));
              EXPECT_EQ(got.reason(), stop_reason::user);
            }),
            once);
}

}  // namespace

}  // namespace tandem
