// races.cpp: the column in which the stop and the completion come at the same time.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <tandem/sleep.hpp>
#include <thread>

#include "seeded.hpp"
#include "stage.hpp"

/// How often the two threads meet; fewer times where that is slow.
#ifndef TANDEM_TEST_RACES
#define TANDEM_TEST_RACES 200
#endif

namespace tandem::registry {
namespace {

void spin(std::uint64_t turns) {
  for (std::uint64_t i = 0; i < turns; ++i) std::atomic_signal_fence(std::memory_order_seq_cst);
}

/// After a race: exactly one outcome, and nothing is lost.
void expect_one_outcome(stage& at, ended got) {
  EXPECT_NE(got, ended::failed);
  if (at.about.before == on_stop::goes_on && at.about.during == on_stop::goes_on) {
    // Only a task that never began can be cancelled.
    if (got == ended::cancelled) {
      EXPECT_FALSE(at.it->is_waiting());
    }
  }
  if (got == ended::cancelled) {
    EXPECT_ENDED(at.again(), ended::returned);
  }
}

/// A second thread, which makes a call at the very moment at which the first one goes on.
class companion {
 public:
  companion() = default;
  companion(const companion&) = delete;
  companion& operator=(const companion&) = delete;
  ~companion() {
    state_ = state::over;
    thread_.join();
  }
  /// Returns when both threads run; then the other one calls.
  void call(std::function<void()> what) {
    what_ = std::move(what);
    state_ = state::asked;
    await(state::armed);
    state_ = state::go;
  }
  /// Until the call has returned.
  void wait() const { await(state::idle); }

 private:
  // idle and armed -> the caller may write; asked and go -> the thread may.
  enum class state : std::uint8_t { idle, asked, armed, go, over };

  void await(state wanted) const {
    for (int turns = 0; state_ != wanted; ++turns) {
      if (turns > 2000) std::this_thread::yield();  // the other one may need this CPU
    }
  }
  void run() {
    while (true) {
      const state seen = state_;
      if (seen == state::over) return;
      if (seen == state::asked) {
        state_ = state::armed;
        await(state::go);
        what_();
        state_ = state::idle;
      }
      std::this_thread::yield();
    }
  }

  std::function<void()> what_;
  std::atomic<state> state_{state::idle};
  std::thread thread_{[this] { run(); }};
};

void race_of_threads(const entry& of, std::mt19937_64& random) {
  stage at(of, clock_kind::real_clock, 0, 0);
  companion other;
  for (int round = 0; round < TANDEM_TEST_RACES && !::testing::Test::HasFailure(); ++round) {
    if (round > 0) at.renew();
    at.it->set_span(std::chrono::microseconds(random() % 60));
    auto waiting = at.rt->spawn(at.it->await_once());
    if (round % 2 == 0) at.settle();
    const std::uint64_t before_complete = random() % 500;
    other.call([&] {
      spin(before_complete);
      at.it->complete();
    });
    spin(random() % 500);
    waiting.cancel();
    const ended got = outcome_of(waiting);
    other.wait();
    expect_one_outcome(at, got);
  }
}

task<void> complete_it(awaitable_case& it) {
  it.complete();
  co_return;
}
task<void> cancel_after(join_handle<ended>& handle, std::chrono::microseconds span, bool sleeps) {
  if (sleeps) co_await sleep_for(span);
  handle.cancel();
}

/// The same seed gives the same order of the three tasks, so a failure can be repeated.
void race_of_segments(const entry& of, std::uint64_t seed) {
  SCOPED_TRACE("virtual_time(" + std::to_string(seed) + ", 2)");
  stage at(of, clock_kind::virtual_clock, seed, 2);
  at.it->set_span(1ms);
  auto waiting = at.rt->spawn(at.it->await_once());
  if (seed % 2 == 0) at.rt->run_until_idle();
  auto completes = at.rt->spawn(complete_it(*at.it));
  auto cancels = at.rt->spawn(cancel_after(waiting, 1ms, of.self_completing));
  const ended got = outcome_of(waiting);
  completes.wait();
  cancels.wait();
  expect_one_outcome(at, got);
}

}  // namespace

void cancelled_racing(const entry& of) {
  std::mt19937_64 random(test::stress_seed());
  race_of_threads(of, random);
  if (of.clock != clock_kind::virtual_clock) return;
  for (std::uint64_t seed = 1; seed <= 40 && !::testing::Test::HasFailure(); ++seed) {
    race_of_segments(of, seed);
  }
}

}  // namespace tandem::registry
