// small_test.cpp: every case of suite pool gives a figure, at a small part of its size.
// SPDX-License-Identifier: MIT
//
// So that the suite cannot rot between two runs. It says nothing about speed.
#include <gtest/gtest.h>
#include <cmath>
#include <set>

#include "suite.hpp"

namespace {

using namespace tandem::bench;
using namespace tandem::bench::pool;

TEST(pool_bench, every_case_gives_a_figure_at_a_small_part_of_its_size) {
  set_share(50);
  for (const bench_case& c : pool_cases()) {
    for (const int threads : c.threads.empty() ? std::vector<int>{1, 2} : c.threads) {
      SCOPED_TRACE(c.name + " " + c.impl + " on " + std::to_string(threads));
      double figure = -1;
      ASSERT_NO_THROW(figure = c.sample(threads));
      EXPECT_TRUE(std::isfinite(figure));
      EXPECT_GE(figure, 0);
    }
  }
  set_share(1);
}

TEST(pool_bench, no_two_rows_have_the_same_name) {
  std::set<std::string> names;
  for (const bench_case& c : pool_cases()) {
    EXPECT_TRUE(names.insert(c.name + " " + c.impl).second) << c.name << " " << c.impl;
  }
}

}  // namespace
