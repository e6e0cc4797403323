// look_test.cpp: a look holds a wait, and whoever ends the wait meanwhile leaves the resume to it.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include <tandem/tandem.hpp>

#include "runtime/runtime_impl.hpp"
#include "stop/stop_look.hpp"
#include "support/test_runtime.hpp"

namespace {

using tandem::task;
using tandem::detail::look_visitor;
using tandem::detail::stop_look;
using tandem::test::test_runtime;

/// Does something while a wait is held, and counts what it is shown.
class probe final : public look_visitor {
 public:
  explicit probe(std::size_t room = 1000) : room_(room) {}

  void enter(const tandem::environment& of) noexcept override {
    seen.insert(of.id());
    ++entered;
    --left_;
  }
  void wait(const tandem::stop_waiter& /*what*/, const tandem::detail::promise_base& /*frame*/,
            bool known) noexcept override {
    ++waits;
    known_waits += known ? 1 : 0;
    if (left_ > 0) --left_;
    if (while_held) std::exchange(while_held, nullptr)();
  }
  void joins(const tandem::detail::promise_base& /*frame*/) noexcept override { ++joined; }
  void leave() noexcept override { ++left; }
  bool has_room() const noexcept override { return left_ != 0; }
  void settle() override {
    ++settled;
    left_ = room_;
    if (between) between();
    if (throws_at != 0 && settled == throws_at) throw std::bad_alloc();
  }

  std::function<void()> while_held;
  std::function<void()> between;
  std::set<std::uint64_t> seen;
  std::size_t entered = 0;
  std::size_t left = 0;
  std::size_t waits = 0;
  std::size_t known_waits = 0;
  std::size_t joined = 0;
  std::size_t settled = 0;
  std::size_t throws_at = 0;

 private:
  std::size_t room_;
  std::size_t left_ = 0;
};

task<void> wait_for(tandem::event& what, std::atomic<int>& ended) {
  co_await what.wait();
  ++ended;
}

class look : public testing::Test {
 protected:
  void walk(probe& visitor) {
    (*rt).implementation().roots().for_each(
        [&](tandem::stop_state& top) { stop_look(visitor).walk(top); });
  }
  std::size_t run() { return (*rt).run_until_idle(); }
  /// A task that waits for `go`.
  tandem::join_handle<> suspended() {
    auto waiting = (*rt).spawn(wait_for(go, ended));
    run();
    return waiting;
  }

