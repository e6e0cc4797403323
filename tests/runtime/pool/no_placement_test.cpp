// no_placement_test.cpp: CPUs cannot be chosen where the system has no masks of them.
// SPDX-License-Identifier: MIT
#include <tandem/thread_options.hpp>

#include <gtest/gtest.h>

#include <string>
#include <tandem/runtime.hpp>

#include "recording_runtime.hpp"
#include "runtime/pool/thread_support.hpp"
#include "runtime/support/submit_support.hpp"

namespace {

using tandem::cpu_placement;
using tandem::runtime_options;

TEST(thread_hooks, cpus_are_refused_where_the_system_has_none_to_choose) {
  for (const cpu_placement placement : {cpu_placement::one_each, cpu_placement::within}) {
    const std::string said = tandem::test::refused_options([placement](runtime_options& options) {
      options.threads.placement = placement;
      options.threads.cpus = {0};
    });
    EXPECT_NE(said.find("places no threads"), std::string::npos) << said;
  }
}

}  // namespace
