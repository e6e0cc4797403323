// driven_loop_test.cpp: when a run without threads is over, looked at from inside.
// SPDX-License-Identifier: MIT
#include "worker/driven_loop.hpp"

#include <gtest/gtest.h>

#include <tandem/detail/clock_hold.hpp>
#include <tandem/runtime.hpp>

#include "platform/futex.hpp"
#include "runtime/runtime_impl.hpp"

namespace {

using tandem::detail::driven_loop;

/// Becomes true between two looks, as if by another thread, which then releases the clock.
class ended_elsewhere {
 public:
  ended_elsewhere(tandem::runtime& owner, int looks_before) : owner_(owner), left_(looks_before) {
    tandem::detail::hold_clock(owner_);
  }
  static bool ask(const void* self) noexcept {
    return const_cast<ended_elsewhere*>(static_cast<const ended_elsewhere*>(self))->look();
  }
  bool is_over() const noexcept { return over_; }

 private:
  bool look() noexcept {
    const bool seen = over_;
    if (left_-- == 0) {  // right after this look
      over_ = true;
      tandem::detail::release_clock(owner_);
    }
    return seen;
  }

  tandem::runtime& owner_;
  int left_;
  bool over_ = false;
};

// Found by review: the condition was read, then the holds, so what came between was not seen.
TEST(driven_loop,
     a_condition_that_becomes_true_between_two_looks_is_seen_before_the_run_is_stalled) {
  for (int looks = 0; looks < 2; ++looks) {
    tandem::runtime_options options;
    options.clock = tandem::virtual_time(1, 2);
    tandem::runtime rt(options);
    ended_elsewhere condition(rt, looks);
    const auto how = rt.implementation().loop->run_until(
        driven_loop::condition(&ended_elsewhere::ask, &condition), tandem::platform::no_deadline);
    EXPECT_EQ(how, driven_loop::ending::done) << "after " << looks << " looks";
    EXPECT_TRUE(condition.is_over());
  }
}

TEST(driven_loop, a_condition_that_becomes_true_between_two_looks_ends_the_run_at_that_time) {
  for (int looks = 0; looks < 2; ++looks) {
    tandem::runtime_options options;
    options.clock = tandem::virtual_time(1, 2);
    tandem::runtime rt(options);
    const auto before = rt.now();
    ended_elsewhere condition(rt, looks);
    const auto deadline = (before + std::chrono::hours(1)).time_since_epoch().count();
    const auto how = rt.implementation().loop->run_until(
        driven_loop::condition(&ended_elsewhere::ask, &condition), deadline);
    EXPECT_EQ(how, driven_loop::ending::done) << "after " << looks << " looks";
    EXPECT_EQ(rt.now(), before) << "time passed though the run was over";
  }
}

}  // namespace
