// submit_end_test.cpp: a pool that its user has shut down, and the end of its runtime.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string_view>
#include <tandem/blocking.hpp>
#include <tandem/event.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "runtime/support/submit_support.hpp"
#include "waits.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::event;
using tandem::growth_order;
using tandem::join_handle;
using tandem::pool_state;
using tandem::runtime_options;
using tandem::task;

/// Counts how often it has run.
class counting_job : public tandem::job {
 public:
  counting_job() noexcept : job(&counting_job::run_one) {}
  int runs() const { return runs_.load(); }

 private:
  static void run_one(tandem::job* self) noexcept {
    ++static_cast<counting_job*>(self)->runs_;  // from here on it may be gone
  }
  std::atomic<int> runs_{0};
};

/// Needs the workers at its end.
class needs_workers final : public tandem::service {
 public:
  needs_workers(tandem::runtime& owner, std::atomic<int>& runs) : owner_(owner), runs_(runs) {}

  std::string_view service_name() const noexcept override { return "needs workers"; }
  void stop() noexcept override {
    for (int round = 0; round < 3; ++round) {
      std::vector<counting_job> jobs(10);
      for (counting_job& each : jobs) owner_.workers().post(&each, tandem::post_kind::spawn);
      for (const counting_job& each : jobs) {
        wait_until([&] { return each.runs() != 0; });
        runs_ += each.runs();
      }
    }
  }

 private:
  tandem::runtime& owner_;
  std::atomic<int>& runs_;
};

runtime_options counting_ends(runtime_options options, std::atomic<int>& ends) {
  options.on_terminated = [&ends] { ++ends; };
  return options;
}

TEST(submit, tasks_that_wait_go_on_after_the_shutdown_as_before) {
  std::atomic<int> ends{0};
  test_runtime rt(counting_ends(pool_of(2, 2, growth_order::demand), ends));
  event begun;
  event go;
  tandem::test::flag may_return;
  auto handle = rt->spawn([](event& sign, event& until, tandem::test::flag& open) -> task<int> {
    sign.set();
    co_await until.wait();
    // All of it begins after the shutdown; the threads of blocking() even are made then.
    co_await tandem::sleep_for(1ms);
    const int seven = co_await tandem::blocking([&open] {
      open.wait(false);
      return 7;
    });
    auto child = tandem::spawn([]() -> task<int> {
      co_await tandem::yield();
      co_return 35;
    }());
    co_return seven + co_await child;
  }(begun, go, may_return));
  rt.run([](event& e) -> task<void> { co_await e.wait(); }(begun));
  rt.workers().shutdown();
  EXPECT_EQ(rt.workers().state(), pool_state::shutdown);
  go.set();
  may_return = true;
  EXPECT_EQ(handle.wait(), 42);
  EXPECT_TRUE(rt.workers().await_termination(1h));
  EXPECT_EQ(ends.load(), 1);
}

TEST(submit, tasks_that_still_wait_after_a_shutdown_are_stopped_by_the_end_of_the_runtime) {
  std::atomic<int> ends{0};
  std::atomic<int> cancelled{0};
  std::atomic<int> begun{0};
  std::atomic<bool> saw_stop{false};
  {
    test_runtime rt(counting_ends(pool_of(2, 2, growth_order::demand), ends));
    const auto sleeps = [](std::atomic<int>& start, std::atomic<int>& count) -> task<void> {
      ++start;
      try {
        co_await tandem::sleep_for(1000h);
      } catch (const tandem::operation_cancelled&) {
        ++count;
        throw;
      }
    };
    const auto blocks = [](std::atomic<int>& start, std::atomic<bool>& seen) -> task<void> {
      co_await tandem::blocking([&] {
        ++start;
        while (!tandem::stop_requested()) std::this_thread::yield();
        seen = true;
      });
    };
    for (int i = 0; i < 10; ++i) rt->spawn(sleeps(begun, cancelled)).detach();
    rt->spawn(blocks(begun, saw_stop)).detach();
    wait_until([&] { return begun == 11; });
    rt.workers().shutdown();
    EXPECT_EQ(rt.workers().state(), pool_state::shutdown);
    EXPECT_EQ(ends.load(), 0);
  }
  EXPECT_EQ(cancelled.load(), 10);
  EXPECT_TRUE(saw_stop);
  EXPECT_EQ(ends.load(), 1);
}

TEST(submit, a_service_finds_workers_at_its_end_though_the_pool_has_terminated) {
  for (const growth_order growth :
       {growth_order::demand, growth_order::queue_first, growth_order::threads_first}) {
    for (const unsigned most : {1U, 4U}) {
      std::atomic<int> ends{0};
      std::atomic<int> ran{0};
      std::atomic<int> counted{0};
      {
        runtime_options options = pool_of(1, most, growth);
        options.submissions.queue = tandem::queue_kind::bounded;
        options.submissions.capacity = 1;
        test_runtime rt(counting_ends(options, ends));
        (void)rt->use_service<needs_workers>(ran);
        // As many as it takes for sure; of four some run on threads above the core.
        const unsigned submissions = growth == growth_order::demand ? 1 : most;
        gate closed;
        std::vector<join_handle<void>> all;
        for (unsigned i = 0; i < submissions; ++i) {
          all.push_back(rt.workers().submit(closed.block()));
        }
        closed.open();
        for (auto& each : all) each.wait();
        rt->spawn(count_up(counted)).wait();
        rt.workers().shutdown();
        ASSERT_TRUE(rt.workers().await_termination(1h));
        EXPECT_EQ(rt.workers().stats().threads, 0U);
        EXPECT_EQ(ends.load(), 1);
      }
      EXPECT_EQ(ran.load(), 30);
      EXPECT_EQ(ends.load(), 1) << "it terminates once";
    }
  }
}

TEST(submit, a_service_finds_workers_while_the_pool_is_about_to_terminate) {
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> ends{0};
    std::atomic<int> ran{0};
    std::atomic<int> counted{0};
    {
      test_runtime rt(counting_ends(pool_of(2, 2, growth_order::demand), ends));
      (void)rt->use_service<needs_workers>(ran);
      rt->spawn(count_up(counted)).detach();
      rt.workers().shutdown();
    }
    ASSERT_EQ(ran.load(), 30);
    ASSERT_EQ(ends.load(), 1);
    ASSERT_EQ(counted.load(), 1);
  }
}

TEST(submit, a_job_that_is_posted_to_a_terminated_pool_runs_at_the_end_of_the_runtime) {
  std::vector<counting_job> jobs(5);
  {
    test_runtime rt(pool_of(2, 2, growth_order::demand));
    rt.workers().shutdown();
    ASSERT_TRUE(rt.workers().await_termination(1h));
    for (counting_job& each : jobs) rt.workers().post(&each, tandem::post_kind::spawn);
    EXPECT_EQ(rt.workers().stats().queued, 5U);
  }
  for (const counting_job& each : jobs) EXPECT_EQ(each.runs(), 1);
}

TEST(submit, a_job_that_is_posted_to_a_terminated_pool_without_threads_runs_then_too) {
  counting_job item;
  {
    runtime_options options;
    options.min_threads = 0;
    tandem::runtime rt(options);
    rt.workers().shutdown();
    ASSERT_EQ(rt.workers().state(), pool_state::terminated);
    rt.workers().post(&item, tandem::post_kind::spawn);
  }
  EXPECT_EQ(item.runs(), 1);
}

}  // namespace
