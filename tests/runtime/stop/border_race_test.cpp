// border_race_test.cpp: steps of the protocols groups, stopping and places whose order matters, in windows made wide.
// SPDX-License-Identifier: MIT
//
// Each was shown to fail on a mutation: settle before note_end in child_group::child_ended; no
// hand_over in stop_to_token::child_ended; a waiter taken from a place_queue that is not marked as
// granted.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/shielded.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/when_all.hpp>
#include <tandem/with_stop.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>

#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::test_runtime;

tandem::runtime_options quiet(unsigned threads) {
  tandem::runtime_options options = tandem::test::with_threads(threads);
  options.on_suppressed_exception = [](const std::exception_ptr&) {};
  return options;
}

class planned : public std::runtime_error {
 public:
  planned() : std::runtime_error("planned") {}
};

/// Two children that run at once, or one of them gives up.
class meeting {
 public:
  void meet() noexcept {
    ++there_;
    for (int i = 0; i < 20'000 && there_.load() != 2; ++i) {}
  }

 private:
  std::atomic<int> there_{0};
};

void linger(int turns) noexcept {
  static std::atomic<int> count{0};
  for (int i = 0; i < turns / 4; ++i) count.fetch_add(1, std::memory_order_relaxed);
}

TEST(child_group, a_failure_in_a_stopped_group_is_noted_before_the_group_ends) {
  test_runtime rt(quiet(2));
  int lost = 0;
  const auto fails = [](meeting& both) -> task<void> {
    both.meet();
    throw planned();
    co_return;
  };
  const auto returns = [](meeting& both, int turns) -> task<void> {
    both.meet();
    linger(turns);
    co_return;
  };
  std::stop_source stopped;
  stopped.request_stop();  // so that telling a failure from a cancellation takes a while
  const auto rounds = [&]() -> task<void> {
    for (int i = 0; i < 10'000; ++i) {
      meeting both;
      auto all = tandem::when_all(returns(both, i % 97 * 100), fails(both));
      const auto got =
          co_await tandem::as_result(tandem::with_stop(stopped.get_token(), std::move(all)));
      if (got) ++lost;
    }
  };
  rt.run(rounds());
  EXPECT_EQ(lost, 0);
}

TEST(with_stop_token, goes_on_only_when_the_callbacks_of_its_token_have_ended) {
  test_runtime rt(2);
  std::atomic<bool> begun{false};
  std::atomic<bool> inside{false};
  std::atomic<bool> went_on{false};
  std::atomic<bool> overtaken{false};
  const auto callback = [&] {
    inside = true;
    for (int i = 0; i < 50 && !went_on; ++i) std::this_thread::sleep_for(1ms);
    overtaken = went_on.load();
  };
  std::optional<std::stop_callback<decltype(callback)>> registered;  // outlives the body's frame
  const auto body = [&](std::stop_token token) -> task<void> {
    registered.emplace(token, callback);
    begun = true;
    while (!inside) co_await tandem::shielded(tandem::sleep_for(1ms));
  };
  const auto outer = [&]() -> task<void> {
    co_await tandem::with_stop_token(body);
    went_on = true;
  };
  auto handle = rt->spawn(outer());
  while (!begun) std::this_thread::yield();
  while (handle.cancel() != tandem::cancel_result::stop_requested) {}
  EXPECT_FALSE(overtaken);
  handle.wait();
  EXPECT_TRUE(went_on);
}

TEST(task_scope, places_granted_while_their_waiters_are_stopped_are_granted_once) {
  test_runtime rt(quiet(3));
  constexpr int count = 400;
  const auto nothing = []() -> task<void> { co_return; };
  for (int round = 0; round < 30; ++round) {
    std::atomic<int> waiting{0};
    std::atomic<int> spawned{0};
    std::atomic<int> stopped{0};
    std::atomic<int> ready{0};
    const auto waiter = [&](tandem::task_scope& outer) -> task<void> {
      ++waiting;
      const auto got = co_await tandem::as_result(outer.spawn_when_free(nothing()));
      ++(got ? spawned : stopped);
    };
    const auto body = [&](tandem::task_scope& outer) -> task<void> {
      outer.set_max_in_flight(1);
      tandem::event release;
      outer.spawn(
          [](tandem::event& e) -> task<void> { co_await tandem::shielded(e.wait()); }(release));
      const auto inner_body = [&](tandem::task_scope& inner) -> task<void> {
        for (int i = 0; i < count; ++i) inner.spawn(waiter(outer));
        while (waiting != count) co_await tandem::yield();
        std::thread granter([&] {
          ++ready;
          while (ready != 2) {}
          outer.set_max_in_flight(100'000);
        });
        ++ready;
        while (ready != 2) {}
        linger(round % 10 * 300);
        inner.request_stop();
        granter.join();
      };
      (void)co_await tandem::as_result(tandem::with_scope(inner_body));
      EXPECT_EQ(spawned + stopped, count);
      outer.set_max_in_flight(2);
      release.set();
      co_await outer.join();
      co_await outer.spawn_when_free(nothing());  // all places have come back
      co_await outer.spawn_when_free(nothing());
    };
    const auto whole = [&]() -> task<void> { co_await tandem::with_scope(body); };
    rt.run(whole());
  }
}

}  // namespace
