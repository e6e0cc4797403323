// priority_test.cpp: five levels, highest first, and ageing.
// SPDX-License-Identifier: MIT
#include <tandem/priority_scheduler.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <tandem/clock.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/sync_wait.hpp>
#include <vector>

#include "runtime/executors/executor_support.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

using namespace std::chrono_literals;
using tandem::event;
using tandem::join_handle;
using tandem::priority;
using tandem::priority_ageing;
using tandem::priority_scheduler;
using tandem::runtime;
using tandem::task;
using tandem::test::driven;
using tandem::test::note;
using tandem::test::simulated;
using tandem::test::test_runtime;

constexpr std::array every_level{priority::highest, priority::high, priority::normal, priority::low,
                                 priority::lowest};

/// '0' for the highest.
char letter_of(priority level) { return static_cast<char>('0' + static_cast<int>(level)); }

/// Keeps its level busy until it has noted so many letters.
task<void> keeps_busy(std::string& log, char letter, int segments) {
  for (int i = 0; i < segments; ++i) {
    log += letter;
    co_await tandem::yield();
  }
}

TEST(priority, the_highest_level_that_has_something_goes_first) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    runtime rt(simulated(seed, 1));
    priority_scheduler levels(rt.workers());
    std::string log;
    for (int i = 0; i < 3; ++i) {
      for (auto each = every_level.rbegin(); each != every_level.rend(); ++each) {
        rt.spawn(levels.level(*each), note(log, letter_of(*each))).detach();
      }
    }
    EXPECT_EQ(levels.waiting(priority::low), 3U);
    rt.run_until_idle();
    ASSERT_EQ(log, "000111222333444") << "seed " << seed;
  }
}

TEST(priority, equals_are_first_in_first_out) {
  runtime rt(simulated(9, 1));
  priority_scheduler levels(rt.workers());
  std::string log;
  for (char letter = 'a'; letter <= 'h'; ++letter) {
    rt.spawn(levels.level(priority::normal), note(log, letter, 2)).detach();
  }
  rt.run_until_idle();
  EXPECT_EQ(log, "abcdefghabcdefgh");
}

TEST(priority, a_segment_that_becomes_ready_late_overtakes_what_matters_less) {
  runtime rt(driven());
  priority_scheduler levels(rt.workers());
  event go;
  std::string log;
  rt.spawn(levels.level(priority::highest),
           [](event& e, std::string& letters) -> task<void> {
             co_await e;
             letters += '!';
           }(go, log))
      .detach();
  rt.run_until_idle();
  for (int i = 0; i < 5; ++i) rt.spawn(levels.level(priority::low), note(log, 'l')).detach();
  rt.spawn(levels.level(priority::high),
           [](event& e, std::string& letters) -> task<void> {
             letters += 'h';
             e.set();
             co_return;
           }(go, log))
      .detach();
  rt.run_until_idle();
  EXPECT_EQ(log, "h!lllll");
}

