// virtual_clock_test.cpp: laws of the virtual clock and of runtimes without threads.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tandem/clock.hpp>
#include <tandem/detail/random.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/mutex.hpp>
#include <tandem/parallel_for.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/sync_wait.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/virtual_time.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "system.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::runtime;
using tandem::runtime_options;
using tandem::task;
using tandem::test::is_ready;

runtime_options simulated(std::uint64_t seed, unsigned workers = 1) {
  runtime_options options;
  options.clock = tandem::virtual_time(seed, workers);
  return options;
}

runtime_options without_threads() {
  runtime_options options;
  options.min_threads = 0;
  return options;
}

TEST(virtual_time, a_sleep_takes_exactly_its_time_and_no_real_one) {
  const auto began = std::chrono::steady_clock::now();
  tandem::run(
      []() -> task<void> {
        const auto before = tandem::now();
        co_await tandem::sleep_for(24h);
        EXPECT_EQ(tandem::now() - before, 24h);
        co_await tandem::sleep_for(1500us);
        EXPECT_EQ(tandem::now() - before, 24h + 1500us);
      }(),
      simulated(1));
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1h);
}

TEST(virtual_time, a_timeout_fires_between_two_sleeps_that_surround_it) {
  tandem::run(
      []() -> task<void> {
        const auto before = tandem::now();
        try {
          co_await tandem::with_timeout(2h,
                                        []() -> task<void> { co_await tandem::sleep_for(3h); }());
          ADD_FAILURE() << "the timeout did not fire";
        } catch (const tandem::operation_cancelled& stopped) {
          EXPECT_EQ(stopped.reason(), tandem::stop_reason::deadline);
        }
        EXPECT_EQ(tandem::now() - before, 2h);
      }(),
      simulated(1));
}

task<void> visitor(std::vector<std::string>& log, int number) {
  for (int round = 0; round < 5; ++round) {
    log.push_back(std::to_string(number) + "." + std::to_string(round));
    if ((number + round) % 3 == 0) {
      co_await tandem::sleep_for(1s);
    } else {
      co_await tandem::yield();
    }
  }
}

task<void> visit_all(std::vector<std::string>& log) {
  auto body = [&](tandem::task_scope& scope) -> task<void> {
    for (int i = 0; i < 8; ++i) scope.spawn(visitor(log, i));
    co_return;
  };
  co_await tandem::with_scope(body);
}

std::vector<std::string> order_of(std::uint64_t seed, unsigned workers) {
  std::vector<std::string> log;
  tandem::run(visit_all(log), simulated(seed, workers));
  return log;
}

TEST(virtual_time, the_same_seed_gives_the_same_order_of_events_another_one_another) {
  for (const unsigned workers : {1U, 2U, 5U}) {
    std::set<std::vector<std::string>> orders;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const std::vector<std::string> order = order_of(seed, workers);
      EXPECT_EQ(order.size(), 40U);
      EXPECT_EQ(order, order_of(seed, workers)) << "seed " << seed << ", workers " << workers;
      orders.insert(order);
    }
    EXPECT_GT(orders.size(), 15U) << "with " << workers << " workers";
  }
}

// An event with a fault: between its look and its entry in the list it lets others run.
class forgetful_event {
 public:
  task<void> wait(bool with_fault) {
    if (set_) co_return;
    if (with_fault) co_await tandem::yield();  // set() may come here, and finds nobody
    co_await entry(*this);
  }
  void set() {
    set_ = true;
    if (waiting_ != nullptr) std::exchange(waiting_, nullptr)->post();
  }

 private:
  class entry {
   public:
    using tandem_awaiter = void;
    explicit entry(forgetful_event& of) noexcept : of_(&of) {}
    bool await_ready() const noexcept { return false; }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) noexcept {
      of_->waiting_ = &self.promise();
    }
    void await_resume() const noexcept {}

   private:
    forgetful_event* of_;
  };

  bool set_ = false;
  tandem::detail::promise_base* waiting_ = nullptr;
};

task<void> wait_and_set(forgetful_event& event, bool with_fault) {
  co_await tandem::fork_join(event.wait(with_fault), [](forgetful_event& e) -> task<void> {
    for (int i = 0; i < 3; ++i) co_await tandem::yield();
    e.set();
  }(event));
}

// The runtime cannot end with a task that nothing can wake, so a stalled one is woken by hand.
bool loses_its_wake_up(std::uint64_t seed, bool with_fault) {
  forgetful_event event;
  runtime rt(simulated(seed, 2));
  auto handle = rt.spawn(wait_and_set(event, with_fault));
  try {
    handle.wait();
    return false;
  } catch (const tandem::stalled& found) {
    EXPECT_EQ(found.seed(), seed);
    EXPECT_EQ(found.tasks(), 1U);
    event.set();
    handle.wait();
    return true;
  }
}