  tandem::event go;
  std::atomic<int> ended{0};
  test_runtime rt{0U};
};

TEST_F(look, a_wait_that_is_over_while_it_is_held_goes_on_once_by_the_look) {
  auto waiting = suspended();
  probe visitor;
  visitor.while_held = [&] {
    go.set();
    EXPECT_EQ(run(), 0U);  // nobody has resumed it
  };
  walk(visitor);
  EXPECT_EQ(visitor.waits, 1U);
  EXPECT_EQ(ended, 0);
  run();
  EXPECT_EQ(ended, 1);
}

TEST_F(look, a_stop_that_comes_while_a_wait_is_held_ends_it_after_the_look) {
  auto waiting = suspended();
  probe visitor;
  visitor.while_held = [&] {
    waiting.cancel();
    EXPECT_EQ(run(), 0U);
  };
  walk(visitor);
  run();
  EXPECT_TRUE(waiting.is_done());
  EXPECT_EQ(ended, 0);
}

TEST_F(look, a_stop_and_the_end_of_the_wait_while_it_is_held_resume_it_once) {
  for (const bool stop_first : {true, false}) {
    ended = 0;
    go.reset();
    auto waiting = suspended();
    probe visitor;
    visitor.while_held = [&] {
      if (stop_first) waiting.cancel();
      go.set();
      if (!stop_first) waiting.cancel();
    };
    walk(visitor);
    run();
    EXPECT_TRUE(waiting.is_done());
    EXPECT_EQ(ended, 1);  // the event was first: whoever took it out of the list has decided
  }
}

TEST_F(look, leaves_a_wait_as_it_was) {
  auto waiting = suspended();
  for (int i = 0; i < 3; ++i) {
    probe visitor;
    walk(visitor);
    EXPECT_EQ(visitor.waits, 1U);
    EXPECT_EQ(visitor.known_waits, i == 0 ? 0U : 1U);
    EXPECT_EQ(run(), 0U);
  }
  go.set();
  run();
  EXPECT_EQ(ended, 1);
}

TEST_F(look, a_wait_that_was_looked_at_can_be_stopped_and_looked_at_again_before) {
  auto waiting = suspended();
  probe first;
  walk(first);
  waiting.cancel();
  probe second;
  walk(second);
  EXPECT_EQ(second.waits, 0U);
  run();
  EXPECT_TRUE(waiting.is_done());
}

/// A scope with so many children, each of which waits in a part of its own.
task<void> family(tandem::event& go, int children, std::atomic<int>& ended) {
  const auto child = [](tandem::event& e, std::atomic<int>& n) -> task<void> {
    co_await tandem::shielded(wait_for(e, n));
  };
  const auto body = [&](tandem::task_scope& scope) -> task<void> {
    for (int i = 0; i < children; ++i) scope.spawn(child(go, ended));
    co_return;
  };
  co_await tandem::with_scope(body);
}

TEST_F(look, in_small_spells_sees_each_task_once_and_each_level_is_left) {
  auto waiting = (*rt).spawn(family(go, 100, ended));
  run();
  for (const std::size_t room : {1U, 2U, 3U, 7U, 64U}) {
    probe visitor(room);
    walk(visitor);
    EXPECT_EQ(visitor.entered, 2U + 200U) << room;  // task, scope; child, part
    EXPECT_EQ(visitor.seen.size(), visitor.entered) << room;
    EXPECT_EQ(visitor.left, visitor.entered) << room;
    EXPECT_EQ(visitor.waits, 100U) << room;
    EXPECT_EQ(visitor.joined, 1U) << room;
  }
  go.set();
  run();
  EXPECT_EQ(ended, 100);
}

TEST(look_at_threads, goes_on_while_those_around_its_mark_end) {
  test_runtime rt(2);
  for (int round = 0; round < 50; ++round) {
    tandem::event go;
    std::atomic<int> ended{0};
    auto waiting = rt->spawn(family(go, 20, ended));
    probe visitor(1);
    // From the second task on they may end, also the one that the look is in: its end waits.
    visitor.between = [&] {
      if (visitor.entered > 1) go.set();
    };
    while (visitor.entered < 2) {
      rt->implementation().roots().for_each(
          [&](tandem::stop_state& top) { stop_look(visitor).walk(top); });
    }
    waiting.wait();
    EXPECT_EQ(visitor.entered, visitor.left);
  }
}

TEST_F(look, sees_the_waits_of_forked_children_in_spells_and_while_they_end) {
  std::vector<tandem::event> events(50);
  const auto forks = [](std::vector<tandem::event>& all, std::atomic<int>& n) -> task<void> {
    std::vector<task<void>> children;
    for (tandem::event& each : all) children.push_back(wait_for(each, n));
    co_await tandem::fork_join(std::move(children));
  };
  auto waiting = (*rt).spawn(forks(events, ended));
  run();
  probe first(2);
  walk(first);
  EXPECT_EQ(first.waits, 50U);
  probe visitor(2);
  std::size_t next = 0;
  visitor.between = [&] {
    if (visitor.settled > 1 && next < events.size()) events[next++].set();
    run();
  };
  walk(visitor);
  for (tandem::event& each : events) each.set();
  run();
  EXPECT_EQ(ended, 50);
}

TEST_F(look, that_gets_no_memory_leaves_no_trace) {
  auto waiting = (*rt).spawn(family(go, 10, ended));
  run();
  std::size_t whole = 0;
  for (std::size_t at = 1;; ++at) {
    probe visitor(1);
    visitor.throws_at = at;
    try {
      walk(visitor);
    } catch (const std::bad_alloc&) {
      continue;
    }
    whole = visitor.entered;
    break;
  }
  EXPECT_EQ(whole, 22U);
  probe after;
  walk(after);
  EXPECT_EQ(after.entered, 22U);
  go.set();
  run();
  EXPECT_EQ(ended, 10);
}

}  // namespace
