// blocking_pool_test.cpp: the threads of blocking(), and its queue.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <tandem/blocking.hpp>
#include <tandem/fork_each.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <thread>
#include <utility>

#include "spin_for.hpp"
#include "system.hpp"
#include "test_runtime.hpp"
#include "waits.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::blocking;
using tandem::blocking_pool;
using tandem::blocking_stats;
using tandem::task;
using tandem::test::spin_for;
using tandem::test::test_runtime;

tandem::runtime_options with_blocking(unsigned max_threads, std::size_t queue_limit = 1000) {
  tandem::runtime_options options = tandem::test::with_threads(2);
  options.blocking.max_threads = max_threads;
  options.blocking.queue_limit = queue_limit;
  return options;
}

/// Holds the only thread of a pool until it is let go.
class occupied {
 public:
  explicit occupied(tandem::runtime& rt) : holder_(rt.spawn(hold(*this))) { begun_.acquire(); }
  ~occupied() { let_go(); }
  void let_go() {
    if (!holder_) return;
    go_on_.release();
    auto holder = std::move(holder_);
    holder.wait();
  }

 private:
  static task<void> hold(occupied& self) {
    co_await blocking([&self] {
      self.begun_.release();
      self.go_on_.acquire();
    });
  }
  tandem::test::thread_semaphore begun_{0};
  tandem::test::thread_semaphore go_on_{0};
  tandem::join_handle<void> holder_;
};

/// Blocks until `count` calls wait in the queue.
void await_queued(tandem::runtime& rt, std::size_t count) {
  while (rt.use_service<blocking_pool>().stats().queued != count) std::this_thread::yield();
}

TEST(blocking, a_stop_takes_a_queued_call_out_and_the_others_keep_their_order) {
  test_runtime rt(with_blocking(1));
  occupied thread(*rt);
  std::string order;
  const auto add = [](std::string& text, char c) -> task<void> {
    co_await blocking([&text, c] { text += c; });
  };
  tandem::join_handle<void> calls[4];
  for (int i = 0; i < 4; ++i) {
    calls[i] = rt->spawn(add(order, static_cast<char>('a' + i)));
    await_queued(*rt, static_cast<std::size_t>(i) + 1);
  }
  calls[1].cancel();
  EXPECT_THROW(calls[1].wait(), tandem::operation_cancelled);
  await_queued(*rt, 3);
  thread.let_go();
  for (int i : {0, 2, 3}) calls[i].wait();
  EXPECT_EQ(order, "acd");
}

TEST(blocking, a_time_limit_removes_a_queued_call_and_waits_for_one_that_has_begun) {
  test_runtime rt(with_blocking(1));
  const auto late = []() -> task<int> {
    // Long enough for a thread to begin with the call, on a busy machine too.
    co_return co_await tandem::with_timeout(400ms, []() -> task<int> {
      co_return co_await blocking([] {
        while (!tandem::stop_requested()) std::this_thread::yield();
        return 5;
      });
    }());
  };
  EXPECT_EQ(rt.run(late()), 5) << "a call that completed has a result, whatever the clock says";
  occupied thread(*rt);
  const auto queued = []() -> task<void> {
    co_await tandem::with_timeout(1ms, []() -> task<void> { co_await blocking([] {}); }());
  };
  EXPECT_THROW(rt.run(queued()), std::system_error);
}

TEST(blocking, a_full_queue_refuses_by_name) {
  test_runtime rt(with_blocking(1, 1));
  occupied thread(*rt);
  const auto nothing = []() -> task<void> { co_await blocking([] {}); };
  auto fits = rt->spawn(nothing());
  await_queued(*rt, 1);
  try {
    rt.run(nothing());
    ADD_FAILURE() << "nothing was thrown";
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), std::errc::resource_unavailable_try_again);
    EXPECT_NE(std::string(e.what()).find("queue_limit"), std::string::npos) << e.what();
  }
  thread.let_go();
  fits.wait();
}

TEST(blocking, threads_grow_with_need_up_to_the_limit_and_are_reused) {
  test_runtime rt(with_blocking(3));
  constexpr int calls = 64;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  tandem::test::latch three(3);
  const auto body = [&](tandem::task_scope& scope) -> task<void> {
    for (int i = 0; i < calls; ++i) {
      scope.spawn([](auto& now, auto& peak, tandem::test::latch& meet, int number) -> task<void> {
        co_await blocking([&, number] {
          const int here = ++now;
          int seen = peak.load();
          while (seen < here && !peak.compare_exchange_weak(seen, here)) {}
          if (number < 3) meet.arrive_and_wait();  // three run at once, or this hangs
          --now;
        });
      }(inside, most, three, i));
    }
    co_return;
  };
  const auto check = [&body]() -> task<void> { co_await tandem::with_scope(body); };
  rt.run(check());
  EXPECT_EQ(most.load(), 3);
  const blocking_stats stats = rt->use_service<blocking_pool>().stats();
  EXPECT_EQ(stats.peak, 3U);
  EXPECT_EQ(stats.run, static_cast<std::uint64_t>(calls));
  EXPECT_EQ(stats.queued, 0U);
}

