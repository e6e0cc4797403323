// name_counts_test.cpp: what tasks of one name have done, by the virtual clock.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <string>
#include <tandem/channel.hpp>
#include <tandem/environment.hpp>
#include <tandem/event.hpp>
#include <tandem/pool_change.hpp>
#include <tandem/runtime.hpp>
#include <tandem/runtime_metrics.hpp>
#include <tandem/sleep.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "exposition_parser.hpp"
#include "simulated.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::runtime;
using tandem::task;
using tandem::task_counts;
using tandem::test::exposition;
using tandem::test::simulated;
using tandem::test::work;

tandem::runtime_options counted(std::uint64_t seed, unsigned workers = 1) {
  tandem::runtime_options options = simulated(seed, workers);
  options.count_tasks_by_name = true;
  return options;
}

void name_it(const char* name) { tandem::current_environment()->set_name(name); }

std::string told(const task_counts& of) {
  using ms = std::chrono::duration<double, std::milli>;
  return of.name + ": ended=" + std::to_string(of.ended) + " waits=" + std::to_string(of.waits) +
         " wakes=" + std::to_string(of.wakes) + " stalls=" + std::to_string(of.stalls) +
         " run=" + std::to_string(static_cast<long>(ms(of.run).count())) +
         " queued=" + std::to_string(static_cast<long>(ms(of.queue_wait).count()));
}

std::vector<std::string> told(const runtime& rt) {
  std::vector<std::string> out;
  for (const task_counts& each : rt.metrics().by_name) out.push_back(told(each));
  return out;
}

task<void> waits(tandem::event& go) {
  name_it("waits");
  work(1ms);
  co_await go.wait();
  work(4ms);
}

task<void> wakes(tandem::event& go) {
  name_it("wakes");
  work(6ms);  // a stall
  go.set();
  work(2ms);
  co_return;
}

TEST(name_counts, hold_runs_waits_wakes_and_stalls_of_each_name_exactly) {
  runtime rt(counted(1));
  tandem::event go;
  rt.spawn(waits(go)).detach();
  rt.run_until_idle();
  rt.spawn(wakes(go)).detach();
  rt.run_until_idle();
  const std::vector<std::string> expected{
      "waits: ended=1 waits=1 wakes=0 stalls=0 run=5 queued=2",
      "wakes: ended=1 waits=0 wakes=1 stalls=1 run=8 queued=0",
  };
  EXPECT_EQ(told(rt), expected);
}

task<void> twice_named() {
  name_it("first");
  work(1ms);
  co_await tandem::sleep_for(1ms);
  name_it("second");
  work(2ms);
}

TEST(name_counts, what_a_segment_did_counts_for_the_name_that_the_task_has_at_its_end) {
  runtime rt(counted(1));
  rt.spawn(twice_named()).wait();
  const std::vector<std::string> expected{
      "first: ended=0 waits=1 wakes=0 stalls=0 run=1 queued=0",
      "second: ended=1 waits=0 wakes=0 stalls=0 run=2 queued=0",
  };
  EXPECT_EQ(told(rt), expected);
}

task<int> part(int number) {
  co_await tandem::yield();
  work(1ms);
  co_return number;
}

task<void> of_parts() {
  name_it("of parts");
  (void)co_await tandem::when_all(part(1), part(2));
}

TEST(name_counts, parts_count_for_their_task) {
  runtime rt(counted(1));
  rt.spawn(of_parts()).wait();
  const std::vector<task_counts> all = rt.metrics().by_name;
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].name, "of parts");
  EXPECT_EQ(all[0].run, 2ms);
  EXPECT_GE(all[0].waits, 2U);
}

task<void> called(const char* name) {
  name_it(name);
  work(1ms);
  co_return;
}

TEST(name_counts, equal_texts_are_one_name_wherever_they_lie) {
  const std::string one = "same";
  const std::string two = "same";
  runtime rt(counted(1));
  rt.spawn(called(one.c_str())).wait();
  rt.spawn(called(two.c_str())).wait();
  EXPECT_EQ(told(rt),
            std::vector<std::string>({"same: ended=2 waits=0 wakes=0 stalls=0 run=2 queued=0"}));
}

