// completion_threads_test.cpp: tasks that any completion thread may take over, and stalls.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <span>
#include <string>
#include <tandem/io/install.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "io/support/io_support.hpp"
#include "plain_sockets.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::completion_options;
using tandem::io::completion_pool;
using tandem::io::stall_report;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::test_runtime;
using tandem::test::threads_between;

void wait_until(const std::atomic<bool>& flag) {
  while (!flag.load()) std::this_thread::yield();
}

task<void> sets(std::atomic<bool>& flag) {
  flag.store(true);
  co_return;
}

TEST(stealable, what_a_task_leaves_behind_is_run_by_another_thread_while_it_spins) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, threads_between(2, 2));
  for (int round = 0; round < 200; ++round) {
    rt->spawn(pool.executor(),
              [](completion_pool& io) -> task<void> {
                std::atomic<bool> done{false};
                auto other = tandem::spawn(io.executor(), sets(done));
                wait_until(done);  // for ever, if nobody took it over
                co_await other;
              }(pool))
        .wait();
  }
  EXPECT_GE(pool.stats().stolen, 1U);
}

/// Until it has arrived (or was taken out by a kernel that does so by itself).
void wait_for_byte(tandem::io::native_descriptor descriptor) {
  for (int i = 0; i < 200 && tandem::test::bytes_to_read(descriptor) == 0; ++i) {
    std::this_thread::sleep_for(1ms);
  }
}

/// `count` connections whose servers are bound to thread 0.
task<std::vector<connection>> connections_on_thread_0(completion_pool& io, std::size_t count) {
  std::vector<connection> found;
  while (found.size() < count) {
    connection made = co_await make_connection();
    if (&made.server.thread_executor() == &io.thread(0).executor())
      found.push_back(std::move(made));
  }
  co_return found;
}

TEST(stealable, a_batch_of_completions_is_published_before_the_first_of_them_runs) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, threads_between(2, 2));
  rt.run([](completion_pool& io) -> task<void> {
    std::vector<connection> pairs = co_await connections_on_thread_0(io, 4);
    std::atomic<int> here{0};
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      for (connection& each : pairs) {
        scope.spawn(io.executor(), [](tcp_stream& s, std::atomic<int>& arrived) -> task<void> {
          std::byte byte{};
          EXPECT_EQ(co_await s.read(std::span(&byte, 1)), 1U);
          // Two of them at a time, each on a thread of its own: the first to run does not end
          // alone.
          const int number = arrived.fetch_add(1) / 2;
          while (arrived.load() / 2 == number) std::this_thread::yield();
        }(each.server, here));
      }
      while (io.stats().in_flight < pairs.size()) co_await tandem::yield();
      // The thread is kept busy while all bytes arrive, so one reap finds them all: what was not in
      // it would wait for ever behind one that spins there.
      std::atomic<bool> begun{false};
      std::atomic<bool> all_sent{false};
      auto busy = tandem::spawn(io.thread(0).executor(),
                                [](std::atomic<bool>& runs, std::atomic<bool>& sent) -> task<void> {
                                  runs.store(true);
                                  wait_until(sent);
                                  co_return;
                                }(begun, all_sent));
      wait_until(begun);
      for (connection& each : pairs) {
        const std::byte byte{1};
        EXPECT_EQ(co_await each.client.write(std::span(&byte, 1)), 1U);
      }
      for (connection& each : pairs) wait_for_byte(each.server.native_handle());
      all_sent.store(true);
      co_await busy;
    });
    EXPECT_EQ(here.load(), 4);
  }(pool));
}

TEST(stealable, posts_from_outside_wake_a_thread_that_sleeps) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, threads_between(3, 3));
  for (int round = 0; round < 500; ++round) {
    std::atomic<bool> done{false};
    auto handle = rt->spawn(pool.executor(), sets(done));
    handle.wait();
    EXPECT_TRUE(done.load());
  }
  // From several threads at once, more than a lane holds.
  constexpr int posters = 3;
  constexpr int each = 500;
  std::atomic<int> ran{0};
  {
    std::vector<std::jthread> outside;
    for (int i = 0; i < posters; ++i) {
      outside.emplace_back([&] {
        std::vector<tandem::join_handle<void>> all;
        for (int k = 0; k < each; ++k) {
          all.push_back(rt->spawn(pool.executor(), [](std::atomic<int>& count) -> task<void> {
            co_await tandem::yield();
            count.fetch_add(1);
          }(ran)));
        }
        for (auto& handle : all) handle.wait();
      });
    }
  }
  EXPECT_EQ(ran.load(), posters * each);
}

