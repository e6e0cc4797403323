// submit_when_free_test.cpp: backpressure by co_await, and bounded memory.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <tandem/event.hpp>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <tandem/timeout.hpp>
#include <thread>
#include <vector>

#include "runtime/support/submit_support.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::join_handle;
using tandem::queue_kind;
using tandem::runtime_options;
using tandem::saturation_policy;
using tandem::task;
using tandem::worker_pool;

task<void> note(std::vector<int>& order, int value) {
  order.push_back(value);
  co_return;
}

task<void> submit_and_wait(worker_pool& pool, std::vector<int>& order, int value) {
  auto handle = co_await pool.submit_when_free(note(order, value));
  co_await handle;
}

TEST(submit, who_waits_for_a_place_gets_it_first_come_first_served) {
  for (const queue_kind kind :
       {queue_kind::bounded, queue_kind::priority, queue_kind::rendezvous}) {
    gate closed;
    std::vector<int> order;
    test_runtime rt(one_place(kind, saturation_policy::suspend));
    test_runtime elsewhere;
    worker_pool& pool = rt.workers();
    auto running = pool.submit(closed.block());
    wait_until([&] { return closed.inside() == 1; });
    std::vector<join_handle<void>> handles;
    const int places = kind == queue_kind::rendezvous ? 0 : 1;
    for (int i = 0; i < 10; ++i) {
      handles.push_back(elsewhere->spawn(submit_and_wait(pool, order, i)));
      wait_until([&] {
        const auto stats = pool.stats();
        return stats.submissions + stats.waiting_submitters == static_cast<std::size_t>(i + 1);
      });
    }
    EXPECT_EQ(pool.stats().waiting_submitters, static_cast<std::size_t>(10 - places));
    // Nobody overtakes them.
    EXPECT_THROW(pool.submit(note(order, 99)).detach(), tandem::rejected);
    closed.open();
    for (auto& each : handles) each.wait();
    running.wait();
    EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  }
}

TEST(submit, a_wait_for_a_place_can_be_cancelled_and_leaves_no_hole) {
  for (const queue_kind kind :
       {queue_kind::bounded, queue_kind::priority, queue_kind::rendezvous}) {
    gate closed;
    std::vector<int> order;
    test_runtime rt(one_place(kind, saturation_policy::suspend));
    test_runtime elsewhere;
    worker_pool& pool = rt.workers();
    auto running = pool.submit(closed.block());
    wait_until([&] { return closed.inside() == 1; });
    join_handle<void> queued;
    if (kind != queue_kind::rendezvous) queued = pool.submit(note(order, -1));
    std::vector<join_handle<void>> handles;
    for (int i = 0; i < 6; ++i) {
      handles.push_back(elsewhere->spawn(submit_and_wait(pool, order, i)));
      wait_until(
          [&] { return pool.stats().waiting_submitters == static_cast<std::size_t>(i + 1); });
    }
    for (const std::size_t i : {0U, 3U, 5U}) {
      (void)handles[i].cancel();
      EXPECT_THROW(handles[i].wait(), tandem::operation_cancelled);
    }
    EXPECT_EQ(pool.stats().waiting_submitters, 3U);
    closed.open();
    for (const std::size_t i : {1U, 2U, 4U}) handles[i].wait();
    if (queued) {
      queued.wait();
      order.erase(order.begin());
    }
    running.wait();
    EXPECT_EQ(order, (std::vector<int>{1, 2, 4}));
    EXPECT_TRUE(rt->drain(1h));
  }
}

TEST(submit, a_place_that_is_free_is_taken_without_a_wait) {
  runtime_options options = one_place(queue_kind::bounded, saturation_policy::suspend);
  options.submissions.capacity = 1000;
  test_runtime rt(options);
  // More than the await budget.
  EXPECT_EQ(rt.run([](worker_pool& pool) -> task<int> {
    std::vector<join_handle<int>> handles;
    for (int i = 0; i < 500; ++i) {
      handles.push_back(co_await pool.submit_when_free([]() -> task<int> { co_return 1; }()));
    }
    int sum = 0;
    for (auto& each : handles) sum += co_await each;
    co_return sum;
  }(rt.workers())),
            500);
}

