// refused_runs.hpp: what programs do with a runtime, from its start to its end, while the system refuses something.
// SPDX-License-Identifier: MIT
//
// Each run has a runtime of its own, and checks what has to hold whatever was refused: all that was
// started has ended, and each of the failures is one that a refusal leads to.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <exception>
#include <functional>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string_view>
#include <tandem/blocking.hpp>
#include <tandem/callback_stream.hpp>
#include <tandem/channel.hpp>
#include <tandem/fair_scheduler.hpp>
#include <tandem/finally.hpp>
#include <tandem/fork_join.hpp>
#include <tandem/parallel_reduce.hpp>
#include <tandem/parallel_sort.hpp>
#include <tandem/pool_change.hpp>
#include <tandem/priority.hpp>
#include <tandem/priority_scheduler.hpp>
#include <tandem/runtime.hpp>
#include <tandem/single_thread_executor.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/strand.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tandem/yield.hpp>
#include <utility>
#include <vector>

#include "waits.hpp"

namespace tandem::test {

/// Threads are called w-... Longer than what the system keeps of a name.
inline runtime_options small(unsigned threads = 2) {
  runtime_options options;
  options.min_threads = threads;
  options.max_threads = threads + 2;
  options.name = "w-of-a-pool-with-a-long-name";
  // Here a refusal may end as the failure of a task whose handle is gone.
  options.on_unhandled_exception = [](const std::exception_ptr&) {};
  options.on_suppressed_exception = [](const std::exception_ptr&) {};
  return options;
}

/// Tasks that have begun and not ended.
class alive {
 public:
  explicit alive(std::atomic<int>& count) noexcept : count_(count) { ++count_; }
  ~alive() { --count_; }
  alive(const alive&) = delete;
  alive& operator=(const alive&) = delete;

 private:
  std::atomic<int>& count_;
};

inline task<int> give(std::atomic<int>& count, int value) {
  const alive here(count);
  co_await yield();
  co_return value;
}

inline task<int> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await fork_join(fib(n - 1), fib(n - 2));
  co_return a + b;
}

inline task<void> sleep_a_little(std::atomic<int>& count) {
  const alive here(count);
  co_await sleep_for(std::chrono::microseconds(50));
}

inline task<void> fill(channel<int>& into, int count) {
  for (int i = 0; i < count; ++i) co_await into.send(i);
  into.close();
}

inline task<int> sum_of(channel<int>& from) {
  int sum = 0;
  while (auto item = co_await from.receive()) sum += *item;
  co_return sum;
}

/// Starts, waits, ends.
inline void start_and_end() {
  runtime owner(small());
  owner.shutdown();
}

inline void spawn_and_wait() {
  std::atomic<int> count{0};
  {
    runtime owner(small());
    join_handle<int> first = owner.spawn(give(count, 1));
    join_handle<int> second = owner.spawn(give(count, 2));
    EXPECT_EQ(first.wait() + second.wait(), 3);
    owner.spawn(give(count, 3)).detach();
  }
  EXPECT_EQ(count, 0);
}

inline void fork_and_join() {
  runtime owner(small());
  EXPECT_EQ(owner.spawn(fib(8)).wait(), 21);
}

inline task<int> children_of_a_scope(std::atomic<int>& count) {
  co_await with_scope([&count](task_scope& scope) -> task<void> {
    scope.set_max_in_flight(2);
    for (int i = 0; i < 3; ++i) scope.spawn(sleep_a_little(count));
    co_await scope.spawn_when_free(sleep_a_little(count));
    co_await scope.join();
  });
  EXPECT_EQ(count, 0);
  auto [a, b] = co_await when_all(give(count, 1), give(count, 2));
  co_return a + b;
}

inline void scopes_and_timers() {
  std::atomic<int> count{0};
  {
    runtime owner(small());
    EXPECT_EQ(owner.spawn(children_of_a_scope(count)).wait(), 3);
  }
  EXPECT_EQ(count, 0);
}

inline task<void> limited(std::atomic<int>& count) {
  bool was_stopped = false;
  try {
    co_await with_timeout(std::chrono::microseconds(50), sleep_for(std::chrono::hours(1)));
  } catch (const operation_cancelled&) {
    was_stopped = true;
  }
  EXPECT_TRUE(was_stopped);
  co_await sleep_a_little(count);
}

