// insight_test.cpp: what is told of completion threads: that they are saturated, and that all on them wait for nothing.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <tandem/channel.hpp>
#include <tandem/event.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/spawn.hpp>
#include <tandem/tandem.hpp>
#include <thread>
#include <vector>

#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::completion_pool;
using tandem::test::test_runtime;
using tandem::test::threads_between;

std::string advice_of(const tandem::runtime& rt) {
  std::string all;
  for (const std::string& each : rt.diagnose(200ms)) all += each + "\n";
  return all;
}

TEST(insight, a_completion_thread_that_never_rests_is_said_to_be_saturated) {
  test_runtime rt(1U);
  completion_pool& pool = tandem::io::install(*rt, threads_between(1, 1));
  std::atomic<bool> over{false};
  std::promise<void> inside;
  const auto busy = [](std::promise<void>& there, std::atomic<bool>& until) -> task<void> {
    there.set_value();
    while (!until.load()) co_await tandem::yield();
  };
  auto spins = rt->spawn(pool.thread(0).executor(), busy(inside, over));
  inside.get_future().wait();
  const std::string all = advice_of(*rt);
  EXPECT_NE(all.find("completion thread 0 (thread "), std::string::npos) << all;
  EXPECT_NE(all.find("is saturated"), std::string::npos) << all;
  over = true;
  spins.wait();
}

TEST(insight, a_wait_for_io_says_that_nobody_looks_whether_it_is_over) {
  test_runtime rt(1U);
  completion_pool& pool = tandem::io::install(*rt, threads_between(1, 1));
  tandem::io::tcp_listener listener =
      tandem::io::tcp_listener::bind(pool, tandem::io::endpoint::loopback_v4(0));
  const auto waits = [](tandem::io::tcp_listener& of) -> task<void> {
    (void)co_await tandem::as_result(of.accept());
  };
  auto waiting = rt->spawn(pool.thread(0).executor(), waits(listener));
  std::promise<void> inside;
  std::atomic<bool> over{false};
  const auto spins = [](std::promise<void>& there, std::atomic<bool>& until) -> task<void> {
    there.set_value();
    while (!until.load()) std::this_thread::yield();
    co_return;
  };
  while (rt->dump().find("waits for I/O") == std::string::npos) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(rt->dump().find("whose completion thread"), std::string::npos) << rt->dump();
  auto busy = rt->spawn(pool.thread(0).executor(), spins(inside, over));
  inside.get_future().wait();
  (void)rt->diagnose(200ms);
  const std::string said = rt->dump();
  EXPECT_NE(said.find(", whose completion thread 0 has run task "), std::string::npos) << said;
  over = true;
  busy.wait();
  const auto comes = [](tandem::io::endpoint where) -> task<void> {
    (void)co_await tandem::io::tcp_stream::connect(where);
  };
  rt.run(comes(listener.local_endpoint()));
  waiting.wait();
}

TEST(insight, a_completion_thread_that_has_nothing_to_do_is_not_said_to_be_saturated) {
  test_runtime rt(1U);
  completion_pool& pool = tandem::io::install(*rt, threads_between(1, 1));
  const auto ticks = []() -> task<void> {
    for (int i = 0; i < 40; ++i) co_await tandem::sleep_for(10ms);
  };
  auto slow = rt->spawn(pool.thread(0).executor(), ticks());
  const std::string all = advice_of(*rt);
  EXPECT_EQ(all.find("is saturated"), std::string::npos) << all;
  slow.wait();
}

TEST(insight, a_standstill_on_a_completion_thread_alone_is_told_of) {
  std::promise<std::string> told;
  tandem::runtime_options options = tandem::test::with_threads(1);
  options.log_deadlock = false;
  options.deadlock_after = 10ms;
  options.on_deadlock = [&told](const tandem::deadlock_report& report) {
    told.set_value(report.text);
  };
  test_runtime rt(options);
  completion_pool& pool = tandem::io::install(*rt, threads_between(1, 1));
  // The worker has lain down for good by then.
  std::this_thread::sleep_for(700ms);
  tandem::event never;
  const auto waits = [](tandem::event& what) -> task<void> { co_await what.wait(); };
  auto waiting = rt->spawn(pool.thread(0).executor(), waits(never));
  const std::string text = told.get_future().get();
  EXPECT_NE(text.find("standstill: the only task waits"), std::string::npos) << text;
  EXPECT_NE(text.find("waits for an event"), std::string::npos) << text;
  never.set();
  waiting.wait();
}

}  // namespace
