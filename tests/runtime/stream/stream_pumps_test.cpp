// stream_pumps_test.cpp: streams whose items are made by tasks beside them: merge, buffered.
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <atomic>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/runtime.hpp>
#include <tandem/strand.hpp>
#include <tandem/timeout.hpp>

#include "runtime/stream/stream_support.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::flow;
using tandem::for_each;
using tandem::stream;
using tandem::task;
using tandem::test::by_virtual_time;
using tandem::test::count_to;
using tandem::test::ints;
using tandem::test::planned_failure;
using tandem::test::slowly_to;
using tandem::test::test_runtime;
using tandem::test::watched;
namespace streams = tandem::streams;

ints sorted(ints all) {
  std::sort(all.begin(), all.end());
  return all;
}

TEST(merge, has_the_items_of_all_as_they_come) {
  by_virtual_time([]() -> task<void> {
    const auto got1 =
        co_await (streams::merge(slowly_to(2, 30ms), slowly_to(3, 20ms)) | streams::collect());
    EXPECT_EQ(got1, (ints{1, 1, 2, 2, 3}));
    EXPECT_EQ(co_await streams::collect(streams::merge(std::vector<stream<int>>())), ints());
    std::vector<stream<int>> many;
    for (int i = 0; i < 20; ++i) many.push_back(count_to(i));
    EXPECT_EQ((co_await streams::collect(streams::merge(std::move(many)))).size(), 190U);
  }());
}

TEST(merge, runs_each_source_one_item_ahead) {
  by_virtual_time([]() -> task<void> {
    int made = 0;
    co_await for_each(streams::merge(count_to(100) | streams::map([&](int i) {
                                       ++made;
                                       return i;
                                     })),
                      [&](int i) -> task<void> {
                        co_await tandem::sleep_for(1s);
                        EXPECT_EQ(made, i);
                      });
  }());
}

TEST(merge, the_first_failure_stops_the_others_and_their_ends_are_awaited) {
  EXPECT_EQ(0, by_virtual_time([]() -> task<void> {
              watched around;
              const auto fails = []() -> stream<int> {
                co_await tandem::sleep_for(5ms);
                co_yield 1;
                throw planned_failure();
              };
              EXPECT_THROW(co_await for_each(
                               streams::merge(around.items(slowly_to(9, 1h)), around.items(fails()),
                                              around.items(slowly_to(99, 1ms))),
                               [](int) {}),
                           planned_failure);
              EXPECT_EQ(around.opened(), 3);
              EXPECT_EQ(around.open(), 0);
            }()));
}

TEST(buffered, keeps_the_order_and_runs_so_many_at_once) {
  by_virtual_time([]() -> task<void> {
    int running = 0, most = 0;
    const auto work = [&](int i) -> task<int> {
      most = std::max(most, ++running);
      co_await tandem::sleep_for(std::chrono::milliseconds(50 - i));
      --running;
      co_return i;
    };
    const auto start = tandem::now();
    const ints got = co_await (count_to(20) | streams::buffered(5, work) | streams::collect());
    EXPECT_EQ(got, co_await streams::collect(count_to(20)));
    EXPECT_EQ(most, 5);
    EXPECT_LT(tandem::now() - start, 250ms);  // one after the other: 790
    most = 0;
    const ints mixed =
        co_await (count_to(20) | streams::buffered_unordered(4, work) | streams::collect());
    EXPECT_NE(mixed, got);
    EXPECT_EQ(sorted(mixed), got);
    EXPECT_EQ(most, 4);
  }());
}

TEST(buffered, waits_for_a_slow_consumer) {
  by_virtual_time([]() -> task<void> {
    int begun = 0;
    const auto work = [&](int i) -> task<int> {
      ++begun;
      co_return i;
    };
    for (const bool ordered : {true, false}) {
      begun = 0;
      auto made = ordered ? streams::buffered(count_to(100), 4, work)
                          : streams::buffered_unordered(count_to(100), 4, work);
      co_await for_each(std::move(made), [&](int i) -> task<void> {
        co_await tandem::sleep_for(1s);
        EXPECT_LE(begun, i + 3);
      });
    }
  }());
}

TEST(buffered, a_failure_comes_in_order_and_stops_what_was_begun) {
  EXPECT_EQ(0, by_virtual_time([]() -> task<void> {
              ints got;
              int stopped = 0;
              const auto work = [&](int i) -> task<int> {
                if (i == 3) throw planned_failure();
                try {
                  co_await tandem::sleep_for(i > 3 ? std::chrono::nanoseconds(1h) : 10ms);
                } catch (const tandem::operation_cancelled&) {
                  ++stopped;
                  throw;
                }
                co_return i;
              };
              EXPECT_THROW(co_await for_each(count_to(9) | streams::buffered(5, work),
                                             [&](int i) { got.push_back(i); }),
                           planned_failure);
              EXPECT_EQ(got, (ints{1, 2}));
              EXPECT_EQ(stopped, 4);  // 4 and 5, and what was begun when 1 and 2 were taken
              got.clear();
              EXPECT_THROW(co_await for_each(count_to(9) | streams::buffered_unordered(5, work),
                                             [&](int i) { got.push_back(i); }),
                           planned_failure);
              EXPECT_EQ(got, ints());
            }()));
}

TEST(buffered, refuses_none_at_once) {
  EXPECT_THROW((void)streams::buffered(count_to(1), 0, [](int i) -> task<int> { co_return i; }),
               std::invalid_argument);
}

/// Goes on when the runtime stops everybody.
task<void> until_shutdown(tandem::event& told) {
  try {
    co_await tandem::sleep_for(1h);
  } catch (const tandem::operation_cancelled&) {
    told.set();
  }
}
stream<std::string> texts() {
  for (int i = 0;; ++i) co_yield std::string(100, static_cast<char>('a' + i));
}
task<void> take_one(tandem::event& taken, tandem::event& go_on, std::vector<std::string>& got) {
  co_await for_each(streams::merge(texts(), texts()), [&](const std::string& text) -> task<flow> {
    taken.set();
    co_await tandem::shielded(go_on.wait());
    got.push_back(text);  // still there, though all tasks were stopped
    co_return flow::leave;
  });
}

TEST(pumps, are_not_stopped_under_a_consumer_by_the_end_of_the_runtime) {
  for (int round = 0; round < 20; ++round) {
    tandem::event taken, go_on;
    std::vector<std::string> got;
    test_runtime rt(2);
    auto consumer = rt->spawn(take_one(taken, go_on, got));
    auto watcher = rt->spawn(until_shutdown(go_on));
    rt.run([](tandem::event& t) -> task<void> { co_await t.wait(); }(taken));
    rt->shutdown();
    watcher.wait();
    consumer.wait();
    ASSERT_EQ(got.size(), 1U);
    EXPECT_EQ(got[0], std::string(100, 'a'));
  }
}

TEST(pumps, run_where_the_first_item_is_asked_for) {
  test_runtime rt(2);
  tandem::strand line(rt.workers());
  rt.run([](tandem::executor& at) -> task<void> {
    co_await tandem::resume_on(at);
    int unguarded = 0;
    const auto work = [&](int i) -> task<int> {
      ++unguarded;
      co_await tandem::yield();
      co_return i;
    };
    co_await for_each(count_to(500) | streams::buffered_unordered(8, work),
                      [&](int) { ++unguarded; });
    EXPECT_EQ(unguarded, 1000);
  }(line));
}

}  // namespace
