// root_state_test.cpp: a spawned task is started or removed, by one, whoever tries at the same time.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include <tandem/detail/root_state.hpp>

namespace {

using tandem::detail::promise_base;
using tandem::detail::root_state;
using phase = root_state::phase;

class root_state_of_a_task : public ::testing::Test {
 protected:
  root_state_of_a_task() { body.room = &room; }

  tandem::detail::outcome<int> room;
  promise_base body;
};

TEST_F(root_state_of_a_task, what_is_started_has_its_room_and_no_frame_left) {
  root_state task(body, true);
  EXPECT_EQ(task.now(), phase::queued);
  EXPECT_EQ(task.result_room(), nullptr);
  phase found{};
  EXPECT_EQ(task.begin(found), &body);
  EXPECT_EQ(task.now(), phase::running);
  EXPECT_EQ(task.result_room(), &room);
  EXPECT_EQ(task.give_up_frame(), nullptr);
  task.end();
  EXPECT_EQ(task.now(), phase::done);
  EXPECT_EQ(task.result_room(), &room);
  EXPECT_TRUE(task.note());
}

TEST_F(root_state_of_a_task, the_frame_of_a_removed_one_is_given_up_once) {
  root_state task(body, false);
  EXPECT_EQ(task.remove(), phase::queued);
  EXPECT_EQ(task.remove(), phase::removed);
  EXPECT_EQ(task.give_up_frame(), &body);
  EXPECT_EQ(task.give_up_frame(), nullptr);
  EXPECT_EQ(task.result_room(), nullptr);
  EXPECT_FALSE(task.note());
}

TEST_F(root_state_of_a_task, a_frame_that_was_taken_is_nobody_elses) {
  root_state task(body, true);
  EXPECT_EQ(task.take_frame(), &body);
  EXPECT_EQ(task.take_frame(), nullptr);
  EXPECT_EQ(task.give_up_frame(), nullptr);
  EXPECT_EQ(task.now(), phase::removed);
  EXPECT_TRUE(task.note());
}

TEST_F(root_state_of_a_task, of_starters_joiners_and_cancels_at_once_one_wins) {
  constexpr int rounds = 300;
  std::array<int, 4> won{};
  for (int round = 0; round < rounds; ++round) {
    root_state task(body, round % 2 == 0);
    std::atomic<int> ready{0};
    std::array<int, 4> wins{};
    const auto at_once = [&](std::size_t who, auto attempt) {
      return [&, who, attempt] {
        ready.fetch_add(1);
        while (ready.load() < 4) std::this_thread::yield();
        wins[who] = attempt() ? 1 : 0;
      };
    };
    const auto begin = [&] {
      phase found{};
      return task.begin(found) == &body;
    };
    {
      std::jthread starter(at_once(0, begin));
      std::jthread joiner(at_once(1, begin));
      std::jthread cancel(at_once(2, [&] { return task.remove() == phase::queued; }));
      std::jthread emptier(at_once(3, [&] { return task.take_frame() == &body; }));
    }
    ASSERT_EQ(wins[0] + wins[1] + wins[2] + wins[3], 1);
    ASSERT_EQ(task.now(), wins[0] + wins[1] == 1 ? phase::running : phase::removed);
    ASSERT_EQ(task.note(), round % 2 == 0);
    for (std::size_t i = 0; i < won.size(); ++i) won[i] += wins[i];
  }
  EXPECT_EQ(won[0] + won[1] + won[2] + won[3], rounds);
}

}  // namespace
