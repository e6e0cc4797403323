// dump_threads_test.cpp: a dump says which thread runs what.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>
#include <thread>

#include <tandem/tandem.hpp>

#include "support/test_runtime.hpp"

namespace {

using tandem::task;
using tandem::test::test_runtime;

TEST(dump_of_threads, another_call_on_the_same_blocking_thread_is_not_taken_for_the_old_one) {
  test_runtime rt(2);
  tandem::event inside[2];
  std::atomic<int> ended{0};
  const auto calls = [](tandem::event* there, std::atomic<int>& end) -> task<void> {
    for (int i = 0; i < 2; ++i) {
      co_await tandem::blocking([&, i] {
        there[i].set();
        while (end.load() <= i) std::this_thread::yield();
      });
    }
  };
  const auto until_set = [](tandem::event& e) -> task<void> { co_await e.wait(); };
  auto calling = rt->spawn(calls(inside, ended));
  rt.run(until_set(inside[0]));
  (void)rt->dump();
  EXPECT_NE(rt->dump().find("without a pause"), std::string::npos);
  ended = 1;
  rt.run(until_set(inside[1]));
  const std::string said = rt->dump();
  EXPECT_EQ(said.find("without a pause"), std::string::npos) << said;
  ended = 2;
  calling.wait();
}

TEST(dump_of_threads, says_which_worker_runs_what_and_what_blocks) {
  test_runtime rt(2);
  // Not an event: whoever waits for that would go on where the spinning one sits.
  std::promise<void> inside;
  std::atomic<bool> ends{false};
  const auto spins = [](std::promise<void>& there, std::atomic<bool>& end) -> task<void> {
    there.set_value();
    while (!end.load()) std::this_thread::yield();
    co_return;
  };
  const auto blocks = [](tandem::event& there, std::atomic<bool>& end) -> task<void> {
    co_await tandem::blocking([&] {
      there.set();
      while (!end.load()) std::this_thread::yield();
    });
  };
  const auto until_set = [](tandem::event& e) -> task<void> { co_await e.wait(); };
  auto first = rt->spawn(spins(inside, ends));
  inside.get_future().wait();
  tandem::event called;
  auto second = rt->spawn(blocks(called, ends));
  rt.run(until_set(called));
  // From a task, too: it runs itself.
  const auto dumps = [](tandem::runtime& of) -> task<std::string> { co_return of.dump(); };
  const std::string said = rt.run(dumps(*rt));
  EXPECT_NE(said.find("runs on worker"), std::string::npos) << said;
  EXPECT_NE(said.find("runs on blocking thread"), std::string::npos) << said;
  EXPECT_NE(said.find("waits for a blocking call"), std::string::npos) << said;
  EXPECT_NE(said.find("1 of 512 threads for blocking calls are busy"), std::string::npos) << said;
  ends = true;
  first.wait();
  second.wait();
}

}  // namespace
