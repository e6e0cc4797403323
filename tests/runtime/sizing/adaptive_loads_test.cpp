// adaptive_loads_test.cpp: where the controller settles, on simulated machines and loads.
// SPDX-License-Identifier: MIT
//
// Seeded and on simulated time: the same on every machine, however slow. What is simulated:
// pool_simulator.hpp. The ideal number of workers, N*, is that of the load alone.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "pool_simulator.hpp"

namespace {

using tandem::decision_reason;
using tandem::test::pool_simulator;
using tandem::test::simulated_load;
using tandem::test::simulated_record;

constexpr unsigned no_limit = 1024;

unsigned usual_min(const simulated_load& load) { return std::max(2U, load.cpus); }

/// Draws loads from the whole box: C log-uniform 0.1..50 ms, W 0..500 ms, 1..64 CPUs.
class load_source {
 public:
  explicit load_source(std::uint64_t seed) : random_(seed), seed_(seed * 100'000) {}

  simulated_load next() {
    const auto cpus = static_cast<unsigned>(1 + uniform() * 64);
    const double compute = 1e-4 * std::pow(500, uniform());
    simulated_load load(cpus, compute, 0.5 * uniform());
    load.seed = ++seed_;
    return load;
  }
  /// As above, those with at most 32 ideal workers.
  simulated_load next_small(double arrival_share) {
    for (;;) {
      simulated_load load = next();
      load.arrival_share = arrival_share;
      if (load.ideal_workers() <= 32) return load;
    }
  }

 private:
  // Not a distribution of the library: the same draws everywhere.
  double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

  std::mt19937_64 random_;
  std::uint64_t seed_;
};

/// How a pool behaved after it had time to settle.
class settled {
 public:
  /// Where items arrive, the workers that run are counted: a goal that is higher than they need
  /// does no harm, and nothing but idleness speaks for a lower one. Saturated, the two are the
  /// same.
  explicit settled(const simulated_load& load) {
    const double ideal = load.ideal_workers();
    pool_simulator pool(load, usual_min(load), no_limit);
    double end = std::max(60.0, 3 * ideal);
    pool.run_until(end);
    if (load.arrival_share > 0) {
      // What came while the workers were too few has to be worked off first, with every CPU.
      while (pool.queued() > 0 && end < 3600) pool.run_until(end += 1);
      in_time = end < 3600;
    }
    const std::size_t from = pool.records().size();
    while (pool.records().size() < from + 32) pool.run_until(end += 1);
    double sum = 0;
    double goals = 0;
    for (std::size_t index = from; index < from + 32; ++index) {  // eight whole waves
      const simulated_record& record = pool.records()[index];
      const double workers = load.arrival_share > 0 ? record.running : record.goal;
      sum += workers;
      goals += record.goal;
      if (workers >= 0.8 * ideal && workers <= 1.4 * ideal + 3) ++samples_inside;
    }
    in_band = in_time && sum / 32 >= 0.8 * ideal && sum / 32 <= 1.2 * ideal + 3;
    const double full = ideal / (load.arrival_share > 0 ? load.arrival_share : 1);
    goal_in_band = goals / 32 >= 0.8 * ideal && goals / 32 <= 1.2 * full + 3;
  }

