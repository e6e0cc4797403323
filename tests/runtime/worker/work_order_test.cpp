// work_order_test.cpp: in which order a worker takes what waits.
// SPDX-License-Identifier: MIT
#include "worker/work_order.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

#include "runtime/support/crew_parts.hpp"

namespace {

using crew_parts::crew_of_one_test;

tandem::pool_options two_workers() {
  tandem::pool_options chosen;
  chosen.min_threads = 2;
  chosen.max_threads = 2;
  return chosen;
}

class named_job : public tandem::job {
 public:
  named_job() : tandem::job([](tandem::job*) noexcept {}) {}
  char name = '?';
};

/// Two workers without threads, and their queues.
class queues {
 public:
  queues()
      : parts(two_workers(), false),
        submissions(parts.options->submissions),
        order(parts.workers, submissions, parts.waking, false) {
    first = &parts.workers.take();
    second = &parts.workers.take();
  }

  named_job& make(char name) {
    named_job& made = jobs_[used_++];
    made.name = name;
    return made;
  }
  void inject(char name) {
    named_job& made = make(name);
    order.injection().push(&made, &made);
  }
  static std::string name_of(tandem::job* item) {
    return item == nullptr ? "-" : std::string(1, static_cast<named_job*>(item)->name);
  }
  /// The names of so many in the order in which the worker takes them.
  std::string take(tandem::detail::worker& by, int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += name_of(order.next(by));
    return out;
  }

  crew_of_one_test parts;
  tandem::detail::submission_queue submissions;
  tandem::detail::work_order order;
  tandem::detail::worker* first = nullptr;
  tandem::detail::worker* second = nullptr;

 private:
  std::array<named_job, 256> jobs_;
  std::size_t used_ = 0;
};

TEST(work_order, the_next_slot_comes_first_then_the_oldest_then_what_came_from_outside) {
  queues of;
  of.inject('c');
  of.order.push(*of.first, &of.make('b'));
  EXPECT_EQ(of.first->fifo.exchange_next(&of.make('a')), nullptr);
  EXPECT_EQ(of.take(*of.first, 4), "abc-");
}

TEST(work_order, the_next_slot_is_used_three_times_in_a_row_and_no_more) {
  queues of;
  of.order.push(*of.first, &of.make('x'));
  std::string out;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(of.first->fifo.exchange_next(&of.make('n')), nullptr);
    out += of.take(*of.first, 1);
    if (out.back() == 'x') break;
  }
  EXPECT_EQ(out, "nnnx");
}

TEST(work_order, what_a_worker_was_handed_comes_before_what_is_queued) {
  queues of;
  of.first->tick = 60;  // the next take would be one of the rare ones that begin outside
  of.inject('b');
  of.first->handed = &of.make('a');
  of.order.take_handed(*of.first);
  EXPECT_EQ(of.take(*of.first, 2), "ab");
}

TEST(work_order, what_comes_from_outside_is_not_starved_by_a_full_lane) {
  queues of;
  of.inject('o');
  for (int i = 0; i < 100; ++i) of.order.push(*of.first, &of.make('l'));
  EXPECT_NE(of.take(*of.first, 61).find('o'), std::string::npos);
}

TEST(work_order, a_search_takes_half_of_another_lane) {
  queues of;
  for (const char name : {'a', 'b', 'c', 'd'}) of.order.push(*of.second, &of.make(name));
  EXPECT_EQ(queues::name_of(of.order.search(*of.first)), "a");
  EXPECT_EQ(of.first->fifo.size(), 1U);
  EXPECT_EQ(of.second->fifo.size(), 2U);
  EXPECT_EQ(of.first->steals.read(), 2U);
}

TEST(work_order, a_next_slot_is_taken_only_from_a_worker_that_is_stuck) {
  queues of;
  EXPECT_EQ(of.second->fifo.exchange_next(&of.make('a')), nullptr);
  EXPECT_EQ(queues::name_of(of.order.search(*of.first)), "a") << "it has begun nothing meanwhile";
}

TEST(work_order, who_blocks_or_steps_back_keeps_nothing) {
  queues of;
  of.order.push(*of.first, &of.make('a'));
  EXPECT_EQ(of.first->fifo.exchange_next(&of.make('b')), nullptr);
  of.order.expose(*of.first);
  EXPECT_FALSE(of.first->fifo.has_next());
  EXPECT_EQ(of.order.in_lanes(), 2U);
  of.order.hand_over_lanes(*of.first);
  EXPECT_EQ(of.order.in_lanes(), 0U);
  EXPECT_EQ(of.order.queued(), 2U);
  EXPECT_TRUE(of.order.anything_queued());
  EXPECT_EQ(of.take(*of.second, 3), "ab-");
  EXPECT_FALSE(of.order.anything_queued());
}

}  // namespace
