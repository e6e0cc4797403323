// take_back_stress.cpp: submissions are cancelled and taken back while workers start them.
// SPDX-License-Identifier: MIT
//
// The laws: each submission is run, taken back or cancelled, exactly one of these; the queue never
// holds more than its places; when all is over no coroutine is left, and each place can be taken.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <random>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "seeded.hpp"
#include "test_runtime.hpp"
#include "waits.hpp"

namespace {

using tandem::cancel_result;
using tandem::join_handle;
using tandem::queue_kind;
using tandem::runtime_options;
using tandem::task;
using tandem::worker_pool;
using tandem::test::stress;
using tandem::test::test_runtime;

class round_of_stress {
 public:
  round_of_stress(std::uint64_t seed, const runtime_options& options, bool workers_wait)
      : seed_(seed),
        threads_(options.min_threads),
        kind_(options.submissions.queue),
        capacity_(kind_ == queue_kind::rendezvous ? 0 : options.submissions.capacity),
        open_(!workers_wait),
        runtime_(options) {}

  void play() {
    std::vector<join_handle<void>> blocked;
    if (!open_) block_workers(blocked);
    std::array<std::thread, 5> actors;
    for (unsigned i = 0; i < actors.size(); ++i) {
      actors[i] = std::thread([this, i] {
        std::mt19937_64 random(seed_ + i);
        if (i < 2) submit(i, random);
        if (i == 2) wait_for_places(random);
        if (i > 2) remove(random);
      });
    }
    for (unsigned i : {0U, 1U}) actors[i].join();
    open_gate();
    for (unsigned i : {2U, 3U, 4U}) actors[i].join();
    for (auto& each : blocked) each.wait();
    check_ends();
    check_places();
    runtime_->shutdown();
    EXPECT_EQ(alive_.use_count(), 1);
  }

 private:
  static constexpr std::size_t slots = 240;  // a third for each of the submitters
  static constexpr long removers = 2;

  /// A handle, which others may use from the moment that it is there.
  class slot {
   public:
    join_handle<void> handle;
    std::atomic<bool> is_there{false};
  };

  worker_pool& pool() { return runtime_.workers(); }

  task<void> work(std::shared_ptr<int> /*here*/, bool waits) {
    ++started_;
    if (waits) co_await tandem::yield();
    ++ran_;
  }
  task<void> block() {
    ++inside_;
    open_.wait(false);
    co_return;
  }
  void open_gate() {
    open_ = true;
  }
  void block_workers(std::vector<join_handle<void>>& handles) {
    open_ = false;
    inside_ = 0;
    while (handles.size() < threads_) {
      try {
        handles.push_back(pool().submit(block()));
      } catch (const tandem::rejected&) {
        std::this_thread::yield();  // the last ones are not parked yet
      }
    }
    while (inside_ != static_cast<int>(threads_)) std::this_thread::yield();
  }

  void keep(std::size_t index, join_handle<void> handle) {
    const long taken = ++accepted_;
    // Later than `taken`. Beside the queue's own there are those that a worker, or a remover, has in
    // hand and has not counted yet.
    const long gone = started_ + taken_back_ + cancelled_;
    if (capacity_ != unlimited) {
      EXPECT_LE(taken - gone, static_cast<long>(capacity_ + threads_) + removers);
    }
    all_[index].handle = std::move(handle);
    all_[index].is_there.store(true, std::memory_order_release);
  }
  void submit(unsigned index, std::mt19937_64& random) {
    for (std::size_t i = index; i < slots; i += 3) {
      const auto dice = random();
      try {
        keep(i, pool().submit(work(alive_, dice % 2 == 0), static_cast<int>(dice % 5)));
      } catch (const tandem::rejected&) {
        if (dice % 3 == 0) std::this_thread::yield();
      }
    }
  }
  task<void> submit_when_free(std::size_t index, std::uint64_t dice) {
    keep(index,
         co_await pool().submit_when_free(work(alive_, dice % 2 == 0), static_cast<int>(dice % 5)));
  }
  void wait_for_places(std::mt19937_64& random) {
    tandem::runtime elsewhere(tandem::test::with_threads(1));
    for (std::size_t i = 2; i < slots; i += 3) {
      elsewhere.spawn(submit_when_free(i, random())).detach();
    }
    (void)elsewhere.drain(std::chrono::hours(1));
    done_ = true;
  }
  void remove(std::mt19937_64& random) {
    while (!done_) {
      const auto dice = random();
      slot& at = all_[dice / 2 % slots];
      if (!at.is_there.load(std::memory_order_acquire)) continue;
      if (dice % 2 == 0) {
        if (at.handle.take_back()) ++taken_back_;
      } else if (at.handle.cancel() == cancel_result::removed_before_start) {
        ++cancelled_;
      }
      if (dice % 64 == 0) std::this_thread::yield();
    }
  }

  void check_ends() {
    long values = 0;
    long others = 0;
    for (slot& each : all_) {
      if (!each.is_there) continue;
      try {
        each.handle.wait();
        ++values;
      } catch (const tandem::operation_cancelled&) {
        ++others;
      }
      each.handle = join_handle<void>();
    }
    EXPECT_EQ(values + others, accepted_);
    EXPECT_EQ(others, taken_back_ + cancelled_ + (started_ - ran_));  // stopped at its yield
    EXPECT_EQ(values, ran_);
    EXPECT_EQ(started_ + taken_back_ + cancelled_, accepted_);
  }
  void check_places() {
    EXPECT_EQ(pool().stats().submissions, 0U);
    EXPECT_EQ(pool().stats().waiting_submitters, 0U);
    if (capacity_ == unlimited) return;
    std::vector<join_handle<void>> handles;
    block_workers(handles);
    for (std::size_t i = 0; i < capacity_; ++i)
      handles.push_back(pool().submit(work(alive_, false)));
    EXPECT_THROW(pool().submit(work(alive_, false)).detach(), tandem::rejected);
    open_gate();
    for (auto& each : handles) each.wait();
  }

  static constexpr std::size_t unlimited = tandem::submission_options::unlimited;
  const std::uint64_t seed_;
  const unsigned threads_;
  const queue_kind kind_;
  const std::size_t capacity_;
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
  std::array<slot, slots> all_;
  tandem::test::flag open_;
  std::atomic<int> inside_{0};
  std::atomic<long> accepted_{0};
  std::atomic<long> started_{0};
  std::atomic<long> ran_{0};
  std::atomic<long> taken_back_{0};
  std::atomic<long> cancelled_{0};
  std::atomic<bool> done_{false};
  test_runtime runtime_;
};

TEST(submit_stress, each_submission_runs_or_is_taken_back_or_is_cancelled_and_no_place_leaks) {
  stress([](std::mt19937_64& random) {
    runtime_options options;
    options.min_threads = 1 + static_cast<unsigned>(random() % 3);
    options.max_threads = options.min_threads;
    options.adaptive.enabled = false;
    constexpr std::array kinds = {queue_kind::unbounded, queue_kind::bounded, queue_kind::priority,
                                  queue_kind::rendezvous};
    const queue_kind kind = kinds[random() % kinds.size()];
    options.submissions.queue = kind;
    if (kind == queue_kind::bounded || kind == queue_kind::priority) {
      options.submissions.capacity = 1 + random() % 40;
    }
    const bool workers_wait = random() % 2 == 0;
    round_of_stress(random(), options, workers_wait).play();
  });
}

}  // namespace
