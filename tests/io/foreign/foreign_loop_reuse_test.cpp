// foreign_loop_reuse_test.cpp: numbers that are closed, told of late or never, and used again.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <tandem/event.hpp>
#include <tandem/io/foreign_loop.hpp>
#include <tandem/io/readiness.hpp>
#include <vector>

#include "io/support/loop_support.hpp"

namespace {

using tandem::event;
using tandem::task;
using tandem::io::foreign_loop;
using tandem::io::native_descriptor;
using tandem::io::no_descriptor;
using tandem::io::ready_events;
using tandem::io::watch_interest;
using tandem::test::close_plain;
using tandem::test::duplicate_plain;
using tandem::test::foreign_pair;
using tandem::test::in_a_loop;
using tandem::test::loop_passes;
using tandem::test::plain_socket;
using tandem::test::read_some;
using tandem::test::send_plain;
using tandem::test::try_renumber;

TEST(foreign_loop, forget_takes_back_what_has_come_in_the_same_batch) {
  in_a_loop([](foreign_loop& loop) -> task<void> {
    loop_passes passes(loop);
    foreign_pair one;
    foreign_pair other;
    int calls = 0;
    // Whichever comes first forgets itself and the other.
    const auto on_ready = [&](native_descriptor, ready_events) {
      ++calls;
      loop.forget(one.ours());
      loop.forget(other.ours());
    };
    loop.watch(one.ours(), watch_interest::read_write, on_ready);
    loop.watch(other.ours(), watch_interest::read_write, on_ready);
    one.peer_writes("x");
    other.peer_writes("x");
    co_await passes.pass();
    EXPECT_EQ(calls, 1);
  });
}

TEST(foreign_loop, what_is_not_watched_may_be_forgotten) {
  in_a_loop([](foreign_loop& loop) -> task<void> {
    const foreign_pair pair;
    loop.forget(pair.ours());
    loop.forget(no_descriptor);
    loop.watch(pair.ours(), watch_interest::read, [](native_descriptor, ready_events) {});
    loop.forget(pair.ours());
    loop.forget(pair.ours());
    co_return;
  });
}

enum class telling : std::uint8_t { before_the_close, after_the_close, never };

/// The number of a watched socket, whose peer has written, is closed and becomes another one's.
/// @returns  false: it has become somebody else's
task<bool> reuse(foreign_loop& loop, telling when, bool event_has_come, bool is_still_open) {
  loop_passes passes(loop);
  foreign_pair old;
  foreign_pair next;
  int old_calls = 0;
  loop.watch(old.ours(), watch_interest::read,
             [&](native_descriptor, ready_events) { ++old_calls; });
  co_await passes.pass();
  if (event_has_come) old.peer_writes("old");
  const plain_socket number = old.take_ours();
  const plain_socket other_number = is_still_open ? duplicate_plain(number) : no_descriptor;
  if (when == telling::before_the_close) loop.forget(number);
  close_plain(number);
  if (when == telling::after_the_close) loop.forget(number);
  if (!try_renumber(next, number)) {
    loop.forget(number);
    if (is_still_open) close_plain(other_number);
    co_return false;
  }
  std::string got;
  event all;
  loop.watch(number, watch_interest::read, [&](native_descriptor fd, ready_events events) {
    EXPECT_TRUE(events.readable());
    const std::string part = read_some(fd);
    EXPECT_NE(part, "") << "an event of the old one";
    got += part;
    if (got.size() == 3) all.set();
  });
  co_await passes.pass();
  EXPECT_EQ(got, "");
  EXPECT_LE(send_plain(old.peer(), "late", 4), 4);  // EPIPE, if its end has left
  co_await passes.pass();
  EXPECT_EQ(got, "");
  next.peer_writes("new");
  co_await all.wait();
  EXPECT_EQ(old_calls, 0);
  loop.forget(number);
  if (is_still_open) close_plain(other_number);
  co_return true;
}

/// Again where another thread was faster.
constexpr int attempts = 50;

task<void> reuse_at_last(foreign_loop& loop, telling when, bool event_has_come,
                         bool is_still_open) {
  for (int i = 0; i < attempts; ++i) {
    const bool is_done = co_await reuse(loop, when, event_has_come, is_still_open);
    if (is_done) co_return;
  }
  ADD_FAILURE() << "the number was somebody else's each time";
}

TEST(foreign_loop, no_event_of_an_old_descriptor_reaches_a_new_one_of_its_number) {
  for (const telling when : {telling::before_the_close, telling::after_the_close, telling::never}) {
    for (const bool event_has_come : {false, true}) {
      for (const bool is_still_open : {false, true}) {
        in_a_loop([=](foreign_loop& loop) {
          return reuse_at_last(loop, when, event_has_come, is_still_open);
        });
        EXPECT_FALSE(HasFailure()) << static_cast<int>(when) << event_has_come << is_still_open;
      }
    }
  }
}

/// The next one to ask does so in the same segment: the loop's wait is in nobody's way.
/// @returns  false: another thread has taken the number
task<bool> wait_for_the_next(foreign_loop& loop) {
  loop_passes passes(loop);
  foreign_pair old;
  foreign_pair next;
  loop.watch(old.ours(), watch_interest::read_write,
             [&](native_descriptor fd, ready_events) { loop.watch(fd, watch_interest::read); });
  co_await passes.pass();
  const plain_socket number = old.take_ours();
  close_plain(number);
  loop.forget(number);
  if (!try_renumber(next, number)) co_return false;
  const auto writes_later = [&]() -> task<void> {
    co_await passes.pass();
    next.peer_writes("x");
  };
  const auto all = [&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(writes_later());
    co_await tandem::io::readable(number);
    co_await scope.join();
  };
  co_await tandem::with_scope(all);
  EXPECT_EQ(read_some(number), "x");
  co_return true;
}

TEST(foreign_loop, whoever_waits_for_the_new_descriptor_at_once_hears_of_it) {
  in_a_loop([](foreign_loop& loop) -> task<void> {
    for (int i = 0; i < attempts; ++i) {
      const bool is_done = co_await wait_for_the_next(loop);
      if (is_done) co_return;
    }
    ADD_FAILURE() << "the number was somebody else's each time";
  });
}

TEST(foreign_loop, a_number_that_was_closed_without_a_word_is_told_once_as_an_error) {
  in_a_loop([](foreign_loop& loop) -> task<void> {
    loop_passes passes(loop);
    foreign_pair pair;
    std::vector<ready_events> told;
    pair.peer_writes("x");
    loop.watch(pair.ours(), watch_interest::read, [&](native_descriptor, ready_events events) {
      told.push_back(events);
      pair.close_one(0);
    });
    co_await passes.pass(6);
    EXPECT_EQ(told, (std::vector<ready_events>{ready_events(true, false, false, false),
                                               ready_events(false, false, true, false)}));
  });
}

}  // namespace
