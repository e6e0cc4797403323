// barrier_test.cpp: tasks that wait for each other, whoever is stopped or leaves.
// SPDX-License-Identifier: MIT
#include <tandem/barrier.hpp>

#include <algorithm>

#include "runtime/support/sync_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::barrier;
using tandem::barrier_seat;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::test::note_end;
using tandem::test::settle;
using tandem::test::test_runtime;

/// Notes l if it led the phase, r if it only returned, c if it was stopped.
task<void> meet(barrier& all, std::string& log) {
  try {
    log += co_await all.arrive_and_wait() ? 'l' : 'r';
  } catch (const tandem::operation_cancelled&) {
    log += 'c';
  }
}

TEST(barrier, lets_all_go_when_the_last_arrives_who_leads_and_runs_the_completion_first) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& letters) -> task<void> {
    barrier all(3, [&letters] { letters += '|'; });
    for (int phase = 0; phase < 3; ++phase) {
      auto a = tandem::spawn(meet(all, letters));
      auto b = tandem::spawn(meet(all, letters));
      co_await settle();
      EXPECT_FALSE(a.is_done() || b.is_done());
      co_await meet(all, letters);
      co_await a;
      co_await b;
    }
  }(log));
  EXPECT_EQ(log, "|lrr|lrr|lrr");
}

TEST(barrier, one_task_alone_never_waits) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    int phases = 0;
    barrier all(1, [&phases] { ++phases; });
    for (int i = 0; i < 300; ++i) EXPECT_TRUE(co_await all.arrive_and_wait());
    EXPECT_EQ(phases, 300);
  }());
}

TEST(barrier, who_is_stopped_has_not_arrived_and_may_come_again) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& letters) -> task<void> {
    barrier all(2);
    auto a = tandem::spawn(meet(all, letters));
    co_await settle();
    a.cancel();
    co_await a;
    EXPECT_EQ(letters, "c");
    auto b = tandem::spawn(meet(all, letters));
    co_await settle();
    EXPECT_FALSE(b.is_done());  // nobody else is there
    co_await meet(all, letters);
    co_await b;
  }(log));
  EXPECT_EQ(log, "clr");
}

TEST(barrier, one_that_the_last_has_let_go_is_not_stopped_any_more) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& letters) -> task<void> {
    barrier all(2);
    auto a = tandem::spawn(meet(all, letters));
    co_await settle();
    co_await meet(all, letters);
    a.cancel();
    co_await a;
  }(log));
  EXPECT_EQ(log, "lr");
}

TEST(barrier, who_drops_out_arrives_once_more_and_is_missed_no_more) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& letters) -> task<void> {
    barrier all(3, [&letters] { letters += '|'; });
    auto a = tandem::spawn(meet(all, letters));
    auto b = tandem::spawn(meet(all, letters));
    co_await settle();
    all.arrive_and_drop();
    EXPECT_EQ(letters, "|");
    co_await a;
    co_await b;
    EXPECT_EQ(letters, "|lr");  // the oldest leads
    auto c = tandem::spawn(meet(all, letters));
    co_await settle();
    co_await meet(all, letters);
    co_await c;
  }(log));
  EXPECT_EQ(log, "|lr|lr");
}

TEST(barrier, a_seat_that_goes_with_a_stopped_task_lets_the_others_go_on) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& letters) -> task<void> {
    const auto sit = [](barrier_seat seat, std::string& out) -> task<void> {
      (void)co_await seat.arrive_and_wait();
      out += '1';
      (void)co_await seat.arrive_and_wait();
      out += '2';
    };
    barrier all(3);
    auto a = tandem::spawn(sit(all.seat(), letters));
    auto b = tandem::spawn(sit(all.seat(), letters));
    barrier_seat own = all.seat();
    co_await settle();
    (void)co_await own.arrive_and_wait();
    co_await settle();
    EXPECT_EQ(letters, "11");
    a.cancel();
    co_await note_end(std::move(a), letters);
    EXPECT_FALSE(b.is_done());
    own.drop();
    own.drop();
    co_await b;
  }(log));
  EXPECT_EQ(log, "11c2");
}

TEST(barrier, the_seat_of_a_task_that_never_began_goes_with_its_handle) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& letters) -> task<void> {
    const auto sit = [](barrier_seat seat, std::string& out) -> task<void> {
      const bool leads = co_await seat.arrive_and_wait();
      out += leads ? 'l' : 'r';
    };
    barrier all(2);
    auto a = tandem::spawn(sit(all.seat(), letters));
    co_await settle();
    {
      auto never = tandem::spawn(sit(all.seat(), letters));
      EXPECT_EQ(never.cancel(), tandem::cancel_result::removed_before_start);
      co_await settle();
      EXPECT_EQ(letters, "");
    }
    co_await a;
  }(log));
  EXPECT_EQ(log, "l");
}

TEST(barrier, a_stopped_task_does_not_arrive) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& letters) -> task<void> {
    barrier all(2);
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.request_stop();
      co_await meet(all, letters);
    });
    auto a = tandem::spawn(meet(all, letters));
    co_await settle();
    EXPECT_FALSE(a.is_done());
    all.arrive_and_drop();
    co_await a;
  }(log));
  EXPECT_EQ(log, "cl");
}

TEST(barrier, the_phases_of_many_tasks_do_not_mix) {
  test_runtime rt(4);
  static constexpr int tasks = 6;
  std::vector<int> round(tasks, 0);
  int completed = 0;
  rt.run([](std::vector<int>& rounds, int& phases) -> task<void> {
    barrier all(tasks, [&] {
      EXPECT_EQ(std::count(rounds.begin(), rounds.end(), phases + 1), tasks);
      ++phases;
    });
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (int i = 0; i < tasks; ++i) {
        scope.spawn([](barrier& of, int& own) -> task<void> {
          for (int k = 0; k < 200; ++k) {
            ++own;
            (void)co_await of.arrive_and_wait();
          }
        }(all, rounds[static_cast<std::size_t>(i)]));
      }
      co_return;
    });
  }(round, completed));
  EXPECT_EQ(completed, 200);
}

}  // namespace
