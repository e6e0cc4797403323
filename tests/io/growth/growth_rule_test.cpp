// growth_rule_test.cpp: when a completion pool gets a thread more, and when it has one less.
// SPDX-License-Identifier: MIT
#include "growth/growth_rule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tandem::decision_reason;
using tandem::io::completion_growth;
using tandem::io::growth_reading;
using tandem::io::growth_rule;
using tandem::io::growth_step;

const growth_step nothing;
const growth_step for_saturation(1, decision_reason::saturated);
const growth_step for_a_stall(1, decision_reason::stalled);
const growth_step retirement(-1, decision_reason::idle);

/// A pool that does what the rule says, and a clock that only moves here.
class simulated_pool {
 public:
  simulated_pool(unsigned least, unsigned most, completion_growth with = completion_growth())
      : options(with), threads(least), rule_(options, least, most, now_) {}

  /// A period of this load, spread evenly.
  growth_step period(double load) {
    growth_reading reading = next(std::min<double>(load, threads));
    reading.least_share = reading.load / threads;
    return take(reading);
  }
  growth_step stalled_period(unsigned stalled) {
    growth_reading reading = next(stalled);
    reading.stalled = stalled;
    return take(reading);
  }
  growth_reading next(double load) {
    now_ += options.period;
    growth_reading reading(now_, threads);
    reading.load = load;
    return reading;
  }
  growth_step take(const growth_reading& reading) {
    const growth_step step = rule_.decide(reading);
    threads = static_cast<unsigned>(static_cast<int>(threads) + step.change);
    return step;
  }
  std::vector<growth_step> periods(unsigned count, double load) {
    std::vector<growth_step> steps;
    for (unsigned i = 0; i < count; ++i) steps.push_back(period(load));
    return steps;
  }
  /// Periods of that load until it retires one; the one in which it does included.
  unsigned periods_until_retirement(double load) {
    unsigned count = 1;
    while (period(load) != retirement) ++count;
    return count;
  }
  /// One of many that live on the threads.
  void connection() {
    if (rule_.add_for_connection(next(0), 100)) ++threads;
  }
  void pause(std::chrono::nanoseconds time) { now_ += time; }
  std::chrono::nanoseconds until_retirement() const { return rule_.next_retirement() - now_; }
  bool may_retire() const {
    return rule_.next_retirement() != growth_rule::clock::time_point::max();
  }

  const completion_growth options;
  unsigned threads;

 private:
  growth_rule::clock::time_point now_{1000s};
  growth_rule rule_;
};

/// Half a minute of the defaults takes 300 periods; this makes it 20.
completion_growth quick() {
  completion_growth options;
  options.keep_alive = 2s;
  options.load_smoothing = 1;  // what was before a period does not count
  return options;
}

TEST(growth_rule, a_thread_comes_when_all_were_saturated_for_some_periods) {
  simulated_pool pool(1, 8);
  EXPECT_EQ(pool.periods(5, 1.0),
            (std::vector<growth_step>{nothing, nothing, nothing, nothing, for_saturation}));
}

TEST(growth_rule, the_next_thread_takes_as_many_periods_again) {
  simulated_pool pool(1, 8);
  (void)pool.periods(5, 8.0);
  EXPECT_EQ(pool.periods(5, 8.0),
            (std::vector<growth_step>{nothing, nothing, nothing, nothing, for_saturation}));
  EXPECT_EQ(pool.threads, 3U);
}

TEST(growth_rule, a_period_with_time_left_begins_the_count_anew) {
  simulated_pool pool(1, 8);
  (void)pool.periods(4, 1.0);
  EXPECT_EQ(pool.period(0.8), nothing);
  EXPECT_EQ(pool.periods(5, 1.0),
            (std::vector<growth_step>{nothing, nothing, nothing, nothing, for_saturation}));
}

TEST(growth_rule, one_thread_with_time_left_is_enough_to_stay) {
  simulated_pool pool(4, 8);
  for (int i = 0; i < 100; ++i) {
    growth_reading reading = pool.next(3.5);
    reading.least_share = 0.5;
    EXPECT_EQ(pool.take(reading), nothing);
  }
}

TEST(growth_rule, a_stall_brings_one_thread_at_once_and_no_second_one_while_it_lasts) {
  simulated_pool pool(2, 8);
  EXPECT_EQ(pool.stalled_period(1), for_a_stall);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(pool.stalled_period(1), nothing);
  EXPECT_EQ(pool.threads, 3U);
}