class recorded_stalls {
 public:
  void add(const stall_report& report) {
    const std::lock_guard guard(lock_);
    all_.push_back(report);
  }
  std::vector<stall_report> of(unsigned thread) {
    const std::lock_guard guard(lock_);
    std::vector<stall_report> found;
    for (const stall_report& each : all_) {
      if (each.thread == thread) found.push_back(each);
    }
    return found;
  }

 private:
  std::mutex lock_;
  std::vector<stall_report> all_;
};

task<void> spins_until_told(recorded_stalls& stalls, unsigned thread, std::size_t times) {
  // However slow the machine is, the watch finds it.
  while (stalls.of(thread).size() < times) std::this_thread::yield();
  co_return;
}

TEST(stall, a_handler_that_spins_is_named_once_and_others_are_not_held_up) {
  recorded_stalls stalls;
  completion_options options = threads_between(2, 2);
  options.on_stall = [&stalls](const stall_report& report) { stalls.add(report); };
  options.stall_threshold = 2ms;
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, options);
  auto spins = rt->spawn(pool.thread(1).executor(), [](recorded_stalls& told) -> task<void> {
    co_await spins_until_told(told, 1, 1);
    const auto until = std::chrono::steady_clock::now() + 20ms;
    while (std::chrono::steady_clock::now() < until) std::this_thread::yield();
  }(stalls));
  // Meanwhile the other thread serves.
  rt.run([](completion_pool& io) -> task<void> {
    for (int i = 0; i < 100; ++i) {
      co_await tandem::spawn(io.thread(0).executor(),
                             []() -> task<void> { co_await tandem::yield(); }());
    }
  }(pool));
  spins.wait();
  const std::vector<stall_report> told = stalls.of(1);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_GE(told[0].lasted, 2ms);
  const std::string file = told[0].spawned_at.file_name();
  EXPECT_NE(file.find("completion_threads_test"), std::string::npos) << file;
  EXPECT_GE(pool.stats().stalls, 1U);
}

TEST(stall, the_watch_rests_when_nothing_happens_and_comes_back) {
  recorded_stalls stalls;
  completion_options options = threads_between(1, 1);
  options.on_stall = [&stalls](const stall_report& report) { stalls.add(report); };
  options.stall_threshold = 1ms;
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, options);
  for (std::size_t round = 1; round <= 2; ++round) {
    std::this_thread::sleep_for(1300ms);  // it rests by now
    rt->spawn(pool.executor(), spins_until_told(stalls, 0, round)).wait();
  }
}

TEST(stall, the_longest_time_there_is_means_never) {
  recorded_stalls stalls;
  completion_options options = threads_between(1, 1);
  options.on_stall = [&stalls](const stall_report& report) { stalls.add(report); };
  options.stall_threshold = std::chrono::milliseconds::max();
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, options);
  rt->spawn(pool.executor(),
            []() -> task<void> {
              std::this_thread::sleep_for(30ms);
              co_return;
            }())
      .wait();
  EXPECT_EQ(stalls.of(0).size(), 0U);
  EXPECT_EQ(pool.stats().stalls, 0U);
}

TEST(stall, a_handler_that_blocks_is_told_like_one_that_computes) {
  recorded_stalls stalls;
  completion_options options = threads_between(1, 1);
  options.on_stall = [&stalls](const stall_report& report) { stalls.add(report); };
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, options);
  rt->spawn(pool.executor(),
            [](recorded_stalls& told) -> task<void> {
              while (told.of(0).empty()) std::this_thread::sleep_for(20ms);
              co_return;
            }(stalls))
      .wait();
  EXPECT_LT(stalls.of(0).front().cpu_time, stalls.of(0).front().lasted);
}

TEST(stall, timers_go_on_while_the_thread_that_drives_them_computes) {
  completion_options options = threads_between(1, 1);
  options.on_stall = [](const stall_report&) {};
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, options);
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> begun{false};
    std::atomic<bool> slept{false};
    auto computes = rt->spawn(pool.executor(),
                              [](std::atomic<bool>& starts, std::atomic<bool>& ends) -> task<void> {
                                starts.store(true);
                                while (!ends.load()) std::this_thread::yield();
                                co_return;
                              }(begun, slept));
    while (!begun.load()) std::this_thread::yield();
    rt.run([](std::atomic<bool>& done) -> task<void> {
      co_await tandem::sleep_for(1ms);  // for ever, if the other one drove the timers
      co_await tandem::sleep_for(1ms);
      done.store(true);
    }(slept));
    computes.wait();
    rt.run([]() -> task<void> { co_await tandem::sleep_for(1ms); }());
  }
}

}  // namespace
