// pool_simulator_test.cpp: the simulated machine obeys the laws of queueing.
// SPDX-License-Identifier: MIT
#include "pool_simulator.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace {

using tandem::test::pool_simulator;
using tandem::test::simulated_load;
using tandem::test::simulated_machine;

/// A pool that cannot change its size.
pool_simulator fixed(const simulated_load& load, unsigned workers) {
  return pool_simulator(load, workers, workers);
}

TEST(simulated_machine, computing_workers_share_the_cpus_equally) {
  simulated_machine machine(2, 1);
  machine.compute(0, 1);
  machine.compute(1, 2);
  machine.compute(2, 4);
  machine.compute(3, 4);
  unsigned worker = 99;
  ASSERT_EQ(machine.next(100, worker), simulated_machine::event::computed);
  EXPECT_EQ(worker, 0U);
  EXPECT_DOUBLE_EQ(machine.now(), 2);  // four on two CPUs
  ASSERT_EQ(machine.next(100, worker), simulated_machine::event::computed);
  EXPECT_EQ(worker, 1U);
  EXPECT_DOUBLE_EQ(machine.now(), 3.5);  // three on two
  ASSERT_EQ(machine.next(100, worker), simulated_machine::event::computed);
  EXPECT_DOUBLE_EQ(machine.now(), 5.5);  // a CPU each
  EXPECT_DOUBLE_EQ(machine.busy_seconds(), 11);
}

TEST(simulated_machine, waiting_takes_its_time_whoever_computes) {
  simulated_machine machine(1, 1);
  machine.wait(7, 3);
  for (unsigned worker = 0; worker < 5; ++worker) machine.compute(worker, 1);
  unsigned worker = 99;
  ASSERT_EQ(machine.next(1, worker), simulated_machine::event::nothing);
  EXPECT_DOUBLE_EQ(machine.now(), 1);
  ASSERT_EQ(machine.next(100, worker), simulated_machine::event::waited);
  EXPECT_EQ(worker, 7U);
  EXPECT_DOUBLE_EQ(machine.now(), 3);
}

TEST(simulated_machine, noise_has_the_mean_and_the_deviation_that_were_asked_for) {
  simulated_machine machine(1, 5);
  double sum = 0;
  double squares = 0;
  for (int draw = 0; draw < 100'000; ++draw) {
    const double value = machine.noisy(2, 0.1);
    sum += value;
    squares += (value - 2) * (value - 2);
  }
  EXPECT_NEAR(sum / 100'000, 2, 0.01);
  EXPECT_NEAR(squares / 100'000, 0.04, 0.002);
}

TEST(pool_simulator, few_workers_complete_what_they_can_and_many_what_the_cpus_can) {
  const simulated_load load(4, 0.010, 0.090);
  for (const unsigned workers : {1U, 5U, 10U, 80U, 200U}) {
    pool_simulator pool = fixed(load, workers);
    pool.run_until(100);
    const double expected = 100 * std::min(workers / 0.100, 4 / 0.010);
    EXPECT_NEAR(static_cast<double>(pool.completions()), expected, 0.03 * expected) << workers;
    EXPECT_EQ(pool.processing(), workers);
  }
}

TEST(pool_simulator, as_many_workers_run_as_littles_law_says) {
  simulated_load load(4, 0.010, 0.190);
  load.arrival_share = 0.5;
  pool_simulator pool = fixed(load, 300);
  pool.run_until(200);
  EXPECT_NEAR(pool.mean_running(), load.ideal_workers(), 0.05 * load.ideal_workers());
  EXPECT_NEAR(static_cast<double>(pool.completions()), 200 * 0.5 * 4 / 0.010, 1500);
  EXPECT_LT(pool.most_processing(), 100U) << "one per item, never before";
}

}  // namespace