TEST(growth_rule, each_further_stall_brings_one_more) {
  simulated_pool pool(2, 8);
  EXPECT_EQ(pool.stalled_period(2), for_a_stall);
  EXPECT_EQ(pool.stalled_period(2), for_a_stall);
  EXPECT_EQ(pool.stalled_period(2), nothing);
  EXPECT_EQ(pool.stalled_period(3), for_a_stall);
  EXPECT_EQ(pool.stalled_period(0), nothing);
  EXPECT_EQ(pool.stalled_period(1), for_a_stall);  // those before have ended
}

TEST(growth_rule, whatever_happens_there_are_never_more_than_max_or_fewer_than_min) {
  simulated_pool pool(2, 5, quick());
  std::mt19937 random(7);
  bool was_at_most = false;
  bool was_at_least = false;
  double load = 0;
  for (int i = 0; i < 50'000; ++i) {
    if (i % 100 == 0) load = static_cast<double>(random() % 9);
    growth_reading reading = pool.next(std::min<double>(load, pool.threads));
    reading.least_share = reading.load / pool.threads;
    reading.stalled = load > 6 ? static_cast<unsigned>(random() % (pool.threads + 1)) : 0;
    (void)pool.take(reading);
    ASSERT_GE(pool.threads, 2U);
    ASSERT_LE(pool.threads, 5U);
    was_at_least = was_at_least || (i > 1000 && pool.threads == 2);
    was_at_most = was_at_most || pool.threads == 5;
  }
  EXPECT_TRUE(was_at_least);
  EXPECT_TRUE(was_at_most);
}

TEST(growth_rule, a_thread_that_cannot_be_had_is_asked_for_as_soon_as_it_can) {
  simulated_pool pool(1, 2);
  for (int i = 0; i < 20; ++i) {
    growth_reading reading = pool.next(1);
    reading.least_share = 1;
    reading.may_grow = false;
    EXPECT_EQ(pool.take(reading), nothing);
  }
  EXPECT_EQ(pool.period(1.0), for_saturation);
}

TEST(growth_rule, the_last_thread_retires_when_the_load_has_fitted_on_fewer_for_keep_alive) {
  simulated_pool pool(1, 2, quick());
  (void)pool.periods(5, 1.0);
  EXPECT_EQ(pool.periods_until_retirement(0.4), 20U);
  EXPECT_EQ(pool.threads, 1U);
}

TEST(growth_rule, a_load_that_fits_on_no_fewer_keeps_all) {
  simulated_pool pool(1, 2, quick());
  (void)pool.periods(5, 1.0);
  for (const growth_step& each : pool.periods(1000, 0.6)) EXPECT_EQ(each, nothing);
}

TEST(growth_rule, a_load_that_comes_back_for_a_while_begins_the_wait_anew) {
  simulated_pool pool(1, 2, quick());
  (void)pool.periods(5, 1.0);
  (void)pool.periods(19, 0.1);
  (void)pool.period(0.6);
  EXPECT_EQ(pool.periods_until_retirement(0.1), 20U);
}

TEST(growth_rule, all_that_nobody_has_needed_for_as_long_go_one_a_period) {
  simulated_pool pool(1, 4, quick());
  (void)pool.periods(15, 4.0);
  EXPECT_EQ(pool.threads, 4U);
  EXPECT_EQ(pool.periods_until_retirement(0.1), 20U);
  EXPECT_EQ(pool.periods(3, 0.1), (std::vector<growth_step>{retirement, retirement, nothing}));
}

TEST(growth_rule, a_backlog_or_a_stall_keeps_all) {
  for (const bool stalls : {false, true}) {
    simulated_pool pool(1, 2, quick());
    (void)pool.periods(5, 1.0);
    for (int i = 0; i < 1000; ++i) {
      growth_reading reading = pool.next(0);
      reading.backlog = stalls ? 0 : 3;
      reading.stalled = stalls ? 1 : 0;
      EXPECT_EQ(pool.take(reading), nothing);
    }
    EXPECT_EQ(pool.periods_until_retirement(0), 20U);
  }
}

TEST(growth_rule, a_load_is_averaged_so_that_a_short_burst_is_no_reason_to_stay) {
  completion_growth options = quick();
  options.load_smoothing = 0.1;
  simulated_pool pool(1, 2, options);
  (void)pool.periods(5, 1.0);
  unsigned count = 0;
  // One busy period in ten.
  while (pool.threads == 2) (void)pool.period(count++ % 10 == 0 ? 2.0 : 0.0);
  EXPECT_LT(count, 60U);
}

