// stage.hpp: where a cell of the registry is played: a fresh case in a runtime of its own.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include "awaitable_case.hpp"
#include "test_runtime.hpp"

namespace tandem::registry {

using namespace std::chrono_literals;
using test::test_runtime;

/// Exceptions that nobody received.
struct astray {
  std::atomic<int> unhandled{0};
  std::atomic<int> suppressed{0};
};

inline runtime_options options_for(astray& lost) {
  runtime_options options = test::with_threads(2);
  options.on_unhandled_exception = [&lost](const std::exception_ptr&) { ++lost.unhandled; };
  options.on_suppressed_exception = [&lost](const std::exception_ptr&) { ++lost.suppressed; };
  return options;
}

/// A case and its runtime.
class stage {
 public:
  explicit stage(const entry& of) : stage(of, of.clock, 1, 1) {}
  stage(const entry& of, clock_kind clock, std::uint64_t seed, unsigned workers)
      : about(of), is_virtual_(clock == clock_kind::virtual_clock), rt([&] {
          runtime_options options = options_for(lost_);
          if (is_virtual_) options.clock = virtual_time(seed, workers);
          return options;
        }()) {
    renew();
  }
  ~stage() {
    rt.run(it->end());
    EXPECT_TRUE(rt->drain(60s));
    EXPECT_EQ(lost_.unhandled, 0);
    EXPECT_EQ(lost_.suppressed, 0);
    EXPECT_EQ(rt->live_tasks(), 0U);
  }
  stage(const stage&) = delete;
  stage& operator=(const stage&) = delete;

  /// A fresh case.
  void renew() {
    if (it != nullptr) rt.run(it->end());
    it = about.make();
    rt.run(it->begin());
  }
  /// Until the awaits wait: for certain with a virtual clock, else as far as the case shows it.
  void settle() {
    if (is_virtual_) {
      rt->run_until_idle();
    } else {
      while (!it->is_waiting()) std::this_thread::yield();
    }
  }
  void let_pass(std::chrono::microseconds span) {
    if (is_virtual_) {
      rt->run_for(span);
    } else {
      std::this_thread::sleep_for(span);
    }
  }
  ended again() { return rt.run(it->await_once()); }
  bool is_virtual() const noexcept { return is_virtual_; }

  const entry& about;

 private:
  astray lost_;
  bool is_virtual_;

 public:
  std::unique_ptr<awaitable_case> it;
  test_runtime rt;
};

/// How a spawned await ended; one that was cancelled before it began counts as cancelled.
inline ended outcome_of(join_handle<ended>& handle) {
  try {
    return handle.wait();
  } catch (const operation_cancelled&) {
    return ended::cancelled;
  }
}

#define EXPECT_ENDED(actual, expected) EXPECT_STREQ(to_string(actual), to_string(expected))

/// What must be true after a stop: cancelled, and the next await gets what it did not take.
inline void expect_stopped(stage& at, ended got, on_stop rule, stop_reason reason) {
  if (rule == on_stop::ends) {
    EXPECT_ENDED(got, ended::cancelled);
  }
  if (rule == on_stop::goes_on) {
    EXPECT_ENDED(got, ended::returned);
  }
  EXPECT_NE(got, ended::failed);
  if (got != ended::cancelled) return;
  EXPECT_STREQ(to_string(at.it->reason()), to_string(reason));
  at.it->complete();
  EXPECT_ENDED(at.again(), ended::returned);
}

/// Races the stop with the completion: two threads, and under a virtual clock two segments.
void cancelled_racing(const entry& of);

}  // namespace tandem::registry
