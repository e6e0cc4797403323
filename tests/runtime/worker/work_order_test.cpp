// work_order_test.cpp: in which order a worker takes what waits.
// SPDX-License-Identifier: MIT
#include "worker/work_order.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>

#include "runtime/support/crew_parts.hpp"

namespace {

using crew_parts::crew_of_one_test;
using tandem::detail::exposure;
using tandem::detail::lookout_sight;

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
        order(parts.workers, submissions, parts.waking, watched, false) {
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
  tandem::detail::lookout watched;
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

/// Two items in the lane of `of.second`, public from `now` on.
void fork_two(queues& of, std::uint64_t now) {
  of.second->forks.push_sibling(&of.make('a'));
  of.second->forks.push_sibling(&of.make('b'));
  EXPECT_EQ(of.second->forks.look_after(true, [now] { return now; }), exposure::young);
}

TEST(fork_lane, what_is_first_in_a_lane_that_its_owner_had_found_empty_is_young_for_a_moment) {
  queues of;
  fork_two(of, 1'000'000);
  bool young = false;
  EXPECT_EQ(of.second->forks.steal_ripe(1'000'100, young), nullptr);
  EXPECT_TRUE(young);
  young = false;
  young = false;
  EXPECT_EQ(of.second->forks.steal_ripe(999'900, young), nullptr) << "born since the look";
  EXPECT_TRUE(young);
  young = false;
  EXPECT_EQ(queues::name_of(of.second->forks.steal_ripe(1'010'000, young)), "a");
  EXPECT_FALSE(young);
  // As steal() found it: the time is the lane's, not the item's.
  EXPECT_EQ(queues::name_of(of.second->forks.steal_ripe(1'010'000, young)), "b");
  EXPECT_EQ(of.second->forks.steal_ripe(1'010'000, young), nullptr);
  EXPECT_FALSE(young) << "there is none";
}

TEST(fork_lane, what_its_owner_takes_back_makes_room_for_what_is_young_again) {
  queues of;
  fork_two(of, 1'000'000);
  EXPECT_EQ(queues::name_of(of.second->forks.pop()), "b");
  EXPECT_EQ(queues::name_of(of.second->forks.pop()), "a");
  EXPECT_EQ(of.second->forks.pop(), nullptr);
  fork_two(of, 2'000'000);
  bool young = false;
  EXPECT_EQ(of.second->forks.steal_ripe(2'000'100, young), nullptr);
  EXPECT_TRUE(young);
}

TEST(fork_lane, what_has_waited_among_what_is_private_is_not_young) {
  queues of;
  fork_two(of, 1'000'000);
  of.second->forks.push_sibling(&of.make('c'));
  bool young = false;
  EXPECT_EQ(queues::name_of(of.second->forks.steal_ripe(1'010'000, young)), "a");
  EXPECT_EQ(queues::name_of(of.second->forks.steal_ripe(1'010'000, young)), "b");
  EXPECT_EQ(of.second->forks.look_after(true, [] { return std::uint64_t{1'010'000}; }),
            exposure::old);
  EXPECT_EQ(queues::name_of(of.second->forks.steal_ripe(1'010'001, young)), "c");
  EXPECT_FALSE(young);
}

TEST(fork_lane, siblings_are_exposed_together_though_the_ring_is_full_before_the_last) {
  for (int before = 0; before < 256; ++before) {
    tandem::detail::fork_lane lane;
    named_job item;
    for (int i = 0; i < before; ++i) {
      lane.push_sibling(&item);
      ASSERT_TRUE(lane.look_after());
      ASSERT_EQ(lane.steal(), &item);
    }
    for (int i = 0; i < 3; ++i) lane.push_sibling(&item);
    ASSERT_TRUE(lane.attention.load());
    ASSERT_NE(lane.look_after(true, [] { return std::uint64_t{1}; }), exposure::nothing);
    for (int i = 0; i < 3; ++i)
      ASSERT_EQ(lane.steal(), &item) << "the ring is full after " << before;
  }
}

TEST(fork_lane, siblings_are_exposed_though_something_was_public_before) {
  queues of;
  fork_two(of, 1'000'000);
  of.second->forks.push_sibling(&of.make('c'));
  of.second->forks.push_sibling(&of.make('d'));
  EXPECT_EQ(of.second->forks.look_after(true, [] { return std::uint64_t{0}; }), exposure::nothing)
      << "nobody has to be woken for more";
  for (const char* name : {"a", "b", "c", "d"}) {
    EXPECT_EQ(queues::name_of(of.second->forks.steal()), name);
  }
}

TEST(work_order, a_lookout_sees_nothing_then_what_is_ripe_and_then_that_lanes_have_moved) {
  queues of;
  std::uint64_t last = 0;
  EXPECT_EQ(of.order.look_out(last), lookout_sight::quiet);
  of.second->forks.push_sibling(&of.make('a'));
  (void)of.order.look_after_lane(*of.second, tandem::detail::lane_look::siblings);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(of.order.look_out(last), lookout_sight::ripe);
  EXPECT_EQ(queues::name_of(of.second->forks.pop()), "a");
  EXPECT_EQ(of.second->forks.pop(), nullptr);
  EXPECT_EQ(of.order.look_out(last), lookout_sight::young) << "it has got an item since";
  EXPECT_EQ(of.order.look_out(last), lookout_sight::quiet);
}

TEST(work_order, a_lookout_looks_after_what_is_young_and_nothing_else) {
  queues of;
  EXPECT_FALSE(of.order.anything_to_wake_for());
  of.second->forks.push_sibling(&of.make('a'));
  (void)of.order.look_after_lane(*of.second, tandem::detail::lane_look::siblings);
  EXPECT_TRUE(of.order.anything_to_wake_for()) << "there is no lookout";
  EXPECT_TRUE(of.watched.begin());
  EXPECT_FALSE(of.watched.begin()) << "there is one";
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_TRUE(of.order.anything_to_wake_for()) << "it is ripe";
  EXPECT_EQ(queues::name_of(of.second->forks.pop()), "a");
  EXPECT_EQ(of.second->forks.pop(), nullptr);
  EXPECT_FALSE(of.order.anything_to_wake_for());
  // Young for a while: born a little later than now.
  of.second->forks.push_sibling(&of.make('c'));
  EXPECT_EQ(
      of.second->forks.look_after(true, [] { return tandem::detail::lane_time() + 200'000'000; }),
      exposure::young);
  EXPECT_FALSE(of.order.anything_to_wake_for());
  EXPECT_EQ(queues::name_of(of.order.search(*of.first)), "-");
  EXPECT_TRUE(of.first->saw_young);
  of.inject('b');
  EXPECT_TRUE(of.order.anything_to_wake_for());
  of.watched.end();
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
