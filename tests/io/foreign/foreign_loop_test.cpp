// foreign_loop_test.cpp: watches and deadlines of a foreign loop.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <tandem/clock.hpp>
#include <tandem/event.hpp>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/foreign_loop.hpp>
#include <tandem/run.hpp>
#include <tandem/virtual_time.hpp>
#include <thread>
#include <vector>

#include "io/support/loop_support.hpp"
#include "runtime/support/sync_support.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

using namespace std::chrono_literals;
using tandem::event;
using tandem::task;
using tandem::io::foreign_loop;
using tandem::io::native_descriptor;
using tandem::io::ready_events;
using tandem::io::watch_interest;
using tandem::io::with_foreign_loop;
using tandem::test::foreign_pair;
using tandem::test::in_a_loop;
using tandem::test::loop_passes;
using tandem::test::read_some;
using tandem::test::ready_descriptor;

TEST(foreign_loop, a_callback_comes_again_as_long_as_its_descriptor_is_ready) {
  in_a_loop([](foreign_loop& loop) -> task<void> {
    loop_passes passes(loop);
    foreign_pair pair;
    std::string got;
    event all;
    loop.watch(pair.ours(), watch_interest::read, [&](native_descriptor fd, ready_events events) {
      EXPECT_EQ(fd, pair.ours());
      EXPECT_EQ(events, ready_events(true, false, false, false));
      got += read_some(fd, 1);
      if (got.size() == 3) all.set();
    });
    co_await passes.pass();
    EXPECT_EQ(got, "");
    pair.peer_writes("abc");
    co_await all.wait();
    co_await passes.pass();
    EXPECT_EQ(got, "abc");
  });
}

TEST(foreign_loop, interest_and_callback_may_be_changed_each_by_itself) {
  in_a_loop([](foreign_loop& loop) -> task<void> {
    loop_passes passes(loop);
    foreign_pair pair;
    int readable = 0;
    int writable = 0;
    int second = 0;
    loop.watch(pair.ours(), watch_interest::read, [&](native_descriptor, ready_events events) {
      readable += events.readable() ? 1 : 0;
      writable += events.writable() ? 1 : 0;
    });
    co_await passes.pass();
    EXPECT_EQ(readable + writable, 0);
    loop.watch(pair.ours(), watch_interest::write);
    co_await passes.pass();
    EXPECT_EQ(readable, 0);
    EXPECT_GE(writable, 2);
    pair.peer_writes("x");
    loop.watch(pair.ours(), watch_interest::read | watch_interest::write);
    co_await passes.pass();
    EXPECT_GE(readable, 2);
    const int before = readable + writable;
    loop.watch(pair.ours(), watch_interest::read, [&](native_descriptor, ready_events) {
      ++second;
      loop.watch(pair.ours(), watch_interest::none);
    });
    co_await passes.pass();
    EXPECT_EQ(second, 1);
    EXPECT_EQ(readable + writable, before);
  });
}

TEST(foreign_loop, what_is_paused_wakes_nobody_though_its_peer_has_left) {
  in_a_loop([](foreign_loop& loop) -> task<void> {
    loop_passes passes(loop);
    foreign_pair pair;
    std::vector<ready_events> told;
    loop.watch(pair.ours(), watch_interest::none, [&](native_descriptor, ready_events events) {
      told.push_back(events);
      loop.watch(pair.ours(), watch_interest::none);
    });
    pair.peer_writes("x");
    pair.close_one(1);
    co_await passes.pass();
    EXPECT_EQ(told, std::vector<ready_events>{});
    loop.watch(pair.ours(), watch_interest::read);
    co_await passes.pass();
    // Whether the end is told beside the byte is the system's business.
    EXPECT_TRUE(told.size() == 1 && told[0].readable());
  });
}

TEST(foreign_loop, one_that_is_idle_or_paused_asks_the_system_for_nothing) {
  tandem::test::test_runtime rt;
  tandem::io::completion_pool& pool = tandem::io::install(*rt, tandem::test::threads_between(1, 1));
  foreign_pair idle;
  foreign_pair paused;
  event watching;
  event over;
  int calls = 0;
  const auto body = [&](foreign_loop& loop) -> task<void> {
    const auto count = [&](native_descriptor, ready_events) { ++calls; };
    loop.watch(idle.ours(), watch_interest::read, count);
    loop.watch(paused.ours(), watch_interest::read_write, count);
    loop.watch(paused.ours(), watch_interest::none);
    paused.peer_writes("x");
    paused.close_one(1);
    loop_passes passes(loop);
    co_await passes.pass();
    watching.set();
    co_await over.wait();
  };
  auto handle = rt->spawn(with_foreign_loop(body));
  rt.run([](event& set) -> task<void> { co_await set.wait(); }(watching));
  // Until its thread is back in its ring.
  auto before = pool.stats();
  for (auto last = before.items + 1; last != before.items;) {
    last = before.items;
    std::this_thread::sleep_for(5ms);
    before = pool.stats();
  }
  std::this_thread::sleep_for(50ms);  // a window that is looked at; nothing is to come in it
  const auto after = pool.stats();
  EXPECT_EQ(after.items, before.items);
  EXPECT_EQ(after.submitted, before.submitted);
  EXPECT_EQ(after.completed, before.completed);
  EXPECT_EQ(after.wakes, before.wakes);
  over.set();
  handle.wait();
  EXPECT_EQ(calls, 0);
}

