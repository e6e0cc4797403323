// refused_threads_test.cpp: every thread is refused once, in whatever a program does with the pool.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "io/nothing_lost/every_use.hpp"

namespace {

TEST(refused_threads, whatever_needs_one_ends_and_leaves_nothing) {
  for (const auto use : tandem::test::every_use)
    tandem::test::refuse_in(tandem::test::new_threads, use);
}

}  // namespace
