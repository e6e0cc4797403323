// foreign_spawn_test.cpp: other threads start tasks, and remove them, while a virtual clock is driven.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <string_view>
#include <tandem/errors.hpp>
#include <tandem/executor.hpp>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <tandem/single_thread_executor.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "simulated.hpp"

namespace {

using tandem::runtime;
using tandem::task;
using tandem::test::simulated;

task<void> nothing() { co_return; }

/// Until the runtime refuses work, and as long again as whoever ends it needs to look around.
void wait_for_the_end(runtime& rt) {
  while (rt.workers().state() == tandem::pool_state::running) std::this_thread::yield();
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
}

/// Passes jobs on to the workers, but not before the runtime ends.
class slow_way final : public tandem::executor {
 public:
  explicit slow_way(runtime& owner) : owner_(owner) {}
  void post(tandem::job* item, tandem::post_kind kind) noexcept override {
    entered = true;
    wait_for_the_end(owner_);
    owner_.workers().post(item, kind);
  }
  bool is_current() const noexcept override { return owner_.workers().is_current(); }
  runtime* owner() const noexcept override { return &owner_; }
  std::string_view name() const noexcept override { return "slow"; }

  std::atomic<bool> entered{false};

 private:
  runtime& owner_;
};

// Terminated: "tasks wait, and nothing is left that could wake them". The task had been counted, and
// was about to be posted.
TEST(foreign_spawn, a_runtime_that_ends_waits_for_a_spawn_that_has_begun) {
  runtime rt(simulated(1, 2));
  slow_way way(rt);
  std::atomic<bool> ran{false};
  std::thread other([&] {
    rt.spawn(way,
             [](std::atomic<bool>& flag) -> task<void> {
               flag = true;
               co_return;
             }(ran))
        .detach();
  });
  while (!way.entered) std::this_thread::yield();
  rt.shutdown();
  EXPECT_TRUE(ran);
  EXPECT_EQ(rt.live_tasks(), 0U);
  other.join();
  EXPECT_THROW((void)rt.spawn(nothing()), tandem::runtime_stopped);
}

TEST(foreign_spawn, a_runtime_that_ends_waits_for_a_submission_that_has_begun) {
  std::atomic<runtime*> ending{nullptr};
  std::atomic<bool> entered{false};
  tandem::runtime_options options = simulated(1, 2);
  options.submissions.queue = tandem::queue_kind::bounded;
  options.submissions.capacity = 1;
  options.submissions.when_saturated = tandem::saturation_policy::handler;
  options.submissions.on_rejected = [&](const tandem::rejection&) {
    entered = true;
    wait_for_the_end(*ending);
    return tandem::saturation_policy::abort;
  };
  runtime rt(options);
  ending = &rt;
  auto first = rt.workers().submit(nothing());
  std::thread other([&] { EXPECT_THROW((void)rt.workers().submit(nothing()), tandem::rejected); });
  while (!entered) std::this_thread::yield();
  rt.shutdown();
  EXPECT_EQ(rt.live_tasks(), 0U);
  other.join();
  EXPECT_THROW(first.wait(), tandem::operation_cancelled);
}

/// What two threads tell each other.
class steps {
 public:
  std::atomic<bool> end_begun{false};
  std::atomic<bool> others_ran{false};
};

/// An argument whose end takes until the driver has gone on without it.
class slow_end {
 public:
  explicit slow_end(steps& told) noexcept : told_(&told) {}
  slow_end(slow_end&& other) noexcept : told_(std::exchange(other.told_, nullptr)) {}
  slow_end& operator=(slow_end&&) = delete;
  ~slow_end() {
    if (told_ == nullptr) return;
    told_->end_begun = true;
    while (!told_->others_ran) std::this_thread::yield();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  }

 private:
  steps* told_;
};

task<void> given(slow_end /*argument*/) { co_return; }

// The wait threw `stalled`: the driver had come to the removed task, and left its end to the thread
// that was about to bring it.
TEST(foreign_spawn, whoever_drives_waits_for_the_end_of_what_another_thread_cancels) {
  runtime rt(simulated(1, 2));
  steps told;
  auto removed = rt.workers().submit(given(slow_end(told)));
  auto behind = rt.workers().submit([](std::atomic<bool>& flag) -> task<void> {
    flag = true;
    co_return;
  }(told.others_ran));
  std::thread other(
      [&] { EXPECT_EQ(removed.cancel(), tandem::cancel_result::removed_before_start); });
  while (!told.end_begun) std::this_thread::yield();
  EXPECT_THROW(removed.wait(), tandem::operation_cancelled);
  other.join();
  behind.wait();
  EXPECT_EQ(rt.live_tasks(), 0U);
}

}  // namespace
