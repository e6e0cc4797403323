// submit_take_back_test.cpp: a queued submission is cancelled, or taken back, and leaves its place.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <tandem/event.hpp>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <utility>
#include <vector>

#include "runtime/support/submit_support.hpp"
#include "seeded.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::cancel_result;
using tandem::join_handle;
using tandem::queue_kind;
using tandem::runtime_options;
using tandem::saturation_policy;
using tandem::stop_reason;
using tandem::task;
using tandem::worker_pool;

constexpr std::array with_places = {queue_kind::unbounded, queue_kind::bounded,
                                    queue_kind::priority};
constexpr std::array bounded_kinds = {queue_kind::bounded, queue_kind::priority};

TEST(submit, what_is_cancelled_in_the_queue_leaves_its_place_at_once) {
  for (const queue_kind kind : with_places) {
    full_pool pool(one_place(kind, saturation_policy::abort));
    EXPECT_EQ(pool.queued.cancel(), cancel_result::removed_before_start);
    EXPECT_EQ(pool.rt.workers().stats().submissions, 0U);
    EXPECT_TRUE(pool.queued.is_done()) << "its end waits for a worker";
    auto next = pool.rt.workers().submit(count_up(pool.ran));
    pool.closed.open();
    next.wait();
    EXPECT_THROW(pool.queued.wait(), tandem::operation_cancelled);
    EXPECT_EQ(pool.ran.load(), 1);
  }
}

TEST(submit, what_is_cancelled_in_the_queue_keeps_its_reason) {
  for (const queue_kind kind : with_places) {
    full_pool pool(one_place(kind, saturation_policy::abort));
    EXPECT_EQ(pool.queued.cancel(stop_reason::deadline), cancel_result::removed_before_start);
    try {
      pool.queued.wait();
      ADD_FAILURE() << "it ran";
    } catch (const tandem::operation_cancelled& stopped) {
      EXPECT_EQ(stopped.reason(), stop_reason::deadline);
    }
  }
}

task<void> submit_late(worker_pool& pool, std::atomic<int>& ran) {
  auto handle = co_await pool.submit_when_free(count_up(ran));
  co_await handle;
}

TEST(submit, the_place_of_a_cancelled_one_goes_to_who_waits_longest) {
  for (const queue_kind kind : bounded_kinds) {
    test_runtime elsewhere;
    full_pool pool(one_place(kind, saturation_policy::suspend));
    auto first = elsewhere->spawn(submit_late(pool.rt.workers(), pool.ran));
    wait_until([&] { return pool.rt.workers().stats().waiting_submitters == 1; });
    auto second = elsewhere->spawn(submit_late(pool.rt.workers(), pool.ran));
    wait_until([&] { return pool.rt.workers().stats().waiting_submitters == 2; });
    EXPECT_EQ(pool.queued.cancel(), cancel_result::removed_before_start);
    const auto stats = pool.rt.workers().stats();
    EXPECT_EQ(stats.waiting_submitters, 1U);
    EXPECT_EQ(stats.submissions, 1U);
    EXPECT_THROW(pool.rt.workers().submit(count_up(pool.ran)).detach(), tandem::rejected)
        << "somebody still waits";
    pool.closed.open();
    first.wait();
    second.wait();
    EXPECT_EQ(pool.ran.load(), 2);
  }
}

task<void> hold(std::shared_ptr<int> /*token*/) { co_return; }

TEST(submit, ten_thousand_cancelled_ones_leave_a_bounded_queue_with_all_its_places) {
  for (const queue_kind kind : bounded_kinds) {
    runtime_options options = one_place(kind, saturation_policy::abort);
    options.submissions.capacity = 5;
    gate closed;
    test_runtime rt(options);
    worker_pool& pool = rt.workers();
    auto running = pool.submit(closed.block());
    wait_until([&] { return closed.inside() == 1; });
    const auto token = std::make_shared<int>(0);
    std::vector<join_handle<void>> kept;
    for (int i = 0; i < 4; ++i) kept.push_back(pool.submit(hold(token), i));
    for (int i = 0; i < 10'000; ++i) {
      auto handle = pool.submit(hold(token), i % 7);
      EXPECT_THROW(pool.submit(hold(token)).detach(), tandem::rejected);
      EXPECT_EQ(handle.cancel(), cancel_result::removed_before_start);
    }
    EXPECT_EQ(token.use_count(), 5) << "coroutines of cancelled ones are still there";
    auto last = pool.submit(hold(token));
    EXPECT_THROW(pool.submit(hold(token)).detach(), tandem::rejected);
    closed.open();
    for (auto& each : kept) each.wait();
    last.wait();
    running.wait();
    EXPECT_EQ(pool.stats().submissions, 0U);
  }
}

task<int> give(int value) { co_return value; }

