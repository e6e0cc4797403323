// small_test.cpp: every case of suite search gives a figure, and the right answer.
// SPDX-License-Identifier: MIT
//
// So that the suite cannot rot between two runs. It says nothing about speed.
#include <gtest/gtest.h>

#include <limits>

#include "../small_laws.hpp"
#include "suite.hpp"

namespace {

using namespace tandem::bench;

TEST(search_bench, every_case_gives_a_figure_from_one_search) {
  set_share(1'000'000'000);
  for (const bench_case& c : search_cases()) {
    if (!c.extra) expect_figures(c, std::numeric_limits<double>::min());  // never nothing
  }
}

TEST(search_bench, no_two_rows_have_the_same_name) { expect_different_names(search_cases()); }

}  // namespace
