// held_queue_test.cpp: ready tasks come in their order, and hold the clock for as long as there are any.
// SPDX-License-Identifier: MIT
#include "ready/held_queue.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <tandem/detail/clock_hold.hpp>
#include <tandem/runtime.hpp>

namespace {

using namespace std::chrono_literals;

tandem::runtime_options virtual_clock() {
  tandem::runtime_options options;
  options.clock.emplace();
  return options;
}

class held_queue : public ::testing::Test {
 protected:
  /// Were there more, time would stand still: this hangs. Were there fewer, they would be less than
  /// none, which is likewise.
  void expect_holds(int count) {
    for (int i = 0; i < count; ++i) tandem::detail::release_clock(owner_);
    owner_.run_for(1s);
    for (int i = 0; i < count; ++i) tandem::detail::hold_clock(owner_);
  }
  /// As whoever posts from elsewhere: it holds the clock until its task has run.
  void add_from_elsewhere(tandem::job& item) {
    tandem::detail::hold_clock(owner_);
    queue_.add_held(&item);
  }

  tandem::runtime owner_{virtual_clock()};
  tandem::io::held_queue queue_{owner_};
  std::array<tandem::job, 4> items_;
};

TEST_F(held_queue, whatever_came_first_runs_first_however_it_came) {
  add_from_elsewhere(items_[0]);
  queue_.push_back(&items_[1]);
  tandem::job_list more;
  more.push_back(&items_[2]);
  more.push_back(&items_[3]);
  queue_.append(more);
  EXPECT_TRUE(more.empty());
  for (tandem::job& each : items_) EXPECT_EQ(queue_.pop_front(), &each);
  EXPECT_EQ(queue_.pop_front(), nullptr);
  EXPECT_TRUE(queue_.empty());
  queue_.settle();
  expect_holds(0);
}

TEST_F(held_queue, what_its_thread_posts_to_itself_needs_one_hold) {
  queue_.push_back(&items_[0]);
  queue_.push_back(&items_[1]);
  expect_holds(1);
  (void)queue_.pop_front();
  queue_.settle();
  expect_holds(1);
  (void)queue_.pop_front();
  expect_holds(1);  // it runs
  queue_.settle();
  expect_holds(0);
}

TEST_F(held_queue, the_holds_of_others_are_its_own_until_the_round_has_ended) {
  for (tandem::job& each : items_) add_from_elsewhere(each);
  for (int i = 0; i < 3; ++i) (void)queue_.pop_front();
  expect_holds(4);
  queue_.settle();
  expect_holds(1);
  (void)queue_.pop_front();
  queue_.settle();
  queue_.settle();
  expect_holds(0);
}

TEST_F(held_queue, a_list_that_is_appended_holds_as_one) {
  tandem::job_list list;
  for (tandem::job& each : items_) list.push_back(&each);
  queue_.append(list);
  expect_holds(1);
  while (queue_.pop_front() != nullptr) {}
  queue_.settle();
  expect_holds(0);
}

}  // namespace
