// root_stops_test.cpp: the lists of roots that a shutdown stops, without a runtime.
// SPDX-License-Identifier: MIT
#include "runtime/root_stops.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <thread>

namespace {

using tandem::stop_reason;
using tandem::stop_state;
using tandem::detail::root_stops;

template <class Body>
void on_another_thread(Body body) {
  std::thread(body).join();
}

TEST(root_stops, a_stop_reaches_the_roots_that_began_on_any_thread) {
  root_stops roots;
  std::array<stop_state, 6> begun;
  for (stop_state& each : begun) {
    on_another_thread([&] { each.link(roots.of_this_thread()); });
  }
  roots.request_stop(stop_reason::shutdown);
  for (stop_state& each : begun) {
    EXPECT_EQ(each.reason(), stop_reason::shutdown);
    each.unlink();
  }
}

TEST(root_stops, a_root_that_begins_after_the_stop_is_stopped_at_once) {
  root_stops roots;
  roots.request_stop(stop_reason::shutdown);
  for (int i = 0; i < 6; ++i) {
    on_another_thread([&] {
      stop_state late;
      late.link(roots.of_this_thread());
      EXPECT_EQ(late.reason(), stop_reason::shutdown);
      late.unlink();
    });
  }
}

TEST(root_stops, a_root_that_has_left_is_not_touched_any_more) {
  root_stops roots;
  stop_state gone;
  gone.link(roots.of_this_thread());
  gone.unlink();
  roots.request_stop(stop_reason::shutdown);
  EXPECT_FALSE(gone.stop_requested());
}

TEST(root_stops, only_the_first_reason_counts) {
  root_stops roots;
  stop_state root;
  root.link(roots.of_this_thread());
  roots.request_stop(stop_reason::shutdown);
  roots.request_stop(stop_reason::user);
  EXPECT_EQ(root.reason(), stop_reason::shutdown);
  root.unlink();
}

TEST(root_stops, a_thread_links_below_one_state_as_long_as_it_is_no_worker) {
  root_stops roots;
  on_another_thread([&] { EXPECT_EQ(&roots.of_this_thread(), &roots.of_this_thread()); });
}

TEST(root_stops, a_report_sees_each_state_once_and_each_root_below_one_of_them) {
  root_stops roots;
  std::array<stop_state, 6> begun;
  for (stop_state& each : begun) {
    on_another_thread([&] { each.link(roots.of_this_thread()); });
  }
  std::multiset<const stop_state*> states;
  std::multiset<const stop_state*> seen;
  roots.for_each([&](const stop_state& each) {
    states.insert(&each);
    EXPECT_TRUE(each.try_for_each_child([&](const stop_state& root) { seen.insert(&root); }));
  });
  EXPECT_EQ(states.size(), tandem::detail::thread_shards);
  EXPECT_EQ(states.count(&roots.of_this_thread()), 1U);
  std::multiset<const stop_state*> expected;
  for (stop_state& each : begun) {
    expected.insert(&each);
    each.unlink();
  }
  EXPECT_EQ(seen, expected);
}

}  // namespace
