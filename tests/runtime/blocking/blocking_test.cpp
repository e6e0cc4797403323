// blocking_test.cpp: what a call of blocking() does for its task. Threads and queue: blocking_pool_test.cpp.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <tandem/blocking.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/virtual_time.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <utility>

#include "sanitized.hpp"
#include "test_runtime.hpp"
#include "waits.hpp"

namespace {
std::atomic<long> allocations{0};
}

#if !TANDEM_TEST_SANITIZED
void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const block = std::malloc(bytes)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
#endif

namespace {

using namespace std::chrono_literals;
using tandem::blocking;
using tandem::blocking_pool;
using tandem::task;
using tandem::test::test_runtime;

TEST(blocking, a_call_runs_on_a_thread_of_its_own_and_its_value_comes_home) {
  test_runtime rt;
  const auto check = [&rt]() -> task<std::string> {
    const std::thread::id worker = std::this_thread::get_id();
    EXPECT_TRUE(rt.workers().is_current());
    std::string text = co_await blocking([worker, &rt] {
      EXPECT_NE(std::this_thread::get_id(), worker);
      EXPECT_FALSE(rt.workers().is_current());
      return std::string(100, 'x');
    });
    EXPECT_TRUE(rt.workers().is_current());
    co_return text;
  };
  EXPECT_EQ(rt.run(check()), std::string(100, 'x'));
}

TEST(blocking, values_references_nothing_and_what_only_moves_are_returned) {
  test_runtime rt;
  int there = 1;
  const auto check = [&there]() -> task<int> {
    int& same = co_await blocking([&there]() -> int& { return there; });
    EXPECT_EQ(&same, &there);
    co_await blocking([&there] { there = 2; });
    std::unique_ptr<int> moved =
        co_await blocking([&there] { return std::make_unique<int>(there); });
    auto give = [inner = std::move(moved)]() mutable { return std::move(inner); };
    std::unique_ptr<int> again = co_await blocking([&give] { return give(); });
    co_return *again + there;
  };
  EXPECT_EQ(rt.run(check()), 4);
}

TEST(blocking, what_the_call_throws_is_thrown_where_it_was_awaited) {
  test_runtime rt;
  const auto fail = []() -> task<void> {
    co_await blocking([] { throw std::runtime_error("from below"); });
  };
  try {
    rt.run(fail());
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& e) {
    EXPECT_STREQ(e.what(), "from below");
  }
}

TEST(blocking, a_call_may_spawn_and_wait_for_tasks_of_this_runtime_and_of_others) {
  test_runtime rt(1);
  const auto check = [&rt]() -> task<int> {
    co_return co_await blocking([&rt] {
      const auto seven = []() -> task<int> { co_return 7; };
      int sum = rt->spawn(seven()).wait();
      sum += tandem::spawn(seven()).wait();
      sum += tandem::run(seven());
      return sum;
    });
  };
  EXPECT_EQ(rt.run(check()), 21);
}

TEST(blocking, ending_the_own_runtime_from_a_call_is_refused) {
  test_runtime rt;
  const auto check = [&rt]() -> task<void> {
    co_await blocking([&rt] {
      EXPECT_THROW(rt->shutdown(), tandem::would_deadlock);
      EXPECT_THROW(rt->drain(1ms), tandem::would_deadlock);
    });
  };
  rt.run(check());
}

TEST(blocking, the_call_sees_its_task_and_its_stop) {
  test_runtime rt;
  tandem::test::thread_semaphore begun(0);
  const auto check = [&begun]() -> task<tandem::stop_reason> {
    const tandem::environment* const here = tandem::current_environment();
    co_return co_await blocking([&begun, here] {
      EXPECT_EQ(tandem::current_environment(), here);
      begun.release();
      while (!tandem::stop_requested()) std::this_thread::yield();
      return tandem::current_stop_reason();
    });
  };
  auto handle = rt->spawn(check());
  begun.acquire();
  EXPECT_EQ(handle.cancel(), tandem::cancel_result::stop_requested);
  EXPECT_EQ(handle.wait(), tandem::stop_reason::user) << "a call that has begun is waited for";
}

TEST(blocking, a_stopped_task_does_not_even_queue) {
  test_runtime rt;
  bool ran = false;
  tandem::test::thread_semaphore begun(0);
  tandem::test::thread_semaphore stopped(0);
  const auto check = [&]() -> task<void> {
    begun.release();
    stopped.acquire();
    co_await blocking([&ran] { ran = true; });
  };
  auto handle = rt->spawn(check());
  begun.acquire();  // one that has not begun would be removed, and end as cancelled without a word
  handle.cancel();
  stopped.release();
  EXPECT_THROW(handle.wait(), tandem::operation_cancelled);
  EXPECT_FALSE(ran);
}

TEST(blocking, an_awaiter_that_is_never_awaited_runs_nothing) {
  test_runtime rt;
  bool ran = false;
  {
    [[maybe_unused]] auto dropped = blocking([&ran] { ran = true; });
  }
  {
    [[maybe_unused]] auto never = [](bool& flag) -> task<void> {
      co_await blocking([&flag] { flag = true; });
    }(ran);
  }
  EXPECT_FALSE(ran);
  EXPECT_EQ(rt->find_service<blocking_pool>(), nullptr);
}

TEST(blocking, a_call_allocates_nothing_once_there_is_a_thread) {
  if (tandem::test::sanitized) GTEST_SKIP() << "the sanitizer has its own operator new";
  // One worker and one thread for calls: whatever else a busy machine would have them start allocates.
  tandem::runtime_options options = tandem::test::with_threads(1);
  options.blocking.max_threads = 1;
  test_runtime rt(options);
  const auto check = []() -> task<long> {
    for (int i = 0; i < 10; ++i) co_await blocking([] {});
    const long before = allocations.load();
    for (int i = 0; i < 1000; ++i) co_await blocking([] {});
    co_return allocations.load() - before;
  };
  EXPECT_EQ(rt.run(check()), 0);
}

TEST(blocking, a_virtual_clock_stands_still_while_a_call_runs) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(1, 2);
  const auto check = []() -> task<void> {
    bool slept = false;
    auto sleeper = tandem::spawn([](bool& flag) -> task<void> {
      co_await tandem::sleep_for(1h);
      flag = true;
    }(slept));
    const auto before = tandem::now();
    for (int i = 0; i < 50; ++i) {
      co_await blocking([] { std::this_thread::sleep_for(std::chrono::microseconds(200)); });
    }
    EXPECT_EQ(tandem::now(), before);
    EXPECT_FALSE(slept);
    co_await sleeper;
    EXPECT_EQ(tandem::now() - before, 1h);
  };
  tandem::run(check(), options);
}

}  // namespace
