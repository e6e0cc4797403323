// timer_wheel_test.cpp: the timers of a virtual clock against a sorted list.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <tandem/detail/timer_service.hpp>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tandem::detail::fired_timers;
using tandem::detail::timer_node;
using tandem::detail::timer_service;
using time_point = tandem::detail::clock::time_point;

/// A timer that writes its name down.
class named_timer : public timer_node {
 public:
  named_timer(int name, std::vector<int>& fired)
      : timer_node([](timer_node& self, fired_timers&) noexcept {
          auto& timer = static_cast<named_timer&>(self);
          timer.fired_.push_back(timer.name_);
        }),
        name_(name),
        fired_(fired) {}

 private:
  int name_;
  std::vector<int>& fired_;
};

/// Some timers and what has fired.
class timers {
 public:
  void arm(time_point deadline) {
    nodes_.push_back(std::make_unique<named_timer>(static_cast<int>(nodes_.size()), fired));
    service.prepare(*nodes_.back());
    EXPECT_TRUE(service.arm(*nodes_.back(), deadline));
  }
  bool disarm(int name) { return service.disarm(*nodes_.at(static_cast<std::size_t>(name))); }
  void pass_to(time_point now) {
    service.advance_to(now);
    service.expire(service.now());
  }
  int armed() const { return static_cast<int>(nodes_.size()); }

  timer_service service{1, true};
  std::vector<int> fired;

 private:
  std::vector<std::unique_ptr<named_timer>> nodes_;
};

TEST(timer_wheel, equal_deadlines_fire_in_arming_order_wherever_they_lie) {
  timers t;
  const auto start = t.service.now();
  t.arm(start + 10h);  // several levels up,
  t.pass_to(start + 9h);
  t.arm(start + 10h);  // some fewer,
  t.pass_to(start + 10h - 1us);
  t.arm(start + 10h);
  t.pass_to(start + 10h - 1ns);
  t.arm(start + 10h);  // and at the lowest
  EXPECT_EQ(t.service.earliest(), start + 10h);
  EXPECT_TRUE(t.fired.empty());
  t.pass_to(start + 10h);
  EXPECT_EQ(t.fired, (std::vector{0, 1, 2, 3}));
}

TEST(timer_wheel, the_past_is_due_at_once_and_the_end_of_time_never) {
  timers t;
  const auto start = t.service.now();
  t.arm(time_point::max());
  t.arm(start - 1h);
  t.arm(time_point::min());
  t.arm(time_point::max() - 1ns);
  EXPECT_LE(t.service.earliest(), start);
  EXPECT_EQ(t.service.expire(start), 2U);
  EXPECT_EQ(t.fired, (std::vector{1, 2}));
  EXPECT_EQ(t.service.earliest(), time_point::max() - 1ns);
  t.pass_to(start + 24h * 365 * 200);
  EXPECT_EQ(t.fired.size(), 2U);
  EXPECT_TRUE(t.disarm(0));
  EXPECT_TRUE(t.disarm(3));
  EXPECT_EQ(t.service.earliest(), time_point::max());
}