  bool in_time = true;
  bool in_band = false;
  /// Between what the load needs and what would fill the CPUs.
  bool goal_in_band = false;
  unsigned samples_inside = 0;
};

/// A hundred loads for each seed, of at most 32 ideal workers.
void expect_most_settle(double arrival_share, unsigned first_seed, unsigned last_seed) {
  unsigned loads = 0;
  unsigned in_band = 0;
  unsigned goals_in_band = 0;
  unsigned steady = 0;
  unsigned samples = 0;
  for (unsigned seed = first_seed; seed <= last_seed; ++seed) {
    load_source source(seed);
    for (int count = 0; count < 100; ++count) {
      const settled result(source.next_small(arrival_share));
      ++loads;
      in_band += result.in_band ? 1 : 0;
      goals_in_band += result.goal_in_band ? 1 : 0;
      steady += result.samples_inside * 10 >= 9 * 32 ? 1 : 0;
      samples += result.samples_inside;
    }
  }
  EXPECT_GE(in_band * 100, loads * 95) << "the mean of whole waves, in [0.8 N*, 1.2 N* + 3]";
  EXPECT_GE(goals_in_band * 100, loads * 95) << "the mean goal, up to what fills the CPUs";
  EXPECT_GE(samples * 100, loads * 32 * 90) << "samples in [0.8 N*, 1.4 N* + 3]";
  EXPECT_GE(steady * 100, loads * 90) << "loads of whose samples 90 % are inside";
}

TEST(adaptive_pool, of_500_saturated_loads_95_percent_settle_within_the_band) {
  expect_most_settle(0, 1, 5);
}

class arriving_loads : public ::testing::TestWithParam<unsigned> {};

TEST_P(arriving_loads, of_100_that_arrive_at_70_percent_95_settle_within_the_band) {
  expect_most_settle(0.7, GetParam(), GetParam());
}
INSTANTIATE_TEST_SUITE_P(seed, arriving_loads, ::testing::Range(1U, 6U));

/// The mean goal of every two whole waves of a pool, from the climb's first sample on.
std::vector<double> wave_means(const pool_simulator& pool) {
  std::vector<double> means;
  const std::vector<simulated_record>& records = pool.records();
  for (std::size_t wave = 8; wave + 8 <= records.size(); wave += 8) {
    double sum = 0;
    for (std::size_t index = wave; index < wave + 8; ++index) sum += records[index].goal;
    means.push_back(sum / 8);
  }
  return means;
}

TEST(adaptive_pool, towards_a_large_ideal_number_the_goal_rises_monotonously) {
  constexpr unsigned max = 256;
  load_source loads(7);
  for (int count = 0; count < 20;) {
    const simulated_load load = loads.next();
    const double ideal = std::min(load.ideal_workers(), double{max});
    // Above 3,000 items a second the simulation would take its time; it would show nothing new.
    if (ideal <= 32 || ideal / (load.compute_seconds + load.wait_seconds) > 3000) continue;
    ++count;
    SCOPED_TRACE(::testing::Message() << "cpus " << load.cpus << " compute " << load.compute_seconds
                                      << " wait " << load.wait_seconds << " seed " << load.seed);
    pool_simulator pool(load, usual_min(load), max);
    std::vector<double> means;
    while ((means.empty() || means.back() < 0.8 * ideal) && pool.now() < 3 * ideal) {
      pool.run_until(pool.now() + 5);
      means = wave_means(pool);
    }
    ASSERT_FALSE(means.empty());
    EXPECT_GE(means.back(), 0.8 * ideal) << "not there after " << pool.now() << " s";
    // A wave may end a little lower than the one before: its height follows the noise.
    for (std::size_t wave = 1; wave < means.size(); ++wave) {
      EXPECT_GE(means[wave], 0.95 * means[wave - 1] - 1) << "wave " << wave;
    }
  }
}

TEST(adaptive_pool, items_that_only_compute_get_no_worker_above_min) {
  for (const unsigned cpus : {1U, 2U, 4U, 16U, 64U}) {
    for (const double compute : {0.0005, 0.005, 0.05, 0.4}) {
      if (cpus / compute > 20'000) continue;
      pool_simulator pool(simulated_load(cpus, compute, 0), std::max(2U, cpus), no_limit);
      pool.run_until(60);
      EXPECT_EQ(pool.most_processing(), std::max(2U, cpus)) << cpus << " cpus, " << compute << " s";
      EXPECT_GT(pool.completions(), 0.9 * 60 * cpus / compute);
    }
  }
}

TEST(adaptive_pool, long_computations_get_at_most_one_worker_per_goal_times_a_second) {
  const simulated_load load(2, 30, 0);
  pool_simulator pool(load, 2, no_limit);
  pool.run_until(100);
  double last = 0;
  unsigned added = 0;
  for (const simulated_record& record : pool.records()) {
    if (record.reason != decision_reason::starvation) continue;
    EXPECT_EQ(record.goal, record.old_goal + 1);
    EXPECT_GE(record.time - last, record.old_goal);
    last = record.time;
    ++added;
  }
  EXPECT_GE(added, 3U);
}

TEST(adaptive_pool,
     blocking_items_are_first_climbed_for_with_the_ninth_sample_after_some_6_seconds) {
  pool_simulator pool(simulated_load(2, 0.0001, 0.2), 2, no_limit);
  pool.run_until(30);
  std::size_t sample = 0;
  while (pool.records().at(sample).reason != decision_reason::climb) ++sample;
  EXPECT_EQ(sample, 8U);
  EXPECT_GT(pool.records().at(sample).time, 4);
  EXPECT_LT(pool.records().at(sample).time, 9);
  pool.run_until(90);
  EXPECT_GT(pool.goal(), 30U);
}

TEST(adaptive_pool, while_nothing_ends_a_worker_comes_each_half_second_up_to_the_maximum) {
  pool_simulator pool(simulated_load(2, 0.0001, 3600), 2, 40);
  pool.run_until(60);
  std::vector<double> distances;
  double last = 0.5;  // the first round finds work that was dequeued at the start
  for (const simulated_record& record : pool.records()) {
    ASSERT_EQ(record.reason, decision_reason::starvation);
    distances.push_back(record.time - last);
    last = record.time;
  }
  EXPECT_EQ(distances.size(), 38U);
  for (std::size_t index = 1; index < distances.size(); ++index)
    EXPECT_NEAR(distances[index], 0.5, 1e-9);
  EXPECT_EQ(pool.processing(), 40U);
}

TEST(adaptive_pool, workers_that_all_wait_for_queued_items_get_help_at_any_depth_up_to_max) {
  for (const unsigned depth : {2U, 3U, 8U, 50U}) {
    simulated_load load(2, 0.001, 0);
    load.burst = depth;
    load.nested = true;
    pool_simulator pool(load, 2, 50);
    pool.run_until(3600);
    EXPECT_EQ(pool.completions(), depth);
    EXPECT_LE(pool.now(), 0.5 * depth + 1);
    EXPECT_EQ(pool.most_processing(), std::max(2U, depth));
  }
}

TEST(adaptive_pool, beyond_the_maximum_no_worker_comes_whatever_waits) {
  simulated_load load(2, 0.001, 0);
  load.burst = 9;
  load.nested = true;
  pool_simulator pool(load, 2, 8);
  pool.run_until(100);
  EXPECT_EQ(pool.completions(), 0U);
  EXPECT_EQ(pool.most_processing(), 8U);
}

TEST(adaptive_pool, a_burst_of_10000_blocking_items_is_worked_off_without_too_many_workers) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    simulated_load load(2, 0.010, 0.100);  // N* = 22
    load.burst = 10'000;
    load.seed = seed;
    pool_simulator pool(load, 2, no_limit);
    pool.run_until(3600);
    EXPECT_EQ(pool.completions(), 10'000U);
    EXPECT_LE(pool.most_processing(), 1.4 * 22 + 3);
    // 50 s of two CPUs; the climb to 22 workers takes its time first.
    EXPECT_LE(pool.now(), 75);
    for (const simulated_record& record : pool.records()) {
      ASSERT_NE(record.reason, decision_reason::starvation) << "items ended all the time";
    }
  }
}

TEST(adaptive_pool, it_completes_at_least_90_percent_of_what_the_best_fixed_pool_does) {
  const simulated_load load(2, 0.010, 0.100);  // N* = 22
  const auto completed_in_a_minute = [&](unsigned min, unsigned max) {
    pool_simulator pool(load, min, max);
    pool.run_until(60);
    const std::uint64_t before = pool.completions();
    pool.run_until(120);
    return pool.completions() - before;
  };
  std::uint64_t best = 0;
  for (const unsigned size : {2U, 8U, 16U, 22U, 32U, 64U}) {
    best = std::max(best, completed_in_a_minute(size, size));
  }
  const std::uint64_t adaptive = completed_in_a_minute(2, no_limit);
  EXPECT_GE(10 * adaptive, 9 * best) << adaptive << " and " << best;
}

TEST(adaptive_pool, the_same_seed_takes_the_same_decisions) {
  const auto goals = [](std::uint64_t seed) {
    simulated_load load(2, 0.010, 0.100);
    load.seed = seed;
    pool_simulator pool(load, 2, no_limit);
    pool.run_until(30);
    std::vector<unsigned> result;
    for (const simulated_record& record : pool.records()) result.push_back(record.goal);
    return result;
  };
  EXPECT_EQ(goals(3), goals(3));
  EXPECT_NE(goals(3), goals(4));
}

}  // namespace