TEST(submit, what_is_taken_back_is_whole_and_its_handle_is_cancelled) {
  for (const queue_kind kind : with_places) {
    full_pool pool(one_place(kind, saturation_policy::abort));
    EXPECT_EQ(pool.queued.cancel(), cancel_result::removed_before_start);
    auto handle = pool.rt.workers().submit(give(42));
    task<int> body = handle.take_back();
    ASSERT_TRUE(body);
    EXPECT_FALSE(handle.take_back()) << "it was taken back twice";
    EXPECT_EQ(handle.cancel(), cancel_result::already_done);
    EXPECT_TRUE(handle.is_done());
    try {
      (void)handle.wait();
      ADD_FAILURE() << "it ran";
    } catch (const tandem::operation_cancelled& stopped) {
      EXPECT_EQ(stopped.reason(), stop_reason::user);
    }
    test_runtime other;
    EXPECT_EQ(other.workers().submit(std::move(body)).wait(), 42);
    auto next = pool.rt.workers().submit(count_up(pool.ran));  // the place is free
    pool.closed.open();
    next.wait();
  }
}

TEST(submit, what_has_started_or_ended_cannot_be_taken_back) {
  for (const queue_kind kind :
       {queue_kind::unbounded, queue_kind::bounded, queue_kind::priority, queue_kind::rendezvous}) {
    gate closed;
    test_runtime rt(one_place(kind, saturation_policy::abort));
    auto running = rt.workers().submit(closed.block());
    wait_until([&] { return closed.inside() == 1; });
    EXPECT_FALSE(running.take_back());
    closed.open();
    running.wait();
    EXPECT_FALSE(running.take_back());
  }
}

TEST(submit, a_spawned_task_can_be_taken_back_too) {
  full_pool pool(one_place(queue_kind::bounded, saturation_policy::abort));
  auto handle = pool.rt->spawn(give(7));
  task<int> body = handle.take_back();
  ASSERT_TRUE(body);
  pool.closed.open();
  EXPECT_THROW((void)handle.wait(), tandem::operation_cancelled);
  EXPECT_EQ(pool.rt.run(std::move(body)), 7);
}

TEST(submit, a_task_that_awaits_a_handle_hears_at_once_that_it_was_taken_back) {
  for (const queue_kind kind : with_places) {
    test_runtime elsewhere;
    full_pool pool(one_place(kind, saturation_policy::abort));
    const auto waits = [](join_handle<void>& handle) -> task<bool> {
      try {
        co_await handle;
      } catch (const tandem::operation_cancelled&) {
        co_return true;
      }
      co_return false;
    };
    auto waiting = elsewhere->spawn(waits(pool.queued));
    EXPECT_TRUE(pool.queued.take_back());
    EXPECT_TRUE(waiting.wait());
    EXPECT_EQ(pool.ran.load(), 0);
  }
}

TEST(submit, those_that_stay_keep_their_order_when_others_leave) {
  for (const queue_kind kind : with_places) {
    gate closed;
    runtime_options options = one_place(kind, saturation_policy::abort);
    if (kind != queue_kind::unbounded) options.submissions.capacity = 300;
    test_runtime rt(options);
    worker_pool& pool = rt.workers();
    auto running = pool.submit(closed.block());
    wait_until([&] { return closed.inside() == 1; });
    std::vector<int> order;
    std::vector<join_handle<void>> handles;
    const auto notes = [](std::vector<int>& seen, int value) -> task<void> {
      seen.push_back(value);
      co_return;
    };
    for (int i = 0; i < 300; ++i) handles.push_back(pool.submit(notes(order, i), -i % 3));
    std::minstd_rand random(7);
    std::vector<int> wanted;
    for (int rank = 0; rank < (kind == queue_kind::priority ? 3 : 1); ++rank) {
      for (int i = 0; i < 300; ++i) {
        if (kind == queue_kind::priority && i % 3 != rank) continue;
        if (random() % 4 != 0) {
          EXPECT_TRUE(handles[static_cast<std::size_t>(i)].take_back());
        } else {
          wanted.push_back(i);
        }
      }
    }
    EXPECT_EQ(pool.stats().submissions, wanted.size());
    closed.open();
    EXPECT_TRUE(rt->drain(1h));
    EXPECT_EQ(order, wanted);
  }
}

TEST(submit, in_a_runtime_without_threads_too_they_leave_at_once) {
  for (const queue_kind kind : with_places) {
    tandem::runtime_options options;
    options.min_threads = 0;
    options.submissions.queue = kind;
    if (kind != queue_kind::unbounded) options.submissions.capacity = 2;
    test_runtime rt(options);
    std::atomic<int> ran{0};
    auto first = rt.workers().submit(count_up(ran));
    auto second = rt.workers().submit(count_up(ran));
    EXPECT_TRUE(first.take_back());
    EXPECT_EQ(rt.workers().stats().submissions, 1U);
    second.wait();
    EXPECT_EQ(ran.load(), 1);
    EXPECT_TRUE(first.is_done());
  }
}

}  // namespace