/// A short call may be taken by a thread that has just ended another one, though one was woken for it.
TEST(blocking, short_calls_of_four_tasks_need_no_crowd_of_threads) {
  test_runtime rt(with_blocking(512));
  const auto one = [](std::size_t) -> task<void> {
    for (int i = 0; i < 10'000; ++i) co_await blocking([] { spin_for(2us); });
  };
  const auto all = [&one]() -> task<void> { co_await tandem::fork_each(4, one); };
  rt.run(all());
  EXPECT_LT(rt->use_service<blocking_pool>().stats().peak,
            24U);  // where 7 were seen, and 40 before
}

TEST(blocking, calls_that_wait_for_one_another_each_have_a_thread) {
  test_runtime rt(with_blocking(8));
  for (int round = 0; round < 300;
       ++round) {  // from the second on threads are idle, or about to be
    tandem::test::latch all_of_them(8);
    const auto one = [&](std::size_t) -> task<void> {
      for (int i = 0; i < 3; ++i) co_await blocking([] {});
      co_await blocking([&] { all_of_them.arrive_and_wait(); });
    };
    const auto all = [&one]() -> task<void> { co_await tandem::fork_each(8, one); };
    rt.run(all());
  }
}

TEST(blocking, idle_threads_end_after_keep_alive) {
  tandem::runtime_options options = with_blocking(4);
  options.blocking.keep_alive = 1ms;
  test_runtime rt(options);
  const auto nothing = []() -> task<void> { co_await blocking([] {}); };
  for (int i = 0; i < 5; ++i) {
    rt.run(nothing());
    while (rt->use_service<blocking_pool>().stats().threads != 0) std::this_thread::yield();
  }
  EXPECT_EQ(rt->use_service<blocking_pool>().stats().run, 5U);
}

TEST(blocking, eight_tasks_contend_for_it) {
  test_runtime rt(with_blocking(4));
  constexpr long rounds = 200;
  std::atomic<long> sum{0};
  const auto one = [&sum](std::size_t) -> task<void> {
    for (long i = 0; i < rounds; ++i) sum += co_await blocking([i] { return i; });
  };
  const auto all = [&one]() -> task<void> { co_await tandem::fork_each(8, one); };
  rt.run(all());
  EXPECT_EQ(sum.load(), 8 * rounds * (rounds - 1) / 2);
}

TEST(blocking, a_stop_that_races_with_the_call_ends_it_once) {
  test_runtime rt(with_blocking(1));
  long ended = 0;
  long cancelled = 0;
  std::atomic<long> ran{0};
  for (int i = 0; i < 2000; ++i) {
    auto handle = rt->spawn([](std::atomic<long>& count) -> task<void> {
      co_await blocking([&count] { ++count; });
    }(ran));
    spin_for(std::chrono::microseconds(i % 64));
    handle.cancel();
    try {
      handle.wait();
      ++ended;
    } catch (const tandem::operation_cancelled&) {
      ++cancelled;
    }
  }
  EXPECT_EQ(ran.load(), ended);
  EXPECT_EQ(ended + cancelled, 2000);
}

TEST(blocking, threads_have_a_name_and_block_signals) {
  test_runtime rt;
  const auto check = []() -> task<void> {
    co_await blocking([] {
      // Its starter names it, and may be late: a thread begins with the name of the one that made
      // it.
      std::string name;
      do {
        name = tandem::test::name_of_this_thread();
      } while (name.find("block") == std::string::npos);
      EXPECT_EQ(name, "tandem-block-0");
      EXPECT_TRUE(tandem::test::blocks_signals());
    });
  };
  rt.run(check());
}

TEST(blocking, shutdown_takes_queued_calls_out_and_waits_for_the_running_one) {
  bool queued_ran = false;
  std::atomic<bool> ended{false};
  {
    test_runtime rt(with_blocking(1));
    tandem::test::thread_semaphore begun(0);
    const blocking_pool& pool = rt->use_service<blocking_pool>();
    rt->spawn([](tandem::test::thread_semaphore& sign, std::atomic<bool>& done,
                 const blocking_pool& calls) -> task<void> {
        co_await blocking([&] {
          sign.release();
          // The stop comes to one root after the other, perhaps to this one first.
          while (!tandem::stop_requested() || calls.stats().queued != 0) std::this_thread::yield();
          done = true;
        });
      }(begun, ended, pool))
        .detach();
    begun.acquire();
    rt->spawn(
          [](bool& ran) -> task<void> { co_await blocking([&ran] { ran = true; }); }(queued_ran))
        .detach();
    await_queued(*rt, 1);
  }
  EXPECT_TRUE(ended.load());
  EXPECT_FALSE(queued_ran);
}

TEST(blocking, options_are_checked_and_read_from_the_environment) {
  tandem::test::set_variable("TANDEM_BLOCKING_THREADS", "7");
  EXPECT_EQ(tandem::blocking_options().max_threads, 7U);
  tandem::test::set_variable("TANDEM_BLOCKING_THREADS", "many");
  EXPECT_THROW(tandem::blocking_options(), std::invalid_argument);
  tandem::test::unset_variable("TANDEM_BLOCKING_THREADS");
  EXPECT_EQ(tandem::blocking_options().max_threads, 512U);

  test_runtime rt(with_blocking(0));
  const auto nothing = []() -> task<void> { co_await blocking([] {}); };
  EXPECT_THROW(rt.run(nothing()), std::invalid_argument);
}

}  // namespace
