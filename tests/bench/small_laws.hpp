// small_laws.hpp: what the cases of every suite have to keep, for its small_test.cpp.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "bench.hpp"

namespace tandem::bench {

/// On each number of threads that the case names, else on one and on two. pre: the share of its
/// size is set
///
/// @param least  what a figure is never below
inline void expect_figures(const bench_case& c, double least = 0) {
  for (const int threads : c.threads.empty() ? std::vector<int>{1, 2} : c.threads) {
    SCOPED_TRACE(c.name + " " + c.impl + " on " + std::to_string(threads));
    double figure = -1;
    ASSERT_NO_THROW(figure = c.sample(threads));
    EXPECT_TRUE(std::isfinite(figure));
    EXPECT_GE(figure, least);
  }
}

inline void expect_different_names(const std::vector<bench_case>& cases) {
  std::set<std::string> names;
  for (const bench_case& c : cases) {
    EXPECT_TRUE(names.insert(c.name + " " + c.impl).second) << c.name << " " << c.impl;
  }
}

}  // namespace tandem::bench
