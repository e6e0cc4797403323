// trace_test.cpp: what happened is in the trace, in order, with who woke whom.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tandem/channel.hpp>
#include <tandem/environment.hpp>
#include <tandem/event.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "simulated.hpp"
#include "trace_lines.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::runtime;
using tandem::task;
using tandem::test::member_of;
using tandem::test::offences;
using tandem::test::simulated;
using tandem::test::trace_line;
using tandem::test::trace_lines;
using tandem::test::trace_of;
using tandem::test::work;

void name_it(const char* name) { tandem::current_environment()->set_name(name); }

/// Lines that a person would read: "worker 0 X other 3000+2000", flows with the slice's name.
std::vector<std::string> told(const std::vector<trace_line>& lines) {
  std::vector<std::string> out;
  for (const trace_line& each : lines) {
    std::string text = each.track + " " + each.phase + " " + each.name + " " +
                       std::to_string(static_cast<long>(each.ts));
    if (each.phase == "X") text += "+" + std::to_string(static_cast<long>(each.dur));
    if (each.phase == "s" || each.phase == "f") text += " #" + each.id;
    out.push_back(text);
  }
  return out;
}

task<void> wait_and_work(tandem::event& go) {
  name_it("other");
  work(2ms);
  co_await go.wait();
  work(4ms);
}

task<void> start_another() {
  name_it("first");
  tandem::event go;
  tandem::join_handle<void> other = tandem::spawn(wait_and_work(go));
  work(3ms);
  co_await tandem::sleep_for(1ms);  // the other one runs, and waits
  work(20ms);
  go.set();
  work(7ms);
  co_await std::move(other);
}

TEST(trace, tells_all_that_has_happened_in_order_and_who_woke_whom) {
  runtime rt(simulated(1));
  rt.trace_to("");
  rt.spawn(start_another()).wait();
  const std::vector<std::string> expected{
      // It is spawned from outside, and runs.
      "thread N from outside b first 0", "thread N from outside b queued 0",
      "thread N from outside X spawns 0+0", "thread N from outside s spawns 0 #1",
      "worker 0 f spawns 0 #1", "worker 0 e queued 0", "worker 0 b running 0",
      // It spawns the other one, and sleeps.
      "worker 0 b other 0", "worker 0 b queued 0", "worker 0 s spawns 0 #2",
      "worker 0 X first 0+3000", "worker 0 e running 3000", "worker 0 b suspended 3000",
      // The other one runs, and waits. The sleeper is late: nobody could fire its timer.
      "worker 0 f spawns 3000 #2", "worker 0 e queued 3000", "worker 0 b running 3000",
      "worker 0 X other 3000+2000", "worker 0 e running 5000", "worker 0 b suspended 5000",
      "timers e suspended 5000", "timers b queued 5000", "timers X wakes 5000+0",
      "timers s wakes 5000 #3", "worker 0 f wakes 5000 #3", "worker 0 e queued 5000",
      "worker 0 b running 5000",
      // It wakes the other one, and waits for its end.
      "worker 0 e suspended 25000", "worker 0 b queued 25000", "worker 0 s wakes 25000 #4",
      "worker 0 X first 5000+27000", "worker 0 e running 32000", "worker 0 b suspended 32000",
      // The other one ends, which wakes the first, which ends.
      "worker 0 f wakes 32000 #4", "worker 0 e queued 32000", "worker 0 b running 32000",
      "worker 0 e running 36000", "worker 0 e other 36000", "worker 0 e suspended 36000",
      "worker 0 b queued 36000", "worker 0 s wakes 36000 #5", "worker 0 X other 32000+4000",
      "worker 0 f wakes 36000 #5", "worker 0 e queued 36000", "worker 0 b running 36000",
      "worker 0 e running 36000", "worker 0 e first 36000", "worker 0 X first 36000+0"};
  std::vector<std::string> seen = told(trace_lines(trace_of(rt)));
  for (std::string& each : seen) {  // which thread of the process it is depends on what was before
    const auto at = each.find(" from outside");
    if (at != std::string::npos) each.replace(0, at, "thread N");
  }
  EXPECT_EQ(seen, expected);
}

task<void> child(tandem::channel<int>& into, int number) {
  co_await tandem::yield();
  co_await into.send(number);
  co_await tandem::sleep_for(1ms);
}

task<int> part(int number) {
  co_await tandem::sleep_for(1ms);
  co_return number;
}

task<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await tandem::fork_join(fib(n - 1), fib(n - 2));
  co_return a + b;
}

task<void> all_kinds() {
  tandem::channel<int> numbers(1);
  std::vector<tandem::join_handle<void>> children;
  for (int i = 0; i < 4; ++i) children.push_back(tandem::spawn(child(numbers, i)));
  for (int i = 0; i < 4; ++i) (void)co_await numbers.receive();
  (void)co_await tandem::when_all(part(1), part(2));
  (void)co_await fib(6);
  for (tandem::join_handle<void>& each : children) co_await std::move(each);
}

TEST(trace, each_flow_has_both_ends_and_spans_nest_whatever_the_schedule) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    runtime rt(simulated(seed, 3));
    rt.trace_to("");
    rt.spawn(all_kinds()).wait();
    rt.run_until_idle();
    const std::vector<trace_line> lines = trace_lines(trace_of(rt));
    EXPECT_EQ(offences(lines), std::vector<std::string>());
    std::map<std::string, int> ended;
    std::set<std::string> seen;
    int begun_flows = 0;
    int ended_flows = 0;
    for (const trace_line& each : lines) {
      if (each.phase == "e" && member_of(each.arguments, "outcome") == "completed")
        ++ended[each.id];
      if (each.phase == "b") seen.insert(each.id);
      begun_flows += each.phase == "s";
      ended_flows += each.phase == "f";
    }
    // Five tasks, and their parts are no others; and whoever was woken ran.
    EXPECT_EQ(ended.size(), 5U);
    EXPECT_EQ(seen.size(), 5U);
    EXPECT_EQ(begun_flows, ended_flows);
  }
}

