// combinators_stress.cpp: random trees of all combinators, over sleeps, yields and failures, with stops.
// SPDX-License-Identifier: MIT
//
// The laws: whatever a combinator has started is gone, frame and all, when it goes on; every
// started body ends; every acquired resource is released once; every run ends, and then nothing is
// alive.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <random>
#include <ranges>
#include <stop_token>
#include <tandem/as_result.hpp>
#include <tandem/finally.hpp>
#include <tandem/first_success.hpp>
#include <tandem/for_each_concurrent.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/invoke.hpp>
#include <tandem/race.hpp>
#include <tandem/retry.hpp>
#include <tandem/shielded.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tandem/when_any.hpp>
#include <tandem/when_each.hpp>
#include <tandem/with_resource.hpp>
#include <tandem/with_stop.hpp>
#include <tandem/yield.hpp>
#include <utility>

#include "planned_failure.hpp"
#include "seeded.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::mix;
using tandem::test::planned_failure;
using tandem::test::stress;
using tandem::test::test_runtime;

/// What all trees of a run count.
struct forest {
  std::atomic<long> begun{0};
  std::atomic<long> ended{0};
  std::atomic<long> acquired{0};
  std::atomic<long> released{0};
  std::atomic<long> cleaned{0};
  std::atomic<long> guarded{0};
  unsigned failure_per_mille = 0;
};

/// Lives in a child's frame as a parameter; gone when the frame is.
class present {
 public:
  explicit present(std::atomic<int>& here) : here_(&here) { ++here; }
  present(present&& other) noexcept : here_(std::exchange(other.here_, nullptr)) {}
  present& operator=(present&&) = delete;
  ~present() {
    if (here_ != nullptr) --*here_;
  }

 private:
  std::atomic<int>* here_;
};

class counted_body {
 public:
  explicit counted_body(forest& all) : all_(all) { ++all_.begun; }
  ~counted_body() { ++all_.ended; }
  counted_body(const counted_body&) = delete;
  counted_body& operator=(const counted_body&) = delete;

 private:
  forest& all_;
};

std::chrono::microseconds some_time(std::uint64_t dice, unsigned most) {
  return std::chrono::microseconds(dice % most);
}

task<int> grow(forest& all, present mine, std::uint64_t seed, int depth);

/// One combinator with children below it; `here` counts those.
task<int> combine(forest& all, std::atomic<int>& here, std::uint64_t dice, int depth) {
  const auto child = [&all, &here, dice, depth](std::uint64_t i) {
    return grow(all, present(here), dice + i, depth - 1);
  };
  const auto children =
      std::views::iota(std::uint64_t{0}, dice % 4 + 1) | std::views::transform(child);
  switch ((dice >> 32) % 19) {
    case 0: {
      auto [a, b, c] = co_await tandem::when_all(child(0), child(1), child(2));
      co_return a + b + c;
    }
    case 1: co_return static_cast<int>((co_await tandem::when_all(children)).size());
    case 2: {
      auto [index, results] =
          co_await tandem::when_any(child(0), tandem::sleep_for(50us), child(1));
      co_return static_cast<int>(index);
    }
    case 3: co_return static_cast<int>((co_await tandem::when_any(children)).results.size());
    case 4: co_return co_await tandem::race(child(0), child(1), child(2));
    case 5: co_return co_await tandem::race(children);
    case 6: co_return co_await tandem::shielded(child(0));
    case 7: {
      auto both = tandem::when_all(child(0), child(1));
      auto [a, b] = co_await tandem::with_timeout(some_time(dice >> 20, 300), std::move(both));
      co_return a + b;
    }
    case 8: {
      ++all.guarded;
      const auto clean = [&all]() -> task<void> {
        co_await tandem::yield();
        ++all.cleaned;
      };
      co_return co_await tandem::finally(child(0), clean);
    }
    case 9: {
      const auto acquire = [&all]() -> task<forest*> {
        co_await tandem::yield();
        ++all.acquired;
        co_return &all;
      };
      const auto release = [](forest* from) -> task<void> {
        co_await tandem::sleep_for(1us);
        ++from->released;
      };
      co_return co_await tandem::with_resource(
          acquire(), [&child](forest*) { return child(0); }, release);
    }
    case 10: {
      auto options = tandem::retry_options().attempts(3).initial_delay(some_time(dice, 3));
      co_return co_await tandem::retry([&child] { return child(0); }, options);
    }
    case 11:
      co_await tandem::for_each_concurrent(std::views::iota(std::uint64_t{0}, dice % 6), 2, child);
      co_return 1;
    case 12: {
      std::stop_source source;
      const auto stops = [&source, dice]() -> task<int> {
        co_await tandem::sleep_for(some_time(dice >> 20, 100));
        source.request_stop();
        co_return 0;
      };
      auto [a, b] =
          co_await tandem::when_all(tandem::with_stop(source.get_token(), child(0)), stops());
      co_return a + b;
    }
    case 13: {
      int called = 0;
      const auto body = [&](std::stop_token token) -> task<int> {
        const std::stop_callback callback(token, [&called] { ++called; });
        co_return co_await child(0);
      };
      co_return co_await tandem::with_stop_token(body);
    }
    case 14: {
      const auto body = [&](tandem::task_scope& scope) -> task<void> {
        scope.set_max_in_flight(2);
        for (std::uint64_t i = 0; i < 5; ++i) {
          co_await scope.spawn_when_free(
              [](task<int> inner) -> task<void> { co_await std::move(inner); }(child(i)));
        }
        if (dice % 5 == 0) scope.request_stop();
      };
      co_await tandem::with_scope(body);
      co_return 1;
    }
    case 15: co_return co_await tandem::first_success(child(0), child(1), child(2));
    case 16: co_return co_await tandem::first_success(children);
    case 17: {
      int ended = 0;
      auto each = tandem::when_each(children, tandem::when_each_options().at_once(dice % 3 + 1));
      co_await tandem::for_each(std::move(each), [&](const tandem::when_each_item<int>&) {
        return ++ended == 3 ? tandem::flow::leave : tandem::flow::go_on;
      });
      co_return ended;
    }
    default: {
      auto [a, b] = co_await tandem::fork_join(child(0), child(1));
      co_return a + b;
    }
  }
}