TEST(virtual_time, a_search_over_seeds_finds_a_planted_lost_wake_up) {
  std::vector<std::uint64_t> found;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    EXPECT_FALSE(loses_its_wake_up(seed, false)) << "seed " << seed;
    if (loses_its_wake_up(seed, true)) found.push_back(seed);
  }
  EXPECT_FALSE(found.empty());
  EXPECT_LT(found.size(), 200U) << "it depends on the schedule";
  for (const std::uint64_t seed : found) EXPECT_TRUE(loses_its_wake_up(seed, true));
}

task<void> add_one(tandem::mutex& m, int& shared) {
  int seen = 0;
  {
    auto guard = co_await m.scoped_lock();
    seen = shared;
  }
  auto guard = co_await m.scoped_lock();  // shared may be another one by now: the planted fault
  shared = seen + 1;
}

// Found by review: awaits that are ready were no places where the schedule could differ.
TEST(virtual_time, a_search_over_seeds_finds_a_race_between_two_ready_awaits) {
  int found = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const int sum = tandem::run(
        []() -> task<int> {
          tandem::mutex m;
          int shared = 0;
          co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
            for (int i = 0; i < 2; ++i) scope.spawn(add_one(m, shared));
            co_return;
          });
          co_return shared;
        }(),
        simulated(seed, 2));
    found += sum == 1 ? 1 : 0;
  }
  EXPECT_GT(found, 0);
  EXPECT_LT(found, 200);
}

TEST(virtual_time, drain_gives_up_when_nothing_can_happen) {
  forgetful_event event;
  runtime rt(simulated(3));
  rt.spawn(event.wait(false)).detach();
  EXPECT_FALSE(rt.drain(1h));
  EXPECT_EQ(rt.live_tasks(), 1U);
  event.set();
  EXPECT_TRUE(rt.drain(1h));
}

TEST(virtual_time, run_for_moves_the_clock_by_exactly_its_span) {
  runtime rt(simulated(1));
  const auto before = rt.now();
  int ticks = 0;
  auto handle = rt.spawn([](int& count) -> task<void> {
    for (; count < 10; ++count) co_await tandem::sleep_for(10min);
  }(ticks));
  rt.run_for(35min);
  EXPECT_EQ(ticks, 3);
  EXPECT_EQ(rt.now() - before, 35min);
  rt.run_for(2h);
  EXPECT_EQ(ticks, 10);
  EXPECT_TRUE(handle.is_done());
}

TEST(virtual_time, the_clock_stands_still_while_another_thread_holds_it) {
  runtime rt(simulated(1));
  const auto before = rt.now();
  std::atomic<bool> done{false};
  auto sleeper = rt.spawn([](std::atomic<bool>& others_are_done) -> task<void> {
    co_await tandem::sleep_for(1h);
    EXPECT_TRUE(others_are_done.load());
  }(done));
  std::optional<tandem::clock_hold> hold(std::in_place, rt);
  std::thread foreign([&] {
    rt.spawn([](std::atomic<bool>& flag) -> task<void> {
        flag = true;
        co_return;
      }(done))
        .detach();
    hold.reset();
  });
  sleeper.wait();
  foreign.join();
  EXPECT_EQ(rt.now() - before, 1h);
}

