// single_thread_join_test.cpp: who may wait for the end of a single_thread_executor, and how often.
// SPDX-License-Identifier: MIT
#include <tandem/event.hpp>
#include <tandem/single_thread_executor.hpp>
#include <tandem/strand.hpp>
#include <tandem/sync_wait.hpp>
#include <thread>
#include <vector>

#include "runtime/executors/executor_support.hpp"
#include "waits.hpp"

namespace {

using tandem::event;
using tandem::runtime;
using tandem::single_thread_executor;
using tandem::task;
using tandem::test::driven;
using tandem::test::test_runtime;

task<std::thread::id> current_thread() { co_return std::this_thread::get_id(); }

TEST(single_thread_executor, join_on_its_own_thread_is_refused_and_closes_nothing) {
  test_runtime rt(2);
  single_thread_executor own(*rt);
  const tandem::strand over(own);
  for (tandem::executor* home : {static_cast<tandem::executor*>(&own), &over.executor()}) {
    tandem::sync_wait(*home, [](single_thread_executor& here) -> task<void> {
      EXPECT_THROW(here.join(), tandem::would_deadlock);
      co_return;
    }(own));
  }
  EXPECT_NE(tandem::sync_wait(own, current_thread()), std::this_thread::get_id());
}

/// Two threads join `own` while a task lives there; `end_task` ends it once both are at it.
void join_twice_at_once(single_thread_executor& own, const bool& ended, auto end_task) {
  tandem::test::latch ready(3);
  std::vector<std::thread> joining;
  for (int i = 0; i < 2; ++i) {
    joining.emplace_back([&] {
      ready.arrive_and_wait();
      own.join();
      EXPECT_TRUE(ended);
    });
  }
  ready.arrive_and_wait();
  end_task();
  for (std::thread& each : joining) each.join();
  own.join();
}

TEST(single_thread_executor, two_threads_that_join_at_once_both_return_after_its_end) {
  for (int round = 0; round < 50; ++round) {
    test_runtime rt(2);
    single_thread_executor own(*rt);
    event go;
    bool ended = false;
    rt->spawn(own,
              [](event& e, bool& done) -> task<void> {
                co_await e;
                done = true;
              }(go, ended))
        .detach();
    join_twice_at_once(own, ended, [&] { go.set(); });
  }
}

TEST(single_thread_executor, two_threads_that_join_at_once_run_a_runtime_without_threads) {
  for (int round = 0; round < 20; ++round) {
    runtime rt(driven());
    single_thread_executor own(rt);
    event go;
    bool ended = false;
    rt.spawn(own,
             [](event& e, bool& done) -> task<void> {
               co_await e;
               done = true;
             }(go, ended))
        .detach();
    join_twice_at_once(own, ended, [&] {
      rt.spawn([](event& e) -> task<void> {
          e.set();
          co_return;
        }(go))
          .detach();
    });
  }
}

TEST(single_thread_executor, may_be_joined_again_after_its_runtime_was_shut_down) {
  runtime rt(driven());
  single_thread_executor own(rt);
  EXPECT_NE(tandem::sync_wait(own, current_thread()), std::this_thread::get_id());
  own.join();
  rt.shutdown();
  own.join();
}

}  // namespace
