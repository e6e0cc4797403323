// small_test.cpp: every case of suite search gives a figure, and the right answer.
// SPDX-License-Identifier: MIT
//
// So that the suite cannot rot between two runs. It says nothing about speed.
#include <gtest/gtest.h>
#include <cmath>
#include <set>

#include "suite.hpp"

namespace {

using namespace tandem::bench;

TEST(search_bench, every_case_gives_a_figure_from_one_search) {
  set_share(1'000'000'000);
  for (const bench_case& c : search_cases()) {
    if (c.extra) continue;
    for (const int threads : c.threads.empty() ? std::vector<int>{1, 2} : c.threads) {
      SCOPED_TRACE(c.name + " " + c.impl + " on " + std::to_string(threads));
      double figure = 0;
      ASSERT_NO_THROW(figure = c.sample(threads));
      EXPECT_TRUE(std::isfinite(figure));
      EXPECT_GT(figure, 0);
    }
  }
}

TEST(search_bench, no_two_rows_have_the_same_name) {
  std::set<std::string> names;
  for (const bench_case& c : search_cases()) {
    EXPECT_TRUE(names.insert(c.name + " " + c.impl).second) << c.name << " " << c.impl;
  }
}

}  // namespace
