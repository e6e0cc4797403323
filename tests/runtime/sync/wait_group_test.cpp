// wait_group_test.cpp: waiting for what is under way, again and again, or for a while.
// SPDX-License-Identifier: MIT
#include <tandem/wait_group.hpp>

#include <memory>

#include "runtime/support/sync_support.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::task_scope;
using tandem::wait_group;
using tandem::wait_group_token;
using tandem::with_scope;
using tandem::test::note_end;
using tandem::test::settle;
using tandem::test::test_runtime;

TEST(wait_group, an_empty_one_is_not_waited_for) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    wait_group g;
    co_await g.wait();
    EXPECT_TRUE(co_await g.wait_for(0ms));
  }());
}

TEST(wait_group, is_used_round_after_round) {
  test_runtime rt;
  std::atomic<int> ended{0};
  rt.run([](std::atomic<int>& count) -> task<void> {
    wait_group g;
    for (int round = 1; round <= 200; ++round) {
      g.add(3);
      for (int i = 0; i < 5; ++i) {
        tandem::spawn([](wait_group& of, [[maybe_unused]] wait_group_token token, bool plain,
                         std::atomic<int>& c) -> task<void> {
          co_await tandem::yield();
          ++c;
          if (plain) of.done();
        }(g, i < 3 ? wait_group_token() : g.token(), i < 3, count))
            .detach();
      }
      co_await g.wait();
      EXPECT_EQ(count.load(), round * 5);
      EXPECT_EQ(g.count(), 0U);
    }
  }(ended));
}

TEST(wait_group, a_token_counts_once) {
  wait_group g;
  {
    auto token = g.token();
    wait_group_token moved = std::move(token);
    EXPECT_EQ(g.count(), 1U);
    moved.done();
    moved.done();
    EXPECT_EQ(g.count(), 0U);
    moved = g.token();
    EXPECT_EQ(g.count(), 1U);
  }
  EXPECT_EQ(g.count(), 0U);
}

TEST(wait_group, waiters_that_were_let_go_stay_free) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    wait_group g(1);
    std::string ends;
    auto a = tandem::spawn(note_end(g.wait(), ends));
    auto b = tandem::spawn(note_end(g.wait(), ends));
    co_await settle();
    g.done();
    g.add();
    co_await a;
    co_await b;
    EXPECT_EQ(ends, "rr");
    auto c = tandem::spawn(note_end(g.wait(), ends));
    co_await settle();
    EXPECT_EQ(ends, "rr");
    g.add();
    g.done();
    c.cancel();
    co_await c;
    EXPECT_EQ(ends, "rrc");
    g.done();
  }());
}

TEST(wait_group, a_limited_wait_tells_whether_it_was_in_time) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    wait_group g(1);
    EXPECT_FALSE(co_await g.wait_for(1ms));
    EXPECT_FALSE(co_await g.wait_for(0ms));
    auto other = tandem::spawn([](wait_group& of) -> task<void> {
      co_await tandem::yield();
      of.done();
    }(g));
    EXPECT_TRUE(co_await g.wait_for(1h));
    co_await other;
  }());
}

TEST(wait_group, a_stop_of_the_caller_is_no_timeout) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    wait_group g(1);
    std::string ends;
    auto waiting = tandem::spawn([](wait_group& of, std::string& log) -> task<void> {
      try {
        log += co_await of.wait_for(1h) ? 't' : 'f';
      } catch (const tandem::operation_cancelled& cancelled) {
        log += cancelled.reason() == tandem::stop_reason::user ? 'u' : '?';
      }
    }(g, ends));
    co_await settle();
    waiting.cancel();
    co_await waiting;
    EXPECT_EQ(ends, "u");
    g.done();
  }());
}

TEST(wait_group, a_deadline_further_up_is_no_timeout_either) {
  test_runtime rt;
  const auto got = rt.run([]() -> task<tandem::result<bool>> {
    wait_group g(1);
    auto result = co_await tandem::as_result(tandem::with_timeout(
        1ms, [](wait_group& of) -> task<bool> { co_return co_await of.wait_for(1h); }(g)));
    g.done();
    co_return result;
  }());
  EXPECT_TRUE(got.is_cancelled());
}

TEST(wait_group, may_be_gone_when_the_wait_returns) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    for (int i = 0; i < 500; ++i) {
      auto g = std::make_unique<wait_group>();
      auto handle = tandem::spawn([](wait_group_token token) -> task<void> {
        token.done();
        co_return;
      }(g->token()));
      co_await g->wait();
      g.reset();
      co_await handle;
    }
  }());
}

TEST(wait_group, waits_do_not_allocate) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    wait_group ping(1);
    wait_group pong(1);
    long before = 0;
    auto other = tandem::spawn([](wait_group& in, wait_group& out) -> task<void> {
      for (int i = 0; i < 100; ++i) {
        co_await in.wait();
        in.add();
        out.done();
      }
    }(ping, pong));
    for (int i = 0; i < 100; ++i) {
      if (i == 10) before = tandem::test::news();
      ping.done();
      co_await pong.wait();
      pong.add();
    }
    EXPECT_EQ(tandem::test::news(), before);
    co_await other;
  }());
}

TEST(wait_group_death, counting_below_zero_is_refused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        wait_group g;
        g.done();
      },
      "below zero");
}

}  // namespace
