// stop_test.cpp: the stop state alone, then stops against everything that waits.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <stop_token>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/stop.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::stop_reason;
using tandem::stop_state;
using tandem::task;
using tandem::test::test_runtime;

class recording_waiter : public tandem::stop_listener {
 public:
  recording_waiter() : stop_listener(recorded, &recording_waiter::resumed) {}
  int stops = 0;
  int resumes = 0;

 private:
  static const tandem::detail::wait_kind recorded;
  static bool stopped(stop_waiter& self) noexcept {
    auto& waiter = static_cast<recording_waiter&>(self);
    ++waiter.stops;
    (void)waiter.hand_over();  // as an operation does that could be detached
    return true;
  }
  static void resumed(stop_listener& self) noexcept {
    ++static_cast<recording_waiter&>(self).resumes;
  }
};

constinit const tandem::detail::wait_kind recording_waiter::recorded(&recording_waiter::stopped,
                                                                     "a record");

TEST(stop_state, tells_a_published_waiter_once_and_keeps_the_first_reason) {
  stop_state state;
  recording_waiter waiter;
  ASSERT_TRUE(state.publish(waiter));
  EXPECT_TRUE(state.request_stop(stop_reason::deadline));
  EXPECT_FALSE(state.request_stop(stop_reason::user));
  EXPECT_EQ(waiter.stops, 1);
  EXPECT_EQ(waiter.resumes, 1);
  EXPECT_EQ(state.reason(), stop_reason::deadline);
}

TEST(stop_state, a_stop_without_a_reason_counts_as_the_users) {
  stop_state state;
  EXPECT_TRUE(state.request_stop(stop_reason::none));
  EXPECT_EQ(state.reason(), stop_reason::user);
  EXPECT_FALSE(state.request_stop(stop_reason::deadline));
}

TEST(stop_state, a_withdrawn_waiter_hears_nothing_and_a_late_one_is_refused) {
  stop_state state;
  recording_waiter early;
  recording_waiter late;
  ASSERT_TRUE(state.publish(early));
  EXPECT_TRUE(state.take_back(early));
  EXPECT_TRUE(state.request_stop(stop_reason::user));
  EXPECT_EQ(early.stops, 0);
  EXPECT_FALSE(state.publish(late));
  EXPECT_EQ(late.stops, 0);
}

TEST(stop_state, several_waiters_of_forked_siblings_are_all_told) {
  stop_state state;
  std::vector<std::unique_ptr<recording_waiter>> waiters;
  for (int i = 0; i < 10; ++i) {
    waiters.push_back(std::make_unique<recording_waiter>());
    ASSERT_TRUE(state.publish(*waiters.back()));
  }
  // One from the slot, one from the middle of the list, and the ends.
  for (const std::size_t gone : {0U, 4U, 9U, 1U}) EXPECT_TRUE(state.take_back(*waiters[gone]));
  state.request_stop(stop_reason::user);
  int told = 0;
  for (const auto& waiter : waiters) told += waiter->stops;
  EXPECT_EQ(told, 6);
}

TEST(stop_state, goes_down_a_tree_with_the_same_reason_and_not_up) {
  stop_state root;
  stop_state middle;
  stop_state leaf;
  stop_state sibling;
  middle.link(root);
  leaf.link(middle);
  sibling.link(root);
  recording_waiter waiter;
  ASSERT_TRUE(leaf.publish(waiter));
  middle.request_stop(stop_reason::sibling_failed);
  EXPECT_EQ(leaf.reason(), stop_reason::sibling_failed);
  EXPECT_EQ(waiter.stops, 1);
  EXPECT_FALSE(root.stop_requested());
  EXPECT_FALSE(sibling.stop_requested());
  root.request_stop(stop_reason::user);
  EXPECT_EQ(sibling.reason(), stop_reason::user);
  EXPECT_EQ(leaf.reason(), stop_reason::sibling_failed);
  stop_state late;
  late.link(root);
  EXPECT_EQ(late.reason(), stop_reason::user);
  late.unlink();
  leaf.unlink();
  sibling.unlink();
  middle.unlink();
}

TEST(stop_state, a_chain_of_a_hundred_thousand_is_stopped_without_recursion) {
  std::vector<std::unique_ptr<stop_state>> chain;
  chain.push_back(std::make_unique<stop_state>());
  for (int i = 1; i < 100'000; ++i) {
    chain.push_back(std::make_unique<stop_state>());
    chain[static_cast<std::size_t>(i)]->link(*chain[static_cast<std::size_t>(i) - 1]);
  }
  chain.front()->request_stop(stop_reason::user);
  EXPECT_TRUE(chain.back()->stop_requested());
  for (std::size_t i = chain.size(); i-- > 0;) chain[i]->unlink();
}

TEST(stop, run_with_a_stop_token_stops_the_task) {
  std::stop_source source;
  std::atomic<bool> sleeping{false};
  std::jthread stopper([&] {
    while (!sleeping.load()) std::this_thread::yield();
    source.request_stop();
  });
  const auto waits = [](std::atomic<bool>& ready) -> task<int> {
    ready.store(true);
    co_await tandem::sleep_for(10h);
    co_return 1;
  };
  EXPECT_THROW(tandem::run(waits(sleeping), source.get_token(), tandem::test::with_threads(2)),
               tandem::operation_cancelled);
}

TEST(stop, run_with_a_token_that_was_stopped_before_does_not_start_the_task) {
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(tandem::run([]() -> task<void> { co_await tandem::sleep_for(10h); }(),
                           source.get_token(), tandem::test::with_threads(1)),
               tandem::operation_cancelled);
}

TEST(stop, plain_functions_can_ask_and_throw) {
  test_runtime rt;
  EXPECT_FALSE(tandem::stop_requested());
  EXPECT_NO_THROW(tandem::throw_if_stopped());
  const auto spins = []() -> task<int> {
    while (!tandem::stop_requested()) std::this_thread::yield();
    tandem::throw_if_stopped();
    co_return 0;
  };
  rt.run([](auto make) -> task<void> {
    try {
      co_await tandem::with_timeout(2ms, make());
      ADD_FAILURE() << "throw_if_stopped did not throw";
    } catch (const tandem::operation_cancelled& e) {
      EXPECT_EQ(e.reason(), stop_reason::deadline);
      EXPECT_EQ(e.code(), std::errc::operation_canceled);
    }
  }(spins));
}

TEST(stop, a_tree_of_waiting_tasks_ends_with_its_root) {
  test_runtime rt;
  struct tree {
    static task<void> grow(int depth, std::atomic<int>& ended) {
      try {
        if (depth == 0) {
          co_await tandem::sleep_for(10h);
        } else {
          co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
            for (int i = 0; i < 4; ++i) scope.spawn(grow(depth - 1, ended));
            co_return;
          });
        }
      } catch (const tandem::operation_cancelled&) {
        ++ended;
        throw;
      }
    }
  };
  std::atomic<int> ended{0};
  auto handle = rt->spawn(tree::grow(5, ended));
  while (rt->live_tasks() < 1 + 4 + 16 + 64 + 256 + 1024) std::this_thread::yield();
  EXPECT_EQ(handle.cancel(), tandem::cancel_result::stop_requested);
  EXPECT_THROW(handle.wait(), tandem::operation_cancelled);
  EXPECT_TRUE(rt->drain(10s));
  EXPECT_GE(ended.load(), 1024);
}

}  // namespace
