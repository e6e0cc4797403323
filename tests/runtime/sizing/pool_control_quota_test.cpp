// pool_control_quota_test.cpp: the control of a pool, and a quota of CPUs that changes.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "made_control_group.hpp"
#include "runtime/sizing/controlled.hpp"
#include "runtime/support/adaptive_pool_support.hpp"

namespace {

using tandem::test::controlled;
using tandem::test::quick;
using tandem::test::wait_until;

TEST(pool_control, a_pool_that_could_not_follow_the_machine_is_told_again_until_it_has) {
  if (!tandem::test::has_several_cpus()) GTEST_SKIP() << "one CPU only";
  tandem::test::made_control_group group("100000 100000");
  controlled of(quick(2, 10));
  of.pool.refuses_to_follow = 2;
  of.wake_workers(1);
  group.set("max 100000");
  wait_until([&] { return of.pool.followed == 3; });
  of.crew.word.lie_down(false);
}

}  // namespace
