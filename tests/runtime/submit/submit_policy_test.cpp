// submit_policy_test.cpp: what each policy does with a submission, in particular.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <tandem/event.hpp>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <tandem/spawn.hpp>
#include <tandem/strand.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/support/submit_support.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tandem::test;  // NOLINT
using tandem::join_handle;
using tandem::queue_kind;
using tandem::rejection;
using tandem::runtime_options;
using tandem::saturation_policy;
using tandem::task;
using tandem::worker_pool;

TEST(submit, discarded_handles_say_so) {
  full_pool pool(one_place(queue_kind::bounded, saturation_policy::discard_oldest));
  auto newest = pool.rt.workers().submit(count_up(pool.ran));
  try {
    pool.queued.wait();
    ADD_FAILURE() << "it ran";
  } catch (const tandem::operation_cancelled& failure) {
    EXPECT_EQ(failure.reason(), tandem::stop_reason::discarded);
  }
  pool.closed.open();
  newest.wait();
  EXPECT_EQ(pool.ran.load(), 1);
}

TEST(submit, the_caller_runs_the_task_up_to_its_first_wait_and_the_pool_the_rest) {
  full_pool pool(one_place(queue_kind::bounded, saturation_policy::caller_runs));
  tandem::event go_on;
  std::thread::id first;
  std::thread::id second;
  bool refused_to_block = false;
  auto handle = pool.rt.workers().submit([](tandem::event& until, std::thread::id& before,
                                            std::thread::id& after, bool& refused) -> task<void> {
    before = std::this_thread::get_id();
    auto inner = tandem::spawn([]() -> task<void> { co_return; }());
    try {
      inner.wait();
    } catch (const tandem::would_deadlock&) {
      refused = true;
    }
    co_await until.wait();
    after = std::this_thread::get_id();
    co_await inner;
  }(go_on, first, second, refused_to_block));
  EXPECT_EQ(first, std::this_thread::get_id());
  EXPECT_TRUE(refused_to_block);
  EXPECT_EQ(tandem::current_environment(), nullptr);
  go_on.set();
  pool.closed.open();
  handle.wait();
  pool.queued.wait();
  EXPECT_NE(second, std::this_thread::get_id());
}

TEST(submit, a_task_that_is_the_caller_goes_on_in_its_own_surroundings) {
  test_runtime rt(one_place(queue_kind::bounded, saturation_policy::caller_runs));
  std::atomic<int> ran{0};
  rt.run([](worker_pool& pool, std::atomic<int>& count) -> task<void> {
    const auto* const mine = tandem::current_environment();
    auto queued = pool.submit(count_up(count));
    auto inlined = pool.submit([](const void* outer) -> task<int> {
      EXPECT_NE(tandem::current_environment(), outer);
      const auto leaf = [](int value) -> task<int> { co_return value; };
      const int sum = co_await leaf(1) + co_await leaf(2);
      co_return sum;
    }(mine));
    EXPECT_TRUE(inlined.is_done());
    EXPECT_EQ(tandem::current_environment(), mine);
    EXPECT_EQ(count.load(), 0);
    EXPECT_EQ(co_await inlined, 3);
    co_await queued;
  }(rt.workers(), ran));
  EXPECT_EQ(ran.load(), 1);
}

TEST(submit, a_caller_on_a_strand_keeps_its_turn_to_itself) {
  test_runtime rt(one_place(queue_kind::bounded, saturation_policy::caller_runs));
  tandem::strand turns(rt.workers());
  std::atomic<int> ran{0};
  auto on_strand = rt->spawn(turns, [](worker_pool& pool, std::atomic<int>& count) -> task<void> {
    auto queued = pool.submit(count_up(count));
    auto inlined = pool.submit([](worker_pool& home) -> task<bool> {
      co_await tandem::yield();
      co_return home.is_current();
    }(pool));
    EXPECT_FALSE(inlined.is_done());
    EXPECT_TRUE(co_await inlined);
    co_await queued;
  }(rt.workers(), ran));
  on_strand.wait();
  EXPECT_EQ(ran.load(), 1);
}

task<int> digs(worker_pool& pool, int depth, std::atomic<int>& deepest) {
  deepest = std::max(deepest.load(), depth);
  if (depth == 100) co_return 0;  // it fails rather than overflows
  try {
    auto next = pool.submit(digs(pool, depth + 1, deepest));
    co_return co_await next + 1;
  } catch (const tandem::rejected&) {
    co_return 0;
  }
}