TEST(timer_wheel, one_expiry_after_a_long_time_fires_all_in_the_order_of_their_deadlines) {
  timers t;
  const auto start = t.service.now();
  std::vector<std::pair<std::int64_t, int>> expected;
  std::mt19937_64 random(7);
  for (int i = 0; i < 5000; ++i) {
    const auto after = static_cast<std::int64_t>(random() % 3'000'000'000);
    expected.emplace_back(after, i);
    t.arm(start + std::chrono::nanoseconds(after));
  }
  std::sort(expected.begin(), expected.end());  // equal ones by their number
  std::vector<int> order;
  for (const auto& each : expected) order.push_back(each.second);
  t.pass_to(start + 4s);
  EXPECT_EQ(t.fired, order);
}

TEST(timer_wheel, a_timer_that_was_disarmed_does_not_fire_nor_hold_back_the_earliest) {
  timers t;
  const auto start = t.service.now();
  for (int i = 0; i < 200; ++i) t.arm(start + 1s + i * 1us);
  for (int i = 0; i < 199; ++i) EXPECT_TRUE(t.disarm(i));
  EXPECT_EQ(t.service.earliest(), start + 1s + 199us);
  EXPECT_FALSE(t.disarm(0));
  t.pass_to(start + 1s + 198us);
  EXPECT_TRUE(t.fired.empty());
  t.pass_to(start + 1s + 199us);
  EXPECT_EQ(t.fired, (std::vector{199}));
  EXPECT_FALSE(t.disarm(199));
}

/// Deadlines of every size, some of them equal, some in the past.
time_point random_deadline(std::mt19937_64& random, time_point now) {
  switch (random() % 8) {
    case 0: return now;
    case 1: return now - std::chrono::nanoseconds(random() % 1'000'000);
    case 2: return time_point::max() - std::chrono::nanoseconds(random() % 3);
    case 3: return now + std::chrono::nanoseconds(random() % 64);
    case 4: return now + std::chrono::microseconds(random() % 4);
    default: return now + std::chrono::nanoseconds(random() >> (4 + random() % 58));
  }
}

/// The law: what fires, and in which order, is what a sorted list of the deadlines says. Of timers
/// that were armed too late it says only that they are among the next to fire.
void against_a_sorted_list(std::uint64_t seed) {
  SCOPED_TRACE(seed);
  std::mt19937_64 random(seed);
  timers t;
  std::multimap<time_point, int> model;
  std::set<int> late;
  time_point expired = t.service.now();  // up to here everything has fired
  std::size_t in_all = 0;
  for (int step = 0; step < 3000; ++step) {
    const auto dice = random() % 16;
    if (dice < 8 || t.armed() == 0) {
      const time_point at = random_deadline(random, t.service.now());
      const int name = t.armed();
      t.arm(at);
      if (at <= expired) late.insert(name);
      // time_point::max() is kept as the nanosecond before: it means that there is no deadline.
      model.emplace(std::clamp(at, expired, time_point::max() - 1ns), name);
    } else if (dice < 12) {
      const int name = static_cast<int>(random() % static_cast<std::uint64_t>(t.armed()));
      const auto there = std::find_if(model.begin(), model.end(),
                                      [&](const auto& each) { return each.second == name; });
      ASSERT_EQ(t.disarm(name), there != model.end());
      if (there != model.end()) model.erase(there);
    } else {
      const time_point first = model.empty() ? time_point::max() : model.begin()->first;
      if (first > expired) {
        ASSERT_EQ(t.service.earliest(), first);
      } else {
        ASSERT_LE(t.service.earliest(), expired);
      }
      time_point to = t.service.now() + std::chrono::nanoseconds(random() >> (24 + random() % 39));
      if (dice >= 14 && first < expired + 24h * 365) to = std::max(to, first);
      std::vector<int> due;
      for (; !model.empty() && model.begin()->first <= to; model.erase(model.begin())) {
        due.push_back(model.begin()->second);
      }
      t.fired.clear();
      t.pass_to(to);
      expired = to;
      std::vector<int> fired = t.fired;
      const auto was_late = [&](int name) { return late.contains(name); };
      ASSERT_EQ(std::count_if(fired.begin(), fired.end(), was_late),
                std::count_if(due.begin(), due.end(), was_late));
      std::erase_if(fired, was_late);
      std::erase_if(due, was_late);
      ASSERT_EQ(fired, due);
      in_all += due.size();
    }
  }
  EXPECT_GT(in_all, 100U);
}

TEST(timer_wheel, agrees_with_a_sorted_list) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    against_a_sorted_list(seed);
    if (HasFailure()) return;
  }
}

TEST(timer_service, with_a_virtual_clock_time_moves_only_when_it_is_told_to) {
  timer_service service(4, true);
  const auto start = service.now();
  EXPECT_EQ(start.time_since_epoch(), 1h);
  service.advance_to(start + 1s);
  service.advance_to(start);  // not back
  EXPECT_EQ(service.now(), start + 1s);
}

}  // namespace