inline void limits() {
  std::atomic<int> count{0};
  runtime owner(small());
  join_handle<void> first = owner.spawn(limited(count));
  first.wait();
}

inline void channels() {
  channel<int> between(2);
  runtime owner(small());
  join_handle<void> filled = owner.spawn(fill(between, 10));
  int sum = 0;
  try {
    sum = owner.spawn(sum_of(between)).wait();
  } catch (...) {
    between.close();
    throw;
  }
  filled.wait();
  EXPECT_EQ(sum, 45);
}

inline task<int> call_blocking() {
  const int first = co_await blocking([] { return 20; });
  co_return first + co_await blocking([] { return 22; });
}

inline void blocking_calls() {
  runtime owner(small());
  EXPECT_EQ(owner.spawn(call_blocking()).wait(), 42);
}

inline task<int> sum_of_calls(std::atomic<int>& subscribed) {
  const auto subscribe = [&](const callback<void(int)>& on_value) {
    ++subscribed;
    for (const int each : {20, 10, 12}) on_value(each);
    return [&] { --subscribed; };
  };
  co_return co_await with_callbacks(callback_stream<int>(4, overflow_policy::fail, subscribe),
                                    [](auto& values) -> task<int> {
                                      int sum = 0;
                                      while (const auto one = co_await values.next()) {
                                        sum += *one;
                                        if (sum == 42) break;
                                      }
                                      co_return sum;
                                    });
}

inline void streams_of_callbacks() {
  std::atomic<int> subscribed{0};
  runtime owner(small());
  try {
    EXPECT_EQ(owner.spawn(sum_of_calls(subscribed)).wait(), 42);
  } catch (...) {
    EXPECT_EQ(subscribed, 0);
    throw;
  }
  EXPECT_EQ(subscribed, 0);
}

inline void clean_ups() {
  std::atomic<int> begun{0};
  runtime_options options = small();
  options.max_threads = options.min_threads;  // the clean-up's timer is the first
  runtime owner(options);
  const auto begin = [&]() -> task<int> {
    task<void> ending = [](std::atomic<int>& count) -> task<void> {
      --count;
      co_return;
    }(begun);
    task<void> both = finally(yield(), std::move(ending));
    ++begun;  // nothing that the clean-up needs is still to be asked for
    co_await std::move(both);
    co_return 42;
  };
  try {
    EXPECT_EQ(owner.spawn(begin()).wait(), 42);
  } catch (...) {
    EXPECT_EQ(begun, 0);
    throw;
  }
  EXPECT_EQ(begun, 0);
}

inline void executors_over_the_pool() {
  std::atomic<int> count{0};
  {
    runtime owner(small());
    strand line(owner.workers());
    fair_scheduler fair(owner.workers());
    fair_queue queue = fair.add_queue();
    priority_scheduler ranks(owner.workers());
    join_handle<int> in_line = owner.spawn(line.executor(), give(count, 1));
    join_handle<int> in_turn = owner.spawn(queue.executor(), give(count, 2));
    join_handle<int> ranked = owner.spawn(ranks.level(priority::high), give(count, 3));
    EXPECT_EQ(in_line.wait() + in_turn.wait() + ranked.wait(), 6);
  }
  EXPECT_EQ(count, 0);
}

inline void a_thread_of_its_own() {
  std::atomic<int> count{0};
  runtime owner(small());
  single_thread_executor alone(owner, "alone");
  EXPECT_EQ(owner.spawn(alone, give(count, 4)).wait(), 4);
}

inline void submissions() {
  std::atomic<int> count{0};
  {
    runtime_options options = small(1);
    options.submissions.queue = queue_kind::priority;
    runtime owner(std::move(options));
    std::vector<join_handle<int>> handles;
    handles.reserve(4);
    for (int i = 0; i < 4; ++i) handles.push_back(owner.workers().submit(give(count, i)));
    int sum = 0;
    for (join_handle<int>& each : handles) sum += each.wait();
    EXPECT_EQ(sum, 6);
    owner.workers().submit(give(count, 9)).detach();
    (void)owner.workers().shutdown_now();
  }
  EXPECT_EQ(count, 0);
}