TEST(submit, callers_that_run_what_submits_again_end_before_the_stack_does) {
  full_pool pool(one_place(queue_kind::bounded, saturation_policy::caller_runs));
  std::atomic<int> deepest{0};
  auto handle = pool.rt.workers().submit(digs(pool.rt.workers(), 1, deepest));
  EXPECT_EQ(deepest.load(), 8);
  pool.closed.open();
  EXPECT_EQ(handle.wait(), 7);
  pool.queued.wait();
}

TEST(submit, discard_oldest_takes_the_heads_place_and_who_waits_gets_the_next_free_one) {
  full_pool pool(one_place(queue_kind::bounded, saturation_policy::discard_oldest));
  worker_pool& workers = pool.rt.workers();
  test_runtime elsewhere;
  std::vector<int> order;  // one worker writes it
  const auto note = [](std::vector<int>* to, int value) -> task<void> {
    to->push_back(value);
    co_return;
  };
  const auto waits = [](worker_pool* to, task<void> body) -> task<void> {
    auto handle = co_await to->submit_when_free(std::move(body));
    co_await handle;
  };
  std::vector<join_handle<void>> waiting;
  for (int i = 0; i < 2; ++i) {
    waiting.push_back(elsewhere->spawn(waits(&workers, note(&order, i))));
    wait_until(
        [&] { return workers.stats().waiting_submitters == static_cast<std::size_t>(i + 1); });
  }
  auto displaced = workers.submit(note(&order, 10));
  EXPECT_THROW(pool.queued.wait(), tandem::operation_cancelled);
  auto newest = workers.submit(note(&order, 11));
  EXPECT_THROW(displaced.wait(), tandem::operation_cancelled);
  EXPECT_EQ(workers.stats().waiting_submitters, 2U);
  EXPECT_EQ(workers.stats().submissions, 1U);
  pool.closed.open();
  newest.wait();
  for (auto& each : waiting) each.wait();
  EXPECT_EQ(order, (std::vector<int>{11, 0, 1}));
}

TEST(submit, a_handler_chooses_what_becomes_of_a_submission) {
  runtime_options options = one_place(queue_kind::bounded, saturation_policy::handler);
  std::vector<saturation_policy> answers = {
      saturation_policy::handler,     saturation_policy::suspend,
      saturation_policy::abort,       saturation_policy::discard,
      saturation_policy::caller_runs, saturation_policy::discard_oldest};
  std::size_t asked = 0;
  options.submissions.on_rejected = [&](const rejection& what) {
    EXPECT_EQ(what.queued, 1U);
    EXPECT_EQ(what.threads, 1U);
    return answers.at(asked++);
  };
  full_pool pool(options);
  worker_pool& workers = pool.rt.workers();
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROW(workers.submit(count_up(pool.ran)).detach(), tandem::rejected);
  }
  auto discarded = workers.submit(count_up(pool.ran));
  EXPECT_THROW(discarded.wait(), tandem::operation_cancelled);
  workers.submit(count_up(pool.ran)).wait();
  EXPECT_EQ(pool.ran.load(), 1);
  auto newest = workers.submit(count_up(pool.ran));
  EXPECT_THROW(pool.queued.wait(), tandem::operation_cancelled);
  pool.closed.open();
  newest.wait();
  EXPECT_EQ(pool.ran.load(), 2);
  EXPECT_EQ(asked, answers.size());
}

TEST(submit, what_a_handler_throws_comes_out_of_submit_and_the_task_is_gone) {
  runtime_options options = one_place(queue_kind::bounded, saturation_policy::handler);
  options.submissions.on_rejected = [](const rejection&) -> saturation_policy {
    throw std::runtime_error("planned");
  };
  full_pool pool(options);
  EXPECT_THROW(pool.rt.workers().submit(count_up(pool.ran)).detach(), std::runtime_error);
  pool.closed.open();
  pool.queued.wait();
  EXPECT_TRUE(pool.rt->drain(1h));
  EXPECT_EQ(pool.ran.load(), 1);
}

TEST(submit, a_handler_that_cannot_be_asked_is_refused_by_name) {
  EXPECT_NE(refused_options([](runtime_options& o) {
              o.submissions.when_saturated = saturation_policy::handler;
            }).find("submissions.on_rejected"),
            std::string::npos);
  EXPECT_NE(refused_options([](runtime_options& o) {
              o.submissions.on_rejected = [](const rejection&) { return saturation_policy::abort; };
            }).find("submissions.on_rejected"),
            std::string::npos);
}

}  // namespace
