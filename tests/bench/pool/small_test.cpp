// small_test.cpp: every case of suite pool gives a figure, at a small part of its size.
// SPDX-License-Identifier: MIT
//
// So that the suite cannot rot between two runs. It says nothing about speed.
#include <gtest/gtest.h>

#include "../small_laws.hpp"
#include "suite.hpp"

namespace {

using namespace tandem::bench;
using namespace tandem::bench::pool;

TEST(pool_bench, every_case_gives_a_figure_at_a_small_part_of_its_size) {
  set_share(50);
  for (const bench_case& c : pool_cases()) expect_figures(c);
  set_share(1);
}

TEST(pool_bench, no_two_rows_have_the_same_name) { expect_different_names(pool_cases()); }

}  // namespace