inline void changes_while_it_runs() {
  std::atomic<int> count{0};
  {
    runtime owner(small(1));
    join_handle<int> before = owner.spawn(give(count, 1));
    pool_change more;
    more.min_threads = 3;
    more.max_threads = 6;
    owner.workers().reconfigure(more);
    join_handle<int> after = owner.spawn(give(count, 2));
    EXPECT_EQ(before.wait() + after.wait(), 3);
    (void)owner.workers().describe();
    (void)owner.metrics();
  }
  EXPECT_EQ(count, 0);
}

/// Without threads, so that more items wait at once than a scheduler begins with.
inline void many_items_in_turn() {
  constexpr int many = 100;
  std::atomic<int> count{0};
  int ended = 0;
  {
    runtime owner(small(0));
    fair_scheduler fair(owner.workers());
    fair_queue queue = fair.add_queue();
    std::vector<join_handle<int>> handles;
    handles.reserve(many);
    for (int i = 0; i < many; ++i) {
      handles.push_back(owner.spawn(queue.executor(), give(count, i)));
    }
    owner.run_until_idle();
    for (const join_handle<int>& each : handles) ended += each.is_done() ? 1 : 0;
  }
  EXPECT_EQ(count, 0);
  EXPECT_EQ(ended, many);
}

inline task<void> fail_alone() {
  throw std::runtime_error("planned");
  co_return;
}

inline void a_failure_that_nobody_takes() {
  std::atomic<int> heard{0};
  const std::array<std::atomic<int>*, 4> large{&heard, nullptr, nullptr, nullptr};
  {
    runtime_options options = small(1);
    options.on_unhandled_exception = [large](const std::exception_ptr&) { ++*large[0]; };
    runtime owner(std::move(options));
    owner.spawn(fail_alone()).detach();
    EXPECT_TRUE(owner.drain(std::chrono::hours(1)));
  }
  EXPECT_EQ(heard, 1);
}

/// Its jobs come when the pool has terminated already.
class late_service : public service {
 public:
  explicit late_service(runtime& owner) noexcept : owner_(owner) {}
  std::string_view service_name() const noexcept override { return "late"; }
  void stop() noexcept override {
    latch all(std::ssize(jobs_));
    for (late_job& each : jobs_) {
      each.done = &all;
      owner_.workers().post(&each, post_kind::spawn);
    }
    all.wait();
  }

 private:
  struct late_job : job {
    late_job() noexcept
        : job([](job* self) noexcept { static_cast<late_job*>(self)->done->count_down(); }) {}
    latch* done = nullptr;
  };
  runtime& owner_;
  std::array<late_job, 3> jobs_;
};

inline void a_service_that_posts_when_it_stops() {
  std::atomic<int> count{0};
  {
    runtime owner(small());
    (void)owner.use_service<late_service>();
    EXPECT_EQ(owner.spawn(give(count, 1)).wait(), 1);
    owner.workers().shutdown();
    EXPECT_TRUE(owner.workers().await_termination(std::chrono::hours(1)));
  }
  EXPECT_EQ(count, 0);
}

inline void parallel_algorithms() {
  runtime owner(small());
  std::vector<int> numbers(2000);
  std::iota(numbers.rbegin(), numbers.rend(), 0);
  const auto all = [](std::vector<int>& of) -> task<int> {
    co_await parallel_sort(of);
    co_return co_await parallel_reduce(of, 0, [](int each) { return each; }, std::plus<>());
  };
  EXPECT_EQ(owner.spawn(all(numbers)).wait(), 1999 * 1000);
}

struct refused_run {
  const char* name;
  void (*body)();
};
inline constexpr refused_run refused_runs[] = {
    {"start_and_end", &start_and_end},
    {"spawn_and_wait", &spawn_and_wait},
    {"fork_and_join", &fork_and_join},
    {"scopes_and_timers", &scopes_and_timers},
    {"limits", &limits},
    {"channels", &channels},
    {"blocking_calls", &blocking_calls},
    {"clean_ups", &clean_ups},
    {"streams_of_callbacks", &streams_of_callbacks},
    {"executors_over_the_pool", &executors_over_the_pool},
    {"a_thread_of_its_own", &a_thread_of_its_own},
    {"submissions", &submissions},
    {"changes_while_it_runs", &changes_while_it_runs},
    {"many_items_in_turn", &many_items_in_turn},
    {"a_failure_that_nobody_takes", &a_failure_that_nobody_takes},
    {"a_service_that_posts_when_it_stops", &a_service_that_posts_when_it_stops},
    {"parallel_algorithms", &parallel_algorithms},
};

}  // namespace tandem::test