TEST(virtual_time, random_numbers_and_pieces_come_from_the_seed) {
  const auto draw = [](std::uint64_t seed) {
    return tandem::run(
        []() -> task<std::pair<std::uint64_t, std::size_t>> {
          std::size_t pieces = 0;
          co_await tandem::parallel_for(0, 100'000, [&](int) { ++pieces; });
          co_return {tandem::detail::random_bits(), pieces};
        }(),
        simulated(seed, 3));
  };
  EXPECT_EQ(draw(7), draw(7));
  EXPECT_NE(draw(7).first, draw(8).first);
  EXPECT_EQ(draw(7).second, 100'000U);
}

TEST(virtual_time, impossible_set_ups_are_refused_with_a_reason) {
  EXPECT_THROW(runtime{simulated(1, 0)}, std::invalid_argument);
  EXPECT_THROW(runtime{simulated(1, 5000)}, std::invalid_argument);
  runtime rt(simulated(1));
  EXPECT_THROW((void)rt.native_handle(), std::logic_error);
}

TEST(runtime_without_threads, whoever_waits_runs_it_and_no_thread_is_made) {
  runtime rt(without_threads());
  const auto caller = std::this_thread::get_id();
  const auto where = tandem::sync_wait(rt.workers(), []() -> task<std::thread::id> {
    co_await tandem::sleep_for(2ms);
    co_return std::this_thread::get_id();
  }());
  EXPECT_EQ(where, caller);
  EXPECT_EQ(rt.workers().stats().threads, 0U);
}

TEST(runtime_without_threads, run_until_idle_stops_at_the_first_wait) {
  runtime rt(without_threads());
  int reached = 0;
  auto handle = rt.spawn([](int& at) -> task<void> {
    at = 1;
    co_await tandem::yield();
    at = 2;
    co_await tandem::sleep_for(1h);
  }(reached));
  EXPECT_EQ(reached, 0);
  EXPECT_GT(rt.run_until_idle(), 0U);
  EXPECT_EQ(reached, 2);
  EXPECT_EQ(rt.run_until_idle(), 0U);
  EXPECT_EQ(handle.cancel(), tandem::cancel_result::stop_requested);
  EXPECT_GT(rt.run_until_idle(), 0U);
  EXPECT_TRUE(handle.is_done());
}

TEST(runtime_without_threads, poll_runs_no_more_items_than_asked_and_the_descriptor_says_so) {
  runtime rt(without_threads());
  const tandem::pollable_handle watched = rt.native_handle();
  (void)rt.poll();
  EXPECT_FALSE(is_ready(watched, 0)) << "nothing has been posted";
  std::vector<tandem::join_handle<void>> handles;
  for (int i = 0; i < 10; ++i) handles.push_back(rt.spawn([]() -> task<void> { co_return; }()));
  EXPECT_TRUE(is_ready(watched, 0));
  EXPECT_EQ(rt.poll(4), 4U);
  EXPECT_TRUE(is_ready(watched, 0)) << "six are left";
  EXPECT_EQ(rt.poll(), 6U);
  EXPECT_FALSE(is_ready(watched, 0));
}

TEST(runtime_without_threads, the_descriptor_wakes_a_foreign_loop_for_deadlines_and_posts) {
  runtime rt(without_threads());
  const tandem::pollable_handle watched = rt.native_handle();
  auto sleeper = rt.spawn([]() -> task<void> { co_await tandem::sleep_for(5ms); }());
  std::thread foreign;
  int posted = 0;
  for (int rounds = 0; (!sleeper.is_done() || posted < 100) && rounds < 100'000; ++rounds) {
    (void)rt.poll();
    if (!foreign.joinable()) {
      foreign = std::thread([&] {
        for (int i = 0; i < 100; ++i) {
          rt.spawn([](int& count) -> task<void> {
              ++count;
              co_return;
            }(posted))
              .detach();
        }
      });
    }
    if (!sleeper.is_done() || posted < 100) (void)is_ready(watched, -1);
  }
  foreign.join();
  EXPECT_TRUE(sleeper.is_done());
  EXPECT_EQ(posted, 100);
}

TEST(runtime_without_threads, two_threads_may_wait_at_once) {
  runtime rt(without_threads());
  std::atomic<int> ended{0};
  std::vector<std::thread> waiting;
  for (int i = 0; i < 4; ++i) {
    waiting.emplace_back([&] {
      for (int round = 0; round < 20; ++round) {
        rt.spawn([]() -> task<void> { co_await tandem::sleep_for(100us); }()).wait();
        ++ended;
      }
    });
  }
  for (std::thread& each : waiting) each.join();
  EXPECT_EQ(ended.load(), 80);
}

TEST(runtime_without_threads, its_end_stops_what_sleeps_and_frees_what_never_ran) {
  auto kept = std::make_shared<int>(1);
  {
    runtime rt(without_threads());
    rt.spawn([](std::shared_ptr<int>) -> task<void> { co_await tandem::sleep_for(1h); }(kept))
        .detach();
    (void)rt.run_until_idle();
    rt.spawn([](std::shared_ptr<int>) -> task<void> { co_await tandem::sleep_for(1h); }(kept))
        .detach();
  }
  EXPECT_EQ(kept.use_count(), 1);
}

TEST(runtime_without_threads, a_runtime_with_threads_refuses_to_be_driven_and_so_does_a_task) {
  runtime threads;
  EXPECT_THROW((void)threads.poll(), std::logic_error);
  EXPECT_THROW((void)threads.run_until_idle(), std::logic_error);
  EXPECT_THROW(threads.run_for(1ms), std::logic_error);
  runtime rt(without_threads());
  rt.spawn([](runtime& own) -> task<void> {
      EXPECT_THROW((void)own.poll(), tandem::would_deadlock);
      EXPECT_THROW(own.spawn([]() -> task<void> { co_return; }()).wait(), tandem::would_deadlock);
      co_return;
    }(rt))
      .wait();
}

}  // namespace