TEST(foreign_loop, callbacks_are_one_after_the_other_on_its_thread_and_never_inside_a_call) {
  in_a_loop([](foreign_loop& loop) -> task<void> {
    ready_descriptor one;
    ready_descriptor other;
    const auto home = std::this_thread::get_id();
    bool inside = false;
    int left = 60;
    event done;
    const auto enter = [&] {
      EXPECT_FALSE(inside);
      EXPECT_EQ(std::this_thread::get_id(), home);
      EXPECT_TRUE(loop.executor().is_current());
    };
    std::function<void()> step;
    const auto on_ready = [&](native_descriptor, ready_events) { step(); };
    step = [&] {
      enter();
      inside = true;
      if (--left > 0) {
        loop.deadline(tandem::now() - 1s, step);
        loop.watch(one.get(), watch_interest::read_write, on_ready);
        loop.watch(other.get(), watch_interest::read, on_ready);
        loop.forget(one.get());
        loop.watch(one.get(), watch_interest::write, on_ready);
      } else {
        loop.no_deadline();
        loop.forget(one.get());
        loop.forget(other.get());
        done.set();
      }
      inside = false;
    };
    step();
    co_await done.wait();
    EXPECT_EQ(left, 0);
  });
}

TEST(foreign_loop, a_deadline_comes_once_not_early_and_the_last_one_counts) {
  in_a_loop([](foreign_loop& loop) -> task<void> {
    loop_passes passes(loop);
    event over;
    int wrong = 0;
    int right = 0;
    const auto when = tandem::now() + 2ms;
    loop.deadline(tandem::now() - 1h, [&] { ++wrong; });
    loop.deadline(tandem::now() + 1h, [&] { ++wrong; });
    loop.deadline(when, [&] {
      EXPECT_GE(tandem::now(), when);
      ++right;
      over.set();
    });
    co_await over.wait();
    co_await passes.pass();
    EXPECT_EQ(right, 1);
    loop.deadline(tandem::now(), [&] { ++wrong; });
    loop.no_deadline();
    loop.no_deadline();
    co_await passes.pass();
    EXPECT_EQ(wrong, 0);
  });
}

TEST(foreign_loop, a_deadline_may_set_the_next_one) {
  in_a_loop([](foreign_loop& loop) -> task<void> {
    event over;
    int left = 5;
    foreign_loop::time_function tick;
    tick = [&] {
      if (--left == 0) return over.set();
      loop.deadline(tandem::now() + std::chrono::microseconds(left % 2 * 100), tick);
    };
    loop.deadline(tandem::now(), tick);
    co_await over.wait();
    EXPECT_EQ(left, 0);
  });
}

TEST(foreign_loop, a_deadline_goes_by_a_virtual_clock) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(7, 2);
  tandem::run(
      []() -> task<void> {
        const auto begin = tandem::now();
        const auto body = [&](foreign_loop& loop) -> task<void> {
          ready_descriptor paused;
          loop.watch(paused.get(), watch_interest::none, [](native_descriptor, ready_events) {});
          event over;
          loop.deadline(begin + 24h, [&] { over.set(); });
          co_await over.wait();
          EXPECT_EQ(tandem::now(), begin + 24h);
        };
        co_await with_foreign_loop(body);
      }(),
      options);
}

TEST(foreign_loop, an_event_allocates_nothing) {
  in_a_loop([](foreign_loop& loop) -> task<void> {
    foreign_pair pair;
    event over;
    int calls = 0;
    long before = 0;
    loop.watch(pair.ours(), watch_interest::read, [&](native_descriptor fd, ready_events) {
      EXPECT_EQ(read_some(fd), "x");
      if (++calls == 20) before = tandem::test::news();  // what is used again has been made
      if (calls < 200) return pair.peer_writes("x");
      EXPECT_EQ(tandem::test::news(), before);
      over.set();
    });
    pair.peer_writes("x");
    co_await over.wait();
  });
}

TEST(foreign_loop, watches_go_along_when_their_thread_moves_to_another_engine) {
  tandem::test::test_runtime rt;
  tandem::io::completion_pool& pool = tandem::io::install(*rt, tandem::test::threads_between(1, 2));
  pool.resize(2);
  foreign_pair pair;
  event watching;
  event heard;
  int calls = 0;
  const auto body = [&](foreign_loop& loop) -> task<void> {
    loop_passes passes(loop);
    loop.watch(pair.ours(), watch_interest::read, [&](native_descriptor fd, ready_events) {
      EXPECT_TRUE(loop.executor().is_current());
      ++calls;
      EXPECT_EQ(read_some(fd), "x");
      heard.set();
    });
    co_await passes.pass();
    watching.set();
    co_await heard.wait();
    co_await passes.pass();
  };
  auto handle = rt->spawn(with_foreign_loop(pool.thread(1), body));
  rt.run([](event& set) -> task<void> { co_await set.wait(); }(watching));
  pool.resize(1);
  pool.resize(2);
  pool.resize(1);
  pair.peer_writes("x");
  handle.wait();
  EXPECT_EQ(calls, 1);
}

}  // namespace
