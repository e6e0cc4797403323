// compute_cases.cpp: the rows of what runs plain functions: the parallel algorithms, blocking() and from_future().
// SPDX-License-Identifier: MIT
//
// Plain functions wait by keeping their thread: so a real clock, and the test's own thread
// completes.
#include <algorithm>
#include <exception>
#include <future>
#include <numeric>
#include <tandem/blocking.hpp>
#include <tandem/future.hpp>
#include <tandem/parallel_for.hpp>
#include <tandem/parallel_reduce.hpp>
#include <tandem/parallel_scan.hpp>
#include <tandem/parallel_sort.hpp>
#include <thread>
#include <vector>

#include "case_of.hpp"

namespace tandem::registry {
namespace compute_rows {  // not an unnamed one: g++ warns of frames that hold such types

/// Each item keeps its worker until the case is completed, or the task stopped.
class compute_case : public case_base {
 public:
  static constexpr clock_kind clock = clock_kind::real_clock;
  static constexpr on_stop before = on_stop::may_end;
  static constexpr on_stop during = on_stop::may_end;

  void complete() { open_ = true; }
  void fail() { fails_ = true; }
  bool is_waiting() const { return inside_; }

 protected:
  void item(bool heeds_stop = true) {
    inside_ = true;
    while (!open_ && !(heeds_stop && stop_requested())) std::this_thread::yield();
    if (fails_.exchange(false)) throw planned_failure();  // once: nothing is suppressed
  }
  static constexpr int count = 64;

 private:
  std::atomic<bool> inside_{false};
  std::atomic<bool> open_{false};
  std::atomic<bool> fails_{false};
};

class parallel_for_case : public compute_case {
 public:
  static constexpr std::string_view name = "parallel_for";
  using awaiters = covers<detail::algorithm_awaiter<int>>;
  // With pieces of one item there is always one that the stop keeps from beginning.
  static constexpr on_stop before = on_stop::ends;
  static constexpr on_stop during = on_stop::ends;

  auto make() {
    return parallel_for(0, count, [this](int /*i*/) { item(); }, 1);
  }
  task<int> in_place() {
#if defined(__clang__)
    co_await parallel_for(0, count, [this, here = counted()](int /*i*/) { item(); }, 1);
#else
    const auto body = [this, here = counted()](int /*i*/) { item(); };
    co_await parallel_for(0, count, body, 1);
    co_await parallel_for(0, count, [&](int /*i*/) { item(); }, 1);
#endif
    co_return 0;
  }
  ended took(int /*nothing*/ = 0) { return ended::returned; }
};

class parallel_for_tasks_case : public gated_case {
 public:
  static constexpr std::string_view name = "parallel_for of tasks";
  using awaiters = covers<detail::algorithm_awaiter<int>>;
  auto make() {
    return parallel_for(0, 4, [this](int i) { return i == 0 ? plain() : other_plain(); });
  }

 private:
  task<void> other_plain(counted /*here*/ = {}) { (void)co_await other(); }
};

class parallel_reduce_case : public compute_case {
 public:
  static constexpr std::string_view name = "parallel_reduce";
  using awaiters = covers<detail::algorithm_awaiter<int>>;
  static constexpr on_stop before = on_stop::ends;
  static constexpr on_stop during = on_stop::ends;
  auto make() {
    return parallel_reduce(
        0, count, 0,
        [this](int i) {
          item();
          return i;
        },
        [](int a, int b) { return a + b; }, 1);
  }
  ended took(int sum) {
    EXPECT_EQ(sum, count * (count - 1) / 2);
    return ended::returned;
  }
};

/// Operands of an operation that waits.
class scan_case : public compute_case {
 public:
  scan_case() : from_(5000, 1), to_(5000) {}
  template <class Anything>
  ended took(const Anything& /*end*/) {
    return took();
  }
  ended took() {
    EXPECT_TRUE(std::is_sorted(to_.begin(), to_.end()));
    return ended::returned;
  }

 protected:
  auto sum() {
    return [this](int a, int b) {
      item();
      return a + b;
    };
  }
  std::vector<int> from_;
  std::vector<int> to_;
};

class inclusive_scan_case : public scan_case {
 public:
  static constexpr std::string_view name = "parallel_inclusive_scan";
  static constexpr bool one_waiter = true;
  using awaiters = covers<detail::algorithm_awaiter<int>>;
  auto make() { return parallel_inclusive_scan(from_, to_.begin(), sum()); }
};

class exclusive_scan_case : public scan_case {
 public:
  static constexpr std::string_view name = "parallel_exclusive_scan";
  static constexpr bool one_waiter = true;
  using awaiters = covers<detail::algorithm_awaiter<int>>;
  auto make() { return parallel_exclusive_scan(from_, to_.begin(), 0, sum()); }
};

class sort_case : public compute_case {
 public:
  static constexpr std::string_view name = "parallel_sort";
  using awaiters = covers<detail::algorithm_awaiter<int>>;
  static constexpr bool one_waiter = true;

  sort_case() : values_(5000) {
    std::iota(values_.rbegin(), values_.rend(), 0);
    std::swap(values_[7], values_[4000]);
  }
  auto make() {
    return parallel_sort(values_, [this](int a, int b) {
      item();
      return a < b;
    });
  }
  ended took() {
    EXPECT_TRUE(std::is_sorted(values_.begin(), values_.end()));
    return ended::returned;
  }

 private:
  std::vector<int> values_;
};

/// A call that has begun is waited for, and counts; one that has not is taken out of the queue.
class blocking_case : public compute_case {
 public:
  static constexpr std::string_view name = "blocking";
  using awaiters = covers<blocking_awaiter<int (*)()>>;
  static constexpr on_stop before = on_stop::ends;
  static constexpr on_stop during = on_stop::goes_on;

  auto make() {
    return blocking([this] {
      item(false);
      return 7;
    });
  }
  task<int> in_place() {
#if defined(__clang__)
    co_return co_await blocking([this, here = counted()] {
      item(false);
      return 7;
    });
#else
    const auto body = [this, here = counted()] {
      item(false);
      return 7;
    };
    static std::atomic<unsigned> turn{0};
    if (turn++ % 2 == 0) co_return co_await blocking(body);
    co_return co_await blocking([&] {
      item(false);
      return 7;
    });
#endif
  }
  ended took(int value) {
    EXPECT_EQ(value, 7);
    return ended::returned;
  }
};

class from_future_case : public case_base {
 public:
  static constexpr std::string_view name = "from_future";
  using awaiters = covers<future_awaiter<std::future<int>&>>;
  static constexpr clock_kind clock = clock_kind::real_clock;
  static constexpr bool ready_at_once = true;
  static constexpr bool one_waiter = true;

  auto make() { return from_future(future_); }
  void complete() {
    if (completed_.exchange(true)) return;
    if (fails_) return promise_.set_exception(std::make_exception_ptr(planned_failure()));
    promise_.set_value(7);
  }
  void fail() { fails_ = true; }
  ended took(int value) {
    EXPECT_EQ(value, 7);
    return ended::returned;
  }

 private:
  std::promise<int> promise_;
  std::future<int> future_ = promise_.get_future();
  std::atomic<bool> completed_{false};
  bool fails_ = false;
};

using cases = ::testing::Types<parallel_for_case, parallel_for_tasks_case, parallel_reduce_case,
                               inclusive_scan_case, exclusive_scan_case, sort_case, blocking_case,
                               from_future_case>;
INSTANTIATE_TYPED_TEST_SUITE_P(compute, awaitable, cases, case_names);

}  // namespace compute_rows
}  // namespace tandem::registry
