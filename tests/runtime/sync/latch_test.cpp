// latch_test.cpp: waiters go on when the last one has arrived.
// SPDX-License-Identifier: MIT
#include <tandem/latch.hpp>

#include <memory>
#include <optional>

#include "runtime/support/sync_support.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

using namespace std::chrono_literals;
using tandem::latch;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::test::note_end;
using tandem::test::settle;
using tandem::test::test_runtime;

TEST(latch, of_zero_is_open) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    latch l(0);
    EXPECT_TRUE(l.try_wait());
    co_await l.wait();
  }());
}

TEST(latch, opens_with_the_last_count_and_stays_open) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    latch l(4);
    std::string ends;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (int i = 0; i < 3; ++i) scope.spawn(note_end(l.wait(), ends));
      co_await settle();
      l.count_down(3);
      co_await settle();
      EXPECT_EQ(ends, "");
      EXPECT_FALSE(l.try_wait());
      l.count_down(0);
      l.count_down();
      EXPECT_TRUE(l.try_wait());
      co_await settle();
      EXPECT_EQ(ends, "rrr");
      co_await l.wait();
    });
  }());
}

TEST(latch, those_that_arrive_go_on_together) {
  test_runtime rt;
  std::atomic<int> arrived{0};
  std::atomic<int> too_early{0};
  rt.run([](std::atomic<int>& in, std::atomic<int>& early) -> task<void> {
    for (int round = 0; round < 200; ++round) {
      latch l(8);
      in = 0;
      co_await with_scope([&](task_scope& scope) -> task<void> {
        for (int i = 0; i < 8; ++i) {
          scope.spawn([](latch& of, std::atomic<int>& a, std::atomic<int>& e) -> task<void> {
            ++a;
            co_await of.arrive_and_wait();
            if (a != 8) ++e;
          }(l, in, early));
        }
        co_return;
      });
    }
  }(arrived, too_early));
  EXPECT_EQ(too_early.load(), 0);
}

TEST(latch, a_stop_ends_the_wait_but_the_arrival_counts) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    latch l(2);
    std::string ends;
    auto handle = tandem::spawn(note_end(l.arrive_and_wait(), ends));
    co_await settle();
    handle.cancel();
    co_await handle;
    EXPECT_EQ(ends, "c");
    co_await l.arrive_and_wait();
  }());
}

TEST(latch, a_wait_that_was_let_go_before_the_stop_returns) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    latch l(1);
    std::string ends;
    auto handle = tandem::spawn(note_end(l.wait(), ends));
    co_await settle();
    l.count_down();
    handle.cancel();
    co_await handle;
    EXPECT_EQ(ends, "r");
  }());
}

TEST(latch, a_timeout_ends_the_wait) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    latch l(1);
    const auto late = co_await tandem::as_result(
        tandem::with_timeout(1ms, [](latch& of) -> task<void> { co_await of.wait(); }(l)));
    EXPECT_TRUE(late.is_cancelled());
  }());
}

TEST(latch, may_be_gone_when_the_wait_returns) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    for (int i = 0; i < 500; ++i) {
      auto l = std::make_unique<latch>(2);
      const auto count = [](latch* of) -> task<void> {
        of->count_down();
        co_return;
      };
      auto a = tandem::spawn(count(l.get()));
      auto b = tandem::spawn(count(l.get()));
      co_await l->wait();
      l.reset();
      co_await a;
      co_await b;
    }
  }());
}

TEST(latch, waits_do_not_allocate) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    std::vector<std::unique_ptr<latch>> latches;
    for (int i = 0; i < 100; ++i) latches.push_back(std::make_unique<latch>(2));
    long before = 0;
    auto other = tandem::spawn([](std::vector<std::unique_ptr<latch>>& all) -> task<void> {
      for (const auto& each : all) co_await each->arrive_and_wait();
    }(latches));
    for (std::size_t i = 0; i < latches.size(); ++i) {
      if (i == 10) before = tandem::test::news();
      co_await latches[i]->arrive_and_wait();
    }
    EXPECT_EQ(tandem::test::news(), before);
    co_await other;
  }());
}

TEST(latch_death, counting_below_zero_is_refused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        latch l(1);
        l.count_down(2);
      },
      "below zero");
}

}  // namespace
