// event_test.cpp: whoever waits for an event goes on once it is set, or when it is stopped.
// SPDX-License-Identifier: MIT
#include <tandem/event.hpp>

#include <memory>
#include <tandem/latch.hpp>
#include <thread>

#include "runtime/support/sync_support.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

using namespace std::chrono_literals;
using tandem::event;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::test::note_end;
using tandem::test::settle;
using tandem::test::test_runtime;

TEST(event, a_set_event_lets_a_task_pass_at_once) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    event e(true);
    co_await e;
    e.reset();
    EXPECT_FALSE(e.is_set());
    e.set();
    e.set();
    co_await e.wait();
    EXPECT_TRUE(e.is_set());
  }());
}

TEST(event, set_lets_all_go_and_reset_holds_up_later_ones) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& ends) -> task<void> {
    event e;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (int i = 0; i < 3; ++i) scope.spawn(note_end(e.wait(), ends));
      co_await settle();
      EXPECT_EQ(ends, "");
      e.set();
      e.reset();
      co_await settle();
      EXPECT_EQ(ends, "rrr");
      scope.spawn(note_end(e.wait(), ends));
      co_await settle();
      EXPECT_EQ(ends, "rrr");
      e.set();
    });
  }(log));
  EXPECT_EQ(log, "rrrr");
}

TEST(event, a_thousand_waiters_are_let_go_by_one_set) {
  test_runtime rt;
  std::atomic<int> gone{0};
  rt.run([](std::atomic<int>& count) -> task<void> {
    event e;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      for (int i = 0; i < 1000; ++i) {
        scope.spawn([](event& of, std::atomic<int>& c) -> task<void> {
          co_await of;
          ++c;
        }(e, count));
      }
      co_await tandem::yield();
      e.set();
    });
  }(gone));
  EXPECT_EQ(gone.load(), 1000);
}

TEST(event, a_stop_ends_the_wait_and_leaves_the_others) {
  test_runtime rt(1);
  std::string log;
  rt.run([](std::string& ends) -> task<void> {
    event e;
    auto first = tandem::spawn(note_end(e.wait(), ends));
    auto second = tandem::spawn(note_end(e.wait(), ends));
    auto third = tandem::spawn(note_end(e.wait(), ends));
    co_await settle();
    second.cancel();
    co_await second;
    EXPECT_EQ(ends, "c");
    e.set();
    co_await first;
    co_await third;
  }(log));
  EXPECT_EQ(log, "crr");
}

TEST(event, a_stopped_task_may_pass_a_set_event_but_not_wait) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    event never;
    event ready(true);
    std::string ends;
    auto handle = tandem::spawn([](event& a, event& b, std::string& log) -> task<void> {
      co_await note_end(a.wait(), log);  // stopped in here
      co_await note_end(b.wait(), log);
      co_await note_end(a.wait(), log);
    }(never, ready, ends));
    co_await settle();
    handle.cancel();
    co_await handle;
    EXPECT_EQ(ends, "crc");
  }());
}

TEST(event, the_reason_of_a_timeout_reaches_the_waiter) {
  test_runtime rt;
  const auto reason = rt.run([]() -> task<tandem::stop_reason> {
    event never;
    try {
      co_await tandem::with_timeout(1ms, [](event& e) -> task<void> { co_await e; }(never));
    } catch (const tandem::operation_cancelled& cancelled) {
      co_return cancelled.reason();
    }
    co_return tandem::stop_reason::none;
  }());
  EXPECT_EQ(reason, tandem::stop_reason::deadline);
}

TEST(event, set_after_a_stop_that_has_not_resumed_yet_does_not_resume_twice) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    event e;
    std::string ends;
    auto handle = tandem::spawn(note_end(e.wait(), ends));
    co_await settle();
    handle.cancel();
    e.set();
    co_await handle;
    EXPECT_EQ(ends, "c");
    e.reset();
    auto other = tandem::spawn(note_end(e.wait(), ends));
    co_await settle();
    e.set();
    other.cancel();
    co_await other;
    EXPECT_EQ(ends, "cr");
  }());
}

TEST(event, forked_siblings_of_one_environment_wait_and_are_stopped_together) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    event never;
    tandem::latch begun(3);
    std::string ends;
    const auto child = [&]() -> task<void> {
      begun.count_down();
      co_await note_end(never.wait(), ends);
    };
    auto handle = tandem::spawn([](const auto& make) -> task<void> {
      co_await tandem::fork_join(make(), make(), make());
    }(child));
    co_await begun.wait();  // goes on when the last one waits
    EXPECT_EQ(ends, "");
    handle.cancel();
    co_await handle;
    EXPECT_EQ(ends, "ccc");
  }());
}

TEST(event, may_be_set_by_any_thread_and_gone_when_the_wait_returns) {
  test_runtime rt;
  for (int i = 0; i < 300; ++i) {
    rt.run([]() -> task<void> {
      auto e = std::make_unique<event>();
      event* const raw = e.get();
      auto handle = tandem::spawn([](event* of) -> task<void> {
        of->set();
        co_return;
      }(raw));
      co_await *e;
      e.reset();
      co_await handle;
    }());
  }
  event outside;
  std::thread setter([&] { outside.set(); });
  rt.run([](event& e) -> task<void> { co_await e; }(outside));
  setter.join();
}

TEST(event, publishes_what_happened_before_set) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    for (int i = 0; i < 500; ++i) {
      event e;
      int written = 0;
      co_await with_scope([&](task_scope& scope) -> task<void> {
        for (int k = 0; k < 4; ++k) {
          scope.spawn([](event& of, int& value, int expected) -> task<void> {
            co_await of;
            EXPECT_EQ(value, expected);
          }(e, written, i + 1));
        }
        written = i + 1;
        e.set();
        co_return;
      });
    }
  }());
}

TEST(event, an_await_that_never_starts_leaves_no_trace) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    event e;
    {
      auto dropped = e.wait();
      task<void> unstarted = [](event& of) -> task<void> { co_await of; }(e);
    }
    co_await settle();
  }());
}

TEST(event, a_loop_of_ready_awaits_lets_others_run) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    event ready(true);
    bool done = false;
    auto other = tandem::spawn([](bool& flag) -> task<void> {
      flag = true;
      co_return;
    }(done));
    int awaits = 0;
    while (!done && awaits < 1000) {
      co_await ready;
      ++awaits;
    }
    EXPECT_TRUE(done);
    EXPECT_GE(awaits, 100);
    co_await other;
  }());
}

TEST(event, waits_do_not_allocate) {
  test_runtime rt(1);
  rt.run([]() -> task<void> {
    event ping;
    event pong;
    long before = 0;
    auto handle = tandem::spawn([](event& in, event& out) -> task<void> {
      for (int i = 0; i < 1000; ++i) {
        co_await in;
        in.reset();
        out.set();
      }
    }(ping, pong));
    for (int i = 0; i < 1000; ++i) {
      if (i == 10) before = tandem::test::news();
      ping.set();
      co_await pong;
      pong.reset();
    }
    EXPECT_EQ(tandem::test::news(), before);
    co_await handle;
  }());
}

TEST(event_death, destroying_an_event_with_a_waiter_is_refused) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        test_runtime rt(1);
        rt.run([]() -> task<void> {
          auto e = std::make_unique<event>();
          auto handle = tandem::spawn([](event* of) -> task<void> { co_await *of; }(e.get()));
          co_await settle();
          e.reset();
          co_await handle;
        }());
      },
      "still waits for");
}

}  // namespace