TEST(growth_rule, nothing_is_due_at_the_lowest_number) {
  simulated_pool pool(2, 4, quick());
  EXPECT_FALSE(pool.may_retire());
  (void)pool.periods(5, 2.0);
  EXPECT_TRUE(pool.may_retire());
  (void)pool.periods_until_retirement(0);
  EXPECT_FALSE(pool.may_retire());
}

TEST(growth_rule, a_long_pause_counts_as_a_time_without_load) {
  completion_growth options = quick();
  options.load_smoothing = 0.1;
  simulated_pool pool(1, 2, options);
  (void)pool.periods(40, 2.0);  // then nobody looks
  EXPECT_GT(pool.until_retirement(), 0ns);
  pool.pause(pool.until_retirement());
  EXPECT_EQ(pool.period(0), retirement);
}

TEST(growth_rule, a_thread_that_is_needed_again_soon_doubles_the_wait_up_to_its_limit) {
  completion_growth options = quick();
  options.max_back_off = 4;
  simulated_pool pool(1, 2, options);
  std::vector<unsigned> waited;
  for (int i = 0; i < 5; ++i) {
    (void)pool.periods(5, 1.0);
    waited.push_back(pool.periods_until_retirement(0));
  }
  EXPECT_EQ(waited, (std::vector<unsigned>{20, 40, 80, 80, 80}));
  (void)pool.periods(200, 0.0);  // it was not needed: the next time it goes as soon as at first
  (void)pool.periods(5, 1.0);
  EXPECT_EQ(pool.periods_until_retirement(0), 20U);
}

TEST(growth_rule, who_changes_the_number_from_outside_makes_it_begin_anew) {
  simulated_pool pool(1, 8, quick());
  (void)pool.periods(4, 1.0);
  pool.threads = 3;
  EXPECT_EQ(pool.period(3.0), nothing);
  EXPECT_EQ(pool.periods_until_retirement(0), 20U);
}

/// What twenty looks at each of the threads find of it.
growth_reading looked_at(simulated_pool& pool, double load, std::mt19937& random) {
  growth_reading reading = pool.next(0);
  const double share = std::min(1.0, load / pool.threads);
  reading.least_share = 1;
  for (unsigned i = 0; i < pool.threads; ++i) {
    std::binomial_distribution<unsigned> busy(pool.options.looks, share);
    const double seen = static_cast<double>(busy(random)) / pool.options.looks;
    reading.load += seen;
    reading.least_share = std::min(reading.least_share, seen);
  }
  return reading;
}

TEST(growth_rule, a_constant_load_is_answered_in_one_direction_and_then_not_any_more) {
  for (const unsigned first : {1U, 8U}) {
    for (int tenths = 0; tenths < 90; ++tenths) {
      std::mt19937 random(static_cast<unsigned>(tenths) + first);
      simulated_pool pool(1, 8);
      pool.threads = first;
      unsigned up = 0;
      unsigned down = 0;
      for (int i = 0; i < 2'000; ++i) {
        const growth_step step = pool.take(looked_at(pool, tenths * 0.1, random));
        if (step.change > 0) ++up;
        if (step.change < 0) ++down;
      }
      EXPECT_TRUE(up == 0 || down == 0) << "load " << tenths * 0.1 << " from " << first;
      // As many as it takes, and no more than twice that.
      EXPECT_GE(pool.threads, std::min(8.0, tenths * 0.1 / 0.95)) << "load " << tenths * 0.1;
      EXPECT_LE(pool.threads, 2 + tenths * 0.1 * 2) << "load " << tenths * 0.1;
    }
  }
}

TEST(growth_rule, connections_that_bring_back_what_has_just_gone_make_it_wait_longer_all_together) {
  completion_growth options;
  options.keep_alive = 2s;
  simulated_pool pool(1, 4, options);
  std::vector<unsigned> waits;
  for (int round = 0; round < 5; ++round) {
    while (pool.threads < 4) pool.connection();
    unsigned periods = 0;
    for (; pool.threads == 4; ++periods) pool.period(0);
    waits.push_back(periods);
    while (pool.threads > 1) pool.period(0);
  }
  // The first one is no regret yet.
  for (std::size_t i = 2; i < waits.size(); ++i) EXPECT_GE(waits[i], waits[i - 1] * 3 / 2) << i;
}

}  // namespace
