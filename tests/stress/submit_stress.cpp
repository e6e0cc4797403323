// submit_stress.cpp: a pool is shut down at every moment of a random load.
// SPDX-License-Identifier: MIT
//
// The laws: the pool terminates, its hook runs once; each submission was run, cancelled or refused,
// and its handle is done; no coroutine is left; nobody waits for a place any more.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <random>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "kept_handles.hpp"
#include "seeded.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::growth_order;
using tandem::pool_state;
using tandem::queue_kind;
using tandem::runtime_options;
using tandem::saturation_policy;
using tandem::task;
using tandem::worker_pool;
using tandem::test::kept_handles;
using tandem::test::stress;
using tandem::test::test_runtime;

/// Goes into every coroutine, so that one that is lost shows.
class token {
 public:
  explicit token(std::atomic<long>& alive) noexcept : alive_(&alive) { ++*alive_; }
  token(token&& other) noexcept : alive_(std::exchange(other.alive_, nullptr)) {}
  token& operator=(token&&) = delete;
  ~token() {
    if (alive_ != nullptr) --*alive_;
  }

 private:
  std::atomic<long>* alive_;
};

/// How the pool is ended.
enum class ending : std::uint8_t { shutdown, now, both, runtime };

class round_of_stress {
 public:
  round_of_stress(std::uint64_t seed, runtime_options options, ending how, long ends_at)
      : seed_(seed), how_(how), ends_at_(ends_at) {
    options.on_terminated = [this] { ++hooks_; };
    options.on_suppressed_exception = [](const std::exception_ptr&) {};
    options.on_unhandled_exception = [](const std::exception_ptr&) { ADD_FAILURE(); };
    runtime_.emplace(std::move(options));
  }

  void play() {
    std::array<std::thread, 3> producers;
    for (unsigned i = 0; i < producers.size(); ++i) {
      producers[i] = std::thread([this, i] { produce(i); });
    }
    for (auto& each : producers) each.join();
    count_one();  // if no submission was the last one yet
    end();
    if (how_ == ending::runtime) {
      (*runtime_)->shutdown();
    } else {
      EXPECT_TRUE(pool().await_termination(1h));
    }
    EXPECT_EQ(pool().state(), pool_state::terminated);
    EXPECT_EQ(hooks_.load(), 1);
    check_handles();
    EXPECT_EQ((*runtime_)->live_tasks(), 0U);
    EXPECT_EQ(pool().stats().submissions, 0U);
    EXPECT_EQ(pool().stats().waiting_submitters, 0U);
    given_back_.clear();
    runtime_.reset();
    EXPECT_EQ(alive_.load(), 0);
    EXPECT_EQ(hooks_.load(), 1);
  }

 private:
  worker_pool& pool() { return runtime_->workers(); }

  /// The submission that was to be the last one ends the pool, wherever it was made.
  void count_one() {
    if (submitted_.fetch_add(1) + 1 == ends_at_) end();
  }

  void end() {
    if (how_ == ending::runtime) return;
    if (how_ == ending::shutdown || how_ == ending::both) pool().shutdown();
    if (how_ == ending::now || how_ == ending::both) {
      auto unstarted = pool().shutdown_now();
      const std::lock_guard guard(lock_);
      for (auto& each : unstarted) given_back_.push_back(std::move(each));
    }
  }

  void submit_one(unsigned dice) {
    count_one();
    try {
      handles_.keep(pool().submit(work(token(alive_), dice), static_cast<int>(dice % 5)));
    } catch (const tandem::rejected&) {
      ++refused_;
    }
  }

  task<void> submit_when_free(unsigned dice) {
    count_one();
    try {
      auto handle = co_await pool().submit_when_free(work(token(alive_), dice));
      handles_.keep(std::move(handle));
    } catch (const tandem::rejected&) {
      ++refused_;
    } catch (const tandem::operation_cancelled&) {
      ++refused_;
      throw;
    }
  }

  /// `dice` loses digits on the way, so that it ends.
  task<void> work(token /*here*/, unsigned dice) {
    ++began_;
    const unsigned left = dice / 7;
    switch (dice % 7) {
      case 0: co_await tandem::sleep_for(std::chrono::microseconds(left % 200)); break;
      case 1: co_await tandem::yield(); break;
      case 2: submit_one(left); break;
      case 3: co_await submit_when_free(left); break;
      case 4:
        try {
          co_await tandem::with_timeout(std::chrono::microseconds(left % 300),
                                        submit_when_free(left));
        } catch (const tandem::operation_cancelled&) {
          throw_unless_it_was_the_limit();
        }
        break;
      default: break;
    }
    ++ended_;
  }

  static void throw_unless_it_was_the_limit() { tandem::throw_if_stopped(); }

  void produce(unsigned index) {
    std::minstd_rand random(static_cast<unsigned>(seed_) + index);
    for (int i = 0; i < 60; ++i) submit_one(static_cast<unsigned>(random()));
  }

  void check_handles() {
    const kept_handles::ends counted = handles_.count_ends();
    EXPECT_EQ(counted.values, ended_.load());
    EXPECT_EQ(counted.all() + refused_.load() + 1, submitted_.load());  // play()'s own
    const std::lock_guard guard(lock_);
    EXPECT_LE(static_cast<long>(given_back_.size()), counted.cancelled);
    EXPECT_LE(ended_.load(), began_.load());
  }

  const std::uint64_t seed_;
  const ending how_;
  const long ends_at_;
  std::atomic<int> hooks_{0};
  std::atomic<long> alive_{0};
  std::atomic<long> submitted_{0};
  std::atomic<long> refused_{0};
  std::atomic<long> began_{0};
  std::atomic<long> ended_{0};
  kept_handles handles_;
  std::mutex lock_;
  std::vector<tandem::unstarted_task> given_back_;  // guarded by lock_
  std::optional<test_runtime> runtime_;
};

template <class T, std::size_t count>
T one_of(const std::array<T, count>& all, std::mt19937_64& random) {
  return all[random() % count];
}

runtime_options random_options(std::mt19937_64& random) {
  runtime_options options;
  options.min_threads = 1 + static_cast<unsigned>(random() % 3);
  options.max_threads = options.min_threads + static_cast<unsigned>(random() % 3);
  options.growth = one_of(
      std::array{growth_order::demand, growth_order::queue_first, growth_order::threads_first},
      random);
  options.keep_alive = std::chrono::microseconds(50 + random() % 1000);
  options.allow_core_timeout = random() % 3 == 0;
  options.submissions.queue = one_of(std::array{queue_kind::unbounded, queue_kind::bounded,
                                                queue_kind::priority, queue_kind::rendezvous},
                                     random);
  const queue_kind kind = options.submissions.queue;
  if (kind == queue_kind::bounded || kind == queue_kind::priority) {
    options.submissions.capacity = 1 + random() % 8;
  }
  options.submissions.when_saturated =
      one_of(std::array{saturation_policy::abort, saturation_policy::caller_runs,
                        saturation_policy::discard, saturation_policy::suspend,
                        kind == queue_kind::bounded ? saturation_policy::discard_oldest
                                                    : saturation_policy::discard},
             random);
  return options;
}

TEST(submit_stress,
     a_shutdown_at_any_moment_ends_with_one_hook_and_every_submission_accounted_for) {
  stress([](std::mt19937_64& random) {
    const runtime_options options = random_options(random);
    const ending how =
        one_of(std::array{ending::shutdown, ending::now, ending::both, ending::runtime}, random);
    const auto ends_at = static_cast<long>(1 + random() % 250);
    round_of_stress(random(), options, how, ends_at).play();
  });
}

}  // namespace