TEST(submit, a_failure_of_the_task_is_its_handles_and_not_the_submitters) {
  test_runtime rt(one_place(queue_kind::bounded, saturation_policy::suspend));
  rt.run([](worker_pool& pool) -> task<void> {
    auto handle = co_await pool.submit_when_free([]() -> task<void> {
      throw std::runtime_error("planned");
      co_return;
    }());
    bool failed = false;
    try {
      co_await handle;
    } catch (const std::runtime_error&) {
      failed = true;
    }
    EXPECT_TRUE(failed);
  }(rt.workers()));
}

TEST(submit, a_time_limit_ends_the_wait_for_a_place) {
  gate closed;
  std::atomic<int> ran{0};
  test_runtime rt(one_place(queue_kind::bounded, saturation_policy::suspend));
  test_runtime elsewhere;
  auto running = rt.workers().submit(closed.block());
  wait_until([&] { return closed.inside() == 1; });
  auto queued = rt.workers().submit(count_up(ran));
  elsewhere.run([](worker_pool& pool, std::atomic<int>& count) -> task<void> {
    tandem::stop_reason why = tandem::stop_reason::none;
    try {
      auto second = co_await tandem::with_timeout(1ms, pool.submit_when_free(count_up(count)));
      second.detach();
    } catch (const tandem::operation_cancelled& ended) {
      why = ended.reason();
    }
    EXPECT_EQ(why, tandem::stop_reason::deadline);
  }(rt.workers(), ran));
  EXPECT_EQ(rt.workers().stats().waiting_submitters, 0U);
  closed.open();
  running.wait();
  queued.wait();
  EXPECT_EQ(ran.load(), 1);
}

/// Counts the submissions that are alive, and the most there ever were.
class census {
 public:
  class member {
   public:
    explicit member(census& of) noexcept : of_(&of) {
      const int now = ++of.alive_;
      int most = of.most_.load();
      while (most < now && !of.most_.compare_exchange_weak(most, now)) {}
    }
    member(member&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    member& operator=(member&&) = delete;
    ~member() {
      if (of_ != nullptr) --of_->alive_;
    }

   private:
    census* of_;
  };

  int alive() const { return alive_; }
  int most() const { return most_; }

 private:
  std::atomic<int> alive_{0};
  std::atomic<int> most_{0};
};

task<void> slow(census::member /*here*/, std::atomic<int>& count) {
  std::this_thread::sleep_for(100us);
  ++count;
  co_return;
}

task<void> produce(worker_pool& pool, census& all, std::atomic<int>& ran,
                   std::atomic<std::size_t>& longest) {
  for (int i = 0; i < 250; ++i) {
    auto handle = co_await pool.submit_when_free(slow(census::member(all), ran));
    handle.detach();
    const std::size_t queued = pool.stats().submissions;
    std::size_t seen = longest.load();
    while (seen < queued && !longest.compare_exchange_weak(seen, queued)) {}
  }
}

TEST(submit, memory_is_bounded_when_producers_are_ten_times_faster_than_consumers) {
  constexpr int producers = 4;
  constexpr std::size_t capacity = 8;
  runtime_options options = pool_of(2, 2, tandem::growth_order::demand);
  options.submissions.queue = queue_kind::bounded;
  options.submissions.capacity = capacity;
  options.submissions.when_saturated = saturation_policy::suspend;
  census all;
  std::atomic<int> ran{0};
  std::atomic<std::size_t> longest{0};
  test_runtime rt(options);
  test_runtime elsewhere(2);
  std::vector<join_handle<void>> handles;
  for (int p = 0; p < producers; ++p) {
    handles.push_back(elsewhere->spawn(produce(rt.workers(), all, ran, longest)));
  }
  for (auto& each : handles) each.wait();
  EXPECT_TRUE(rt->drain(1h));
  EXPECT_EQ(ran.load(), producers * 250);
  EXPECT_EQ(all.alive(), 0);
  EXPECT_LE(longest.load(), capacity);
  // In the queue, running, and one in the hand of each producer.
  EXPECT_LE(all.most(), static_cast<int>(capacity) + 2 + producers);
}

}  // namespace