task<int> grow(forest& all, [[maybe_unused]] present mine, std::uint64_t seed, int depth) {
  const counted_body body(all);
  const std::uint64_t dice = mix(seed);
  if (dice % 1000 < all.failure_per_mille) throw planned_failure();
  switch ((dice >> 10) % 5) {
    case 0: co_await tandem::yield(); break;
    case 1: co_await tandem::sleep_for(some_time(dice >> 20, 150)); break;
    case 2:  // goes on in spite of a stop
      (void)co_await tandem::as_result(tandem::sleep_for(some_time(dice >> 20, 150)));
      break;
    default: break;
  }
  if (depth == 0) co_return 1;
  std::atomic<int> here{0};
  std::exception_ptr failure;
  int got = 0;
  try {
    got = co_await combine(all, here, dice, depth);
  } catch (...) {
    failure = std::current_exception();
  }
  EXPECT_EQ(here.load(), 0) << "combinator " << (dice >> 32) % 19;
  if (failure != nullptr) std::rethrow_exception(std::move(failure));
  co_return got;
}

/// No cancellation: what some children have thrown, or all of a first_success.
void expect_planned(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const planned_failure&) {
  } catch (const tandem::all_failed& none) {
    EXPECT_FALSE(none.failures().empty());
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
  }
}

void run_forest(test_runtime& rt, forest& all, std::mt19937_64& random) {
  std::atomic<int> here{0};
  rt.run([](forest& f, std::atomic<int>& h, std::uint64_t seed) -> task<void> {
    for (std::uint64_t i = 0; i < 4; ++i) {
      const auto limit = std::chrono::microseconds(mix(seed + i) % 3000);
      const auto got =
          co_await tandem::as_result(tandem::with_timeout(limit, grow(f, present(h), seed + i, 4)));
      if (!got && !got.is_cancelled()) {
        expect_planned(got.exception());
      }
      EXPECT_EQ(h.load(), 0);
    }
  }(all, here, random()));
}

TEST(combinators_stress, nothing_outlives_its_combinator_and_every_run_ends) {
  stress([](std::mt19937_64& random) {
    const auto threads = static_cast<unsigned>(random() % 4 + 1);
    tandem::runtime_options options = tandem::test::with_threads(threads);
    options.on_suppressed_exception = [](const std::exception_ptr& failure) {
      // A time limit inside a child is a failure of that child.
      const tandem::result<void> suppressed(failure);
      if (!suppressed.is_cancelled()) expect_planned(failure);
    };
    forest all;
    all.failure_per_mille = random() % 3 == 0 ? 0 : static_cast<unsigned>(random() % 100);
    {
      test_runtime rt(options);
      for (int i = 0; i < 5; ++i) run_forest(rt, all, random);
      EXPECT_TRUE(rt->drain(30s));
      EXPECT_EQ(rt->live_tasks(), 0U);
    }
    EXPECT_EQ(all.begun.load(), all.ended.load());
    EXPECT_EQ(all.acquired.load(), all.released.load());
    EXPECT_EQ(all.guarded.load(), all.cleaned.load());
  });
}

}  // namespace
