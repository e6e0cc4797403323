// submit_support.hpp: pools that are full when a test says so.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <tandem/rejected.hpp>
#include <tandem/runtime.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "test_runtime.hpp"
#include "waits.hpp"

namespace tandem::test {

/// Nobody's turn comes at a known time: whoever needs a state waits for it.
template <class Condition>
void wait_until(Condition holds) {
  while (!holds()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// Tasks that block their worker until the test opens it.
class gate {
 public:
  gate() = default;
  gate(const gate&) = delete;
  gate& operator=(const gate&) = delete;
  ~gate() { open(); }

  task<void> block() {
    ++inside_;
    open_.wait(false);
    ++passed_;
    co_return;
  }
  void open() {
    open_ = true;
  }
  /// How many have begun to block.
  int inside() const { return inside_; }
  int passed() const { return passed_; }

 private:
  flag open_;
  std::atomic<int> inside_{0};
  std::atomic<int> passed_{0};
};

inline task<void> count_up(std::atomic<int>& count) {
  ++count;
  co_return;
}

inline runtime_options pool_of(unsigned min, unsigned max, growth_order growth) {
  runtime_options options;
  options.min_threads = min;
  options.max_threads = max;
  options.growth = growth;
  options.keep_alive = std::chrono::hours(1);
  options.adaptive.enabled = false;
  return options;
}

/// One worker, and such a queue with one place (a rendezvous has none).
inline runtime_options one_place(queue_kind kind, saturation_policy policy) {
  runtime_options options = pool_of(1, 1, growth_order::demand);
  options.submissions.queue = kind;
  if (kind == queue_kind::bounded || kind == queue_kind::priority) options.submissions.capacity = 1;
  options.submissions.when_saturated = policy;
  return options;
}

/// A pool whose worker blocks, and whose one place is taken.
class full_pool {
 public:
  explicit full_pool(runtime_options options)
      : rt(std::move(options)), running_(rt.workers().submit(closed.block())) {
    wait_until([&] { return closed.inside() == 1; });
    queued = rt.workers().submit(count_up(ran));
  }
  full_pool(const full_pool&) = delete;
  full_pool& operator=(const full_pool&) = delete;
  ~full_pool() {
    closed.open();
    running_.wait();
  }

  gate closed;
  std::atomic<int> ran{0};
  test_runtime rt;
  join_handle<void> queued;

 private:
  join_handle<void> running_;
};

/// What set-up says of a change to the options; empty: it was taken.
template <class Change>
std::string refused_options(Change change) {
  runtime_options options;
  change(options);
  try {
    const runtime made(options);
  } catch (const std::invalid_argument& failure) {
    return failure.what();
  }
  return "";
}

}  // namespace tandem::test
