// explore_stress.cpp: the laws of the lanes under explored schedules, and that broken lanes are found.
// SPDX-License-Identifier: MIT
//
// The code is that of the runtime, with other atomics (support/explore.hpp). For each kind of law a
// test with a planted bug shows that the explorer would have found it within the same budget.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "explore.hpp"
#include "fifo_lane_scenarios.hpp"
#include "fork_lane_scenarios.hpp"
#include "mutations.hpp"
#include "seeded.hpp"

namespace {

using namespace tandem::test;

/// Executions of each law; more if TANDEM_STRESS_SECONDS asks for time.
constexpr std::uint64_t budget = 30'000;

finding explore_all(void (*scenario)(schedule&)) {
  const auto until = std::chrono::steady_clock::now() + stress_time({});
  return explore(
      stress_seed(),
      [until](std::uint64_t executions) {
        return executions >= budget && std::chrono::steady_clock::now() >= until;
      },
      scenario);
}

void expect_holds(void (*scenario)(schedule&)) {
  const finding found = explore_all(scenario);
  EXPECT_FALSE(found.broken) << "Broken: " << found.law << "\nTANDEM_STRESS_SEED=" << found.seed
                             << " repeats it. The last steps were:\n"
                             << found.tail;
}

/// @param laws  what may be found first; empty: any
void expect_broken(void (*scenario)(schedule&), const std::vector<std::string>& laws = {}) {
  const finding found = explore_all(scenario);
  ASSERT_TRUE(found.broken) << "nothing was found in " << found.executions << " executions";
  std::printf("found in execution %llu: %s\n", static_cast<unsigned long long>(found.executions),
              found.law.c_str());
  if (!laws.empty()) {
    EXPECT_NE(std::find(laws.begin(), laws.end(), found.law), laws.end()) << found.law;
  }
}

TEST(fork_lane, gives_each_item_to_its_owner_or_one_thief_under_any_schedule) {
  expect_holds(owner_and_thieves<explored_atomics>);
}
TEST(fork_lane, loses_nothing_when_its_owner_takes_public_items_back) {
  expect_holds(taking_back<explored_atomics>);
}
TEST(fork_lane, grows_while_thieves_read) { expect_holds(growing<explored_atomics>); }
TEST(fork_lane, loses_no_call_for_attention) {
  expect_holds(asking_for_attention<explored_atomics>);
}
TEST(fork_lane, never_starves_thieves_while_its_owner_looks) {
  expect_holds(attentive_owner<explored_atomics>);
}
TEST(fork_lane, hides_nothing_once_all_is_exposed) { expect_holds(exposing_all<explored_atomics>); }
TEST(fork_lane, publishes_before_its_owner_looks_for_sleepers) {
  expect_holds(sleeping<explored_atomics, false>);
}
TEST(fork_lane, exposes_all_before_its_owner_looks_for_sleepers) {
  expect_holds(sleeping<explored_atomics, true>);
}
TEST(fifo_lane, gives_each_item_to_one_taker_under_any_schedule) {
  expect_holds(fifo_owner_and_thieves<explored_atomics>);
}
TEST(fifo_lane, gives_the_next_slot_to_one_taker) {
  expect_holds(fifo_next_slot<explored_atomics>);
}
TEST(fifo_lane, publishes_before_its_owner_looks_for_sleepers) {
  expect_holds(fifo_sleeping<explored_atomics>);
}

TEST(explorer, finds_a_dropped_barrier) {
  expect_broken(taking_back<without_barriers>);
  expect_broken(sleeping<without_barriers, false>, {nobody_sleeps});
  expect_broken(sleeping<without_barriers, true>, {nobody_sleeps});
  expect_broken(fifo_sleeping<without_barriers>, {nobody_sleeps});
}
TEST(explorer, finds_a_blind_exchange) {
  expect_broken(owner_and_thieves<with_blind_exchanges>);
  expect_broken(fifo_owner_and_thieves<with_blind_exchanges>);
}
TEST(explorer, finds_a_split_that_was_not_read_again) {
  expect_broken(taking_back<with_stale_numbers<std::int64_t>>, {attention_set, thieves_find});
}
TEST(explorer, finds_attention_cleared_by_a_load_and_a_store) {
  expect_broken(asking_for_attention<with_torn_exchanges>, {asked_and_seen, attention_set});
  expect_broken(fifo_next_slot<with_torn_exchanges>);
}
TEST(explorer, finds_a_ring_that_was_published_too_early) {
  expect_broken(growing<with_early_pointers>);
}
TEST(explorer, finds_items_that_nothing_orders_before_their_taker) {
  expect_broken(owner_and_thieves<without_orders>);
  expect_broken(fifo_owner_and_thieves<without_orders>);
}

// The explorer's own memory: what it allows and what it forbids.

template <std::memory_order Order>
void both_store_then_load(schedule& run) {
  explored_atomic<int> a{0};
  explored_atomic<int> b{0};
  int seen_by_first = 1;
  int seen_by_second = 1;
  run.thread("first", [&] {
    a.store(1, Order);
    seen_by_first = b.load(std::memory_order_seq_cst);
  });
  run.thread("second", [&] {
    b.store(1, Order);
    seen_by_second = a.load(std::memory_order_seq_cst);
  });
  if (run.go()) run.require(seen_by_first + seen_by_second > 0, "one sees the other's store");
}

template <std::memory_order Order>
void data_then_flag(schedule& run) {
  explored_atomic<int> data{0};
  explored_atomic<bool> flag{false};
  bool stale = false;
  run.thread("writer", [&] {
    data.store(1, std::memory_order_relaxed);
    flag.store(true, Order);
  });
  run.thread("reader", [&] {
    stale = flag.load(std::memory_order_acquire) && data.load(std::memory_order_relaxed) == 0;
  });
  if (run.go()) run.require(!stale, "whoever sees the flag sees the data");
}

void waiting_for_each_other(schedule& run) {
  explored_atomic<int> turn{0};
  for (const int mine : {1, 2}) {
    run.thread(mine == 1 ? "first" : "second", [&turn, &run, mine] {
      run.wait_until([&] { return turn.load(std::memory_order_acquire) == mine; });
    });
  }
  (void)run.go();
}

void never_ending(schedule& run) {
  explored_atomic<bool> end{false};
  run.thread("spinner", [&] {
    while (!end.load(std::memory_order_relaxed)) {}
  });
  (void)run.go();
}

TEST(explorer, lets_stores_wait_unless_they_are_sequentially_consistent) {
  expect_holds(both_store_then_load<std::memory_order_seq_cst>);
  expect_broken(both_store_then_load<std::memory_order_release>);
}
TEST(explorer, lets_relaxed_stores_overtake_each_other_and_no_release_overtake) {
  expect_holds(data_then_flag<std::memory_order_release>);
  expect_broken(data_then_flag<std::memory_order_relaxed>);
}
TEST(explorer, finds_that_nobody_can_go_on) {
  expect_broken(waiting_for_each_other, {"somebody can go on"});
  expect_broken(never_ending, {"everybody ends within the bound on steps"});
}
TEST(explorer, repeats_a_finding_when_given_its_seed) {
  const auto never = [](std::uint64_t) { return false; };
  const finding found =
      explore(stress_seed(), never, taking_back<with_stale_numbers<std::int64_t>>);
  const finding again = explore(found.seed, never, taking_back<with_stale_numbers<std::int64_t>>);
  EXPECT_EQ(again.executions, 1U);
  EXPECT_EQ(again.law, found.law);
  EXPECT_EQ(again.tail, found.tail);
}

}  // namespace
