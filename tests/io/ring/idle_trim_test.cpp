// idle_trim_test.cpp: a completion thread that lies down gives back the memory of frames once.
// SPDX-License-Identifier: MIT
#include "ring/idle_trim.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string_view>
#include <tandem/config.hpp>
#include <tandem/detail/frame_memory.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/executor.hpp>
#include <tandem/task.hpp>
#include <vector>

namespace {

using namespace std::chrono_literals;
using clock = tandem::io::idle_trim::clock;
constexpr auto for_good = clock::time_point::max();

tandem::task<void> does_nothing() { co_return; }

/// Makes this thread one that runs tasks: on others nothing is kept once nobody runs any
/// (trim/nobody_runs).
class runs_here final : public tandem::executor {
 public:
  runs_here() noexcept { tandem::detail::this_thread().current_executor = this; }
  ~runs_here() override { tandem::detail::this_thread().current_executor = nullptr; }
  void post(tandem::job*, tandem::post_kind) noexcept override {}
  bool is_current() const noexcept override { return true; }
  tandem::runtime* owner() const noexcept override { return nullptr; }
  std::string_view name() const noexcept override { return "runs here"; }
};

class idle_trim : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!TANDEM_KEEP_FRAMES) GTEST_SKIP() << "under AddressSanitizer no frame is kept";
    tandem::detail::trim_frame_store_for_good();
  }
  void TearDown() override {
    set_idle_time(500ms);
    tandem::detail::trim_frame_store_for_good();
  }

  static void set_idle_time(std::chrono::nanoseconds time) {
    tandem::detail::frame_idle_ns.store(time.count());
  }
  static void leave_frames() {
    const runs_here executor;
    std::vector<tandem::task<void>> tasks;
    for (int i = 0; i < 100'000; ++i) tasks.push_back(does_nothing());
    tasks.clear();
    ASSERT_TRUE(tandem::detail::has_frames_to_trim());
  }

  tandem::detail::timer_service timers_{1, false};
  tandem::io::idle_trim trim_;
};

TEST_F(idle_trim, whoever_keeps_nothing_lies_for_good) {
  EXPECT_EQ(trim_.lie_down(1, timers_), for_good);
  trim_.get_up();
  EXPECT_EQ(trim_.lie_down(1, timers_), for_good);
}

TEST_F(idle_trim, it_lies_for_its_time_then_gives_back_then_for_good) {
  leave_frames();
  set_idle_time(0s);
  EXPECT_NE(trim_.lie_down(1, timers_), for_good);
  for (int parts = 0; trim_.lie_down(1, timers_) != for_good; ++parts) {
    ASSERT_LT(parts, 1000);
    trim_.get_up();
  }
  EXPECT_FALSE(tandem::detail::has_frames_to_trim());
}

TEST_F(idle_trim, whoever_gets_up_early_gives_nothing_back_and_keeps_its_time) {
  leave_frames();
  set_idle_time(1h);
  const clock::time_point until = trim_.lie_down(1, timers_);
  EXPECT_GT(until, clock::now());
  EXPECT_NE(until, for_good);
  trim_.get_up();
  EXPECT_TRUE(tandem::detail::has_frames_to_trim());
  EXPECT_EQ(trim_.lie_down(1, timers_), until);
}

TEST_F(idle_trim, what_others_leave_does_not_wake_whoever_has_run_nothing_since) {
  EXPECT_EQ(trim_.lie_down(1, timers_), for_good);
  leave_frames();
  EXPECT_EQ(trim_.lie_down(1, timers_), for_good);
  EXPECT_NE(trim_.lie_down(2, timers_), for_good);
}

TEST_F(idle_trim, under_a_virtual_clock_nobody_waits_for_a_real_one) {
  const tandem::detail::timer_service virtual_timers(1, true);
  leave_frames();
  EXPECT_EQ(trim_.lie_down(1, virtual_timers), for_good);
}

}  // namespace