TEST(trace, the_same_seed_gives_the_same_trace) {
  const auto run = [] {
    runtime rt(simulated(7, 2));
    rt.trace_to("");
    rt.spawn(all_kinds()).wait();
    rt.run_until_idle();
    std::vector<std::string> seen = told(trace_lines(trace_of(rt)));
    std::erase_if(seen,
                  [](const std::string& each) { return each.find("task ") != std::string::npos; });
    for (std::string& each : seen) each.erase(0, each.find(" from outside") + 1);
    return seen;
  };
  EXPECT_EQ(run(), run());
}

task<void> yield_often(int times) {
  for (int i = 0; i < times; ++i) co_await tandem::yield();
}

TEST(trace, a_ring_keeps_the_newest_events) {
  runtime rt(simulated(1));
  tandem::trace_options options;
  options.events_per_thread = 64;
  rt.trace_to("", options);
  rt.spawn(yield_often(10'000)).wait();
  const std::vector<trace_line> lines = trace_lines(trace_of(rt));
  const auto is_end = [](const trace_line& each) {
    return each.arguments == "\"outcome\":\"completed\"";
  };
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), is_end), 1);
  const auto slices = std::count_if(lines.begin(), lines.end(),
                                    [](const trace_line& each) { return each.phase == "X"; });
  EXPECT_GE(slices, 15);  // three events each
  EXPECT_LE(slices, 22);
  EXPECT_EQ(offences(lines), std::vector<std::string>());
}

task<void> waits_named(tandem::event& go) {
  name_it("long-lived");
  co_await go.wait();
  co_await tandem::yield();
}

TEST(trace, a_task_that_began_before_has_its_name_and_place) {
  runtime rt(simulated(1));
  tandem::event go;
  auto waits = rt.spawn(waits_named(go));
  rt.run_until_idle();
  rt.trace_to("");
  go.set();
  rt.poll(1);
  const std::vector<trace_line> lines = trace_lines(trace_of(rt));
  const auto is_it = [](const trace_line& each) {
    return each.phase == "X" && each.name == "long-lived" &&
           member_of(each.arguments, "spawned_at").find("trace_test.cpp:") != std::string::npos;
  };
  EXPECT_EQ(std::count_if(lines.begin(), lines.end(), is_it), 1);
  waits.wait();
}

task<void> renamed_elsewhere() {
  name_it("old");
  co_await tandem::yield();
  name_it("new");
}

TEST(trace, a_task_is_called_as_it_was_at_its_end_whichever_ring_is_read_first) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    runtime rt(simulated(seed, 2));
    rt.trace_to("");
    rt.spawn(renamed_elsewhere()).wait();
    // The thread that spawns has a ring of its own, which is taken after that of the driver.
    std::thread([&rt] { rt.spawn(renamed_elsewhere()).detach(); }).join();
    rt.run_until_idle();
    for (const trace_line& each : trace_lines(trace_of(rt))) {
      if (each.phase == "X" && each.track.rfind("worker", 0) == 0) {
        EXPECT_EQ(each.name, "new");
      }
    }
  }
}

TEST(trace, another_runtime_is_not_in_it) {
  runtime mine(simulated(1));
  runtime other(simulated(2));
  mine.trace_to("");
  mine.spawn(yield_often(2)).wait();
  const std::size_t before = trace_lines(trace_of(mine)).size();
  other.spawn(yield_often(100)).wait();
  EXPECT_EQ(trace_lines(trace_of(mine)).size(), before);
}

TEST(trace, what_comes_after_stop_trace_is_not_in_it) {
  EXPECT_FALSE(tandem::detail::is_recorded());
  runtime rt(simulated(1));
  rt.trace_to("");
  EXPECT_TRUE(tandem::detail::is_recorded());
  rt.spawn(yield_often(2)).wait();
  rt.stop_trace();
  EXPECT_FALSE(tandem::detail::is_recorded());
  const std::size_t before = trace_lines(trace_of(rt)).size();
  rt.spawn(yield_often(100)).wait();
  EXPECT_EQ(trace_lines(trace_of(rt)).size(), before);
  rt.trace_to("");
  rt.spawn(yield_often(2)).wait();
  EXPECT_GT(trace_lines(trace_of(rt)).size(), before);
}

task<void> named(const char* name) {
  name_it(name);
  co_return;
}

TEST(trace, names_are_escaped_and_what_is_no_utf8_is_replaced) {
  runtime rt(simulated(1));
  rt.trace_to("");
  rt.spawn(named("say \"hi\"\\\n\x01")).wait();
  rt.spawn(named("gr\xC3\xBC\xC3\x9F \xF0\x9F\x90\x8E")).wait();
  rt.spawn(named("\xFF cut \xC3")).wait();
  rt.spawn(named("\xED\xA0\x80 \xC0\xAF")).wait();  // half a surrogate, a slash too long
  const std::string text = trace_of(rt);
  EXPECT_NE(text.find(R"("name":"say \"hi\"\\\u000a\u0001")"), std::string::npos);
  EXPECT_NE(text.find("\"name\":\"gr\xC3\xBC\xC3\x9F \xF0\x9F\x90\x8E\""), std::string::npos);
  EXPECT_NE(text.find("\"name\":\"\xEF\xBF\xBD cut \xEF\xBF\xBD\""), std::string::npos);
  EXPECT_EQ(text.find("\xED\xA0\x80"), std::string::npos);
  EXPECT_EQ(text.find("\xC0\xAF"), std::string::npos);
}

}  // namespace
