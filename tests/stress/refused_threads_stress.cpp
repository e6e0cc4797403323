// refused_threads_stress.cpp: whatever thread is refused, somebody gets the error, and everything ends.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>

#include "refusals.hpp"
#include "refused_runs.hpp"

namespace {

using tandem::test::asker;
using tandem::test::for_each_refusal;
using tandem::test::refused_run;

class refused_threads : public ::testing::TestWithParam<refused_run> {};

TEST_P(refused_threads, are_an_error_that_somebody_gets) {
  for_each_refusal(tandem::test::new_threads, asker::anyone(), GetParam().body);
}

INSTANTIATE_TEST_SUITE_P(of, refused_threads, ::testing::ValuesIn(tandem::test::refused_runs),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