TEST(priority, without_ageing_low_ones_wait_as_long_as_it_takes) {
  runtime rt(driven());
  priority_scheduler levels(rt.workers());
  std::string log;
  rt.spawn(levels.level(priority::lowest), note(log, '.')).detach();
  rt.spawn(levels.level(priority::normal), keeps_busy(log, 'n', 10'000)).detach();
  rt.run_until_idle();
  std::string expected(10'001, 'n');
  expected.back() = '.';
  EXPECT_EQ(log, expected);
}

TEST(priority, with_ageing_by_items_a_low_one_runs_after_so_many_others) {
  runtime rt(driven());
  priority_scheduler levels(rt.workers(), priority_ageing().after_items(10));
  std::string log;
  for (int i = 0; i < 3; ++i) rt.spawn(levels.level(priority::lowest), note(log, '.')).detach();
  rt.spawn(levels.level(priority::normal), keeps_busy(log, 'n', 40)).detach();
  rt.run_until_idle();
  std::string expected(43, 'n');
  for (const std::size_t at : {10U, 21U, 32U}) expected[at] = '.';
  EXPECT_EQ(log, expected);
}

TEST(priority, with_ageing_by_items_every_level_runs_within_its_bound) {
  constexpr std::size_t limit = 20;
  runtime rt(driven());
  priority_scheduler levels(rt.workers(), priority_ageing().after_items(limit));
  std::string log;
  for (const priority each : every_level) {
    for (int i = 0; i < 3; ++i) {
      rt.spawn(levels.level(each), keeps_busy(log, letter_of(each), 1000)).detach();
    }
  }
  while (log.size() < 2000) (void)rt.poll(1);
  for (const priority each : every_level) {
    std::size_t last = 0;
    for (std::size_t at = 0; at < 2000; ++at) {
      if (log[at] != letter_of(each)) continue;
      ASSERT_LE(at - last, limit + tandem::priority_count) << "level " << letter_of(each);
      last = at;
    }
    ASSERT_GE(last, 2000 - limit - tandem::priority_count) << "level " << letter_of(each);
  }
}

TEST(priority, with_ageing_by_time_a_low_one_is_next_after_so_long) {
  runtime rt(driven());
  priority_scheduler levels(rt.workers(), priority_ageing().after_time(1ms));
  std::string log;
  rt.spawn(levels.level(priority::low), note(log, '.')).detach();
  for (int i = 0; i < 5; ++i) {
    rt.spawn(levels.level(priority::high),
             [](std::string& letters) -> task<void> {
               letters += 'h';
               const auto begun = tandem::now();
               while (tandem::now() - begun < 1ms) {}
               co_return;
             }(log))
        .detach();
  }
  rt.run_until_idle();
  // First only if this thread was kept for a millisecond before it ran anything.
  EXPECT_LE(log.find('.'), 1U) << log;
  EXPECT_EQ(log.size(), 6U);
}

TEST(priority, ageing_by_time_leaves_the_order_alone_before) {
  runtime rt(driven());
  priority_scheduler levels(rt.workers(), priority_ageing().after_time(1h));
  std::string log;
  for (int i = 0; i < 3; ++i) rt.spawn(levels.level(priority::low), note(log, '.')).detach();
  rt.spawn(levels.level(priority::high), keeps_busy(log, 'h', 100)).detach();
  rt.run_until_idle();
  std::string expected(103, '.');
  std::fill_n(expected.begin(), 100, 'h');
  EXPECT_EQ(log, expected);
}

TEST(priority, tasks_of_a_level_resume_there) {
  test_runtime rt(2);
  priority_scheduler levels(rt.workers());
  tandem::sync_wait(levels.level(priority::low), [](priority_scheduler own) -> task<void> {
    tandem::executor& low = own.level(priority::low);
    tandem::executor& high = own.level(priority::high);
    EXPECT_TRUE(low.is_current());
    co_await tandem::sleep_for(1us);
    EXPECT_TRUE(low.is_current());
    co_await tandem::resume_on(high);
    EXPECT_TRUE(high.is_current());
    EXPECT_FALSE(low.is_current());
  }(levels));
}

TEST(priority, levels_live_until_their_tasks_have_ended) {
  runtime rt(simulated(6, 2));
  event go;
  std::string log;
  {
    const priority_scheduler levels(rt.workers());
    rt.spawn(levels.level(priority::low),
             [](event& e, std::string& letters) -> task<void> {
               co_await e;
               co_await tandem::yield();
               letters += 'x';
             }(go, log))
        .detach();
  }
  rt.run_until_idle();
  go.set();
  rt.run_until_idle();
  EXPECT_EQ(log, "x");
}

TEST(priority, levels_have_names) {
  runtime rt(driven());
  const priority_scheduler levels(rt.workers());
  std::string names;
  for (const priority each : every_level) names += std::string(levels.level(each).name()) + ' ';
  EXPECT_EQ(names, "highest high normal low lowest ");
}

/// Of no runtime: a queue that the test empties.
class plain_executor final : public tandem::executor {
 public:
  void post(tandem::job* item, tandem::post_kind) noexcept override { queue_.push_back(item); }
  bool is_current() const noexcept override { return false; }
  runtime* owner() const noexcept override { return nullptr; }
  std::string_view name() const noexcept override { return "plain"; }
  void run_all() {
    while (tandem::job* const item = queue_.pop_front()) item->run(item);
  }

 private:
  tandem::job_list queue_;
};

// Found by review: it asked the runtime for the time, and there was none.
TEST(priority, ageing_by_time_works_on_an_executor_of_no_runtime) {
  static int ran = 0;
  ran = 0;
  plain_executor plain;
  priority_scheduler levels(plain, priority_ageing().after_time(1s));
  tandem::job low([](tandem::job*) noexcept { ran = ran * 10 + 1; });
  tandem::job high([](tandem::job*) noexcept { ran = ran * 10 + 2; });
  levels.level(priority::low).post(&low);
  levels.level(priority::high).post(&high);
  plain.run_all();
  EXPECT_EQ(ran, 21);
}

}  // namespace