TEST(name_counts, names_beyond_256_are_summed_as_other) {
  std::deque<std::string> names;  // which stay where they are
  for (int i = 0; i < 300; ++i) names.push_back("name " + std::to_string(i));
  names.emplace_back("other");
  runtime rt(counted(1));
  for (const std::string& each : names) rt.spawn(called(each.c_str())).wait();
  const std::vector<task_counts> all = rt.metrics().by_name;
  // That of those without a name has a place, too; nothing was counted for it.
  ASSERT_EQ(all.size(), 256U);
  EXPECT_EQ(all.front().name, "name 0");
  EXPECT_EQ(all.back().name, "other");
  EXPECT_EQ(all.back().ended, 46U);
  std::uint64_t ended = 0;
  for (const task_counts& each : all) ended += each.ended;
  EXPECT_EQ(ended, names.size());
}

TEST(name_counts, a_name_of_somebody_that_is_other_is_not_there_twice) {
  std::deque<std::string> names{"other"};
  for (int i = 0; i < 300; ++i) names.push_back("name " + std::to_string(i));
  runtime rt(counted(1));
  for (const std::string& each : names) rt.spawn(called(each.c_str())).wait();
  const std::vector<task_counts> all = rt.metrics().by_name;
  EXPECT_EQ(std::count_if(all.begin(), all.end(),
                          [](const task_counts& each) { return each.name == "other"; }),
            1);
  EXPECT_EQ(all.front().ended, 47U);
}

task<void> child(tandem::channel<int>& into) {
  name_it("child");
  for (int i = 0; i < 4; ++i) co_await into.send(i);
}

task<void> stealing() {
  name_it("parent");
  tandem::channel<int> numbers(1);
  std::vector<tandem::join_handle<void>> all;
  for (int i = 0; i < 8; ++i) all.push_back(tandem::spawn(child(numbers)));
  for (int i = 0; i < 32; ++i) (void)co_await numbers.receive();
  for (tandem::join_handle<void>& each : all) co_await std::move(each);
}

TEST(name_counts, steals_are_those_of_the_pool_less_what_was_moved_along) {
  std::uint64_t steals = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    runtime rt(counted(seed, 3));
    rt.spawn(stealing()).wait();
    const tandem::runtime_metrics now = rt.metrics();
    std::uint64_t counted_here = 0;
    for (const task_counts& each : now.by_name) counted_here += each.steals;
    EXPECT_LE(counted_here, now.workers.steals);
    steals += counted_here;
  }
  EXPECT_GT(steals, 0U);
}

TEST(name_counts, are_in_the_text_with_the_name_as_a_label_and_only_if_asked_for) {
  {
    runtime rt(simulated(1));
    rt.spawn(called("GET /")).wait();
    EXPECT_TRUE(rt.metrics().by_name.empty());
    EXPECT_FALSE(exposition(metrics_text(rt.metrics())).has("tandem_named_tasks_ended_total"));
    EXPECT_FALSE(tandem::detail::tasks_are_observed());
  }
  runtime rt(counted(1));
  rt.spawn(called("GET \"/\"\\")).wait();
  const exposition page(metrics_text(rt.metrics()));
  const std::string series = rt.metrics().series;
  EXPECT_EQ(
      page.value("tandem_named_tasks_ended_total", {{"runtime", series}, {"task", "GET \"/\"\\"}}),
      1);
  EXPECT_EQ(page.value("tandem_named_tasks_run_seconds_total",
                       {{"runtime", series}, {"task", "GET \"/\"\\"}}),
            0.001);
}

TEST(name_counts, are_turned_on_and_off_while_the_pool_runs) {
  runtime rt(simulated(1));
  tandem::pool_change change;
  change.count_tasks_by_name = true;
  rt.spawn(called("before")).wait();
  rt.workers().reconfigure(change);
  rt.spawn(called("counted")).wait();
  change.count_tasks_by_name = false;
  rt.workers().reconfigure(change);
  rt.spawn(called("after")).wait();
  EXPECT_EQ(told(rt),
            std::vector<std::string>({"counted: ended=1 waits=0 wakes=0 stalls=0 run=1 queued=0"}));
}

}  // namespace
