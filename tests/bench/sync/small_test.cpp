// small_test.cpp: every case of suite sync gives a figure, at a thousandth of its size.
// SPDX-License-Identifier: MIT
//
// So that the suite cannot rot between two runs. It says nothing about speed.
#include <gtest/gtest.h>

#include "../small_laws.hpp"
#include "suite.hpp"

namespace {

using namespace tandem::bench;

TEST(sync_bench, every_case_gives_a_figure_at_a_thousandth_of_its_size) {
  set_share(1000);
  for (const bench_case& c : sync_cases()) expect_figures(c);
  set_share(1);
}

TEST(sync_bench, no_two_rows_have_the_same_name) { expect_different_names(sync_cases()); }

}  // namespace
