// refused_memory_stress.cpp: whatever allocation is refused, somebody gets the error, and everything ends.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

#include "refusals.hpp"
#include "refused_runs.hpp"
#include "sanitized.hpp"

namespace {

using tandem::test::asker;
using tandem::test::for_each_refusal;
using tandem::test::refused;
using tandem::test::refused_run;

class refused_memory : public ::testing::TestWithParam<refused_run> {};

TEST_P(refused_memory, of_the_caller_is_an_error_that_somebody_gets) {
  for_each_refusal(tandem::test::allocations, asker::caller(), GetParam().body);
}

TEST_P(refused_memory, of_a_worker_is_an_error_that_somebody_gets) {
  for_each_refusal(tandem::test::allocations, asker::threads("w-"), GetParam().body);
}

TEST_P(refused_memory, of_the_monitor_is_an_error_that_somebody_gets) {
  for_each_refusal(tandem::test::allocations, asker::threads("tandem-monitor"), GetParam().body);
}

// What is made once in a process is made by a first runtime: so each runs in a process of its own.
TEST(refused_memory_at_first, is_an_error_that_the_maker_gets) {
  constexpr unsigned long most = 100;
  constexpr unsigned long step = tandem::test::sanitized ? 9 : 1;
  for (unsigned long nth = 1; nth <= most && !HasFailure(); nth += step) {
    EXPECT_EXIT(
        {
          const refused here(tandem::test::allocations, nth);
          try {
            tandem::test::start_and_end();
          } catch (const std::bad_alloc&) {}
          std::_Exit(0);
        },
        ::testing::ExitedWithCode(0), "")
        << "allocation " << nth;
  }
}

// The error for the one refusal is made while there is no memory either.
TEST(refused_memory_beside_a_thread, is_an_error_that_the_blocking_call_gets) {
  for_each_refusal(tandem::test::allocations, asker::threads("w-"), [] {
    const refused no_thread(tandem::test::new_threads, 1, asker::threads("w-"));
    tandem::runtime owner(tandem::test::small(1));
    (void)owner.spawn(tandem::test::call_blocking()).wait();
  });
}

tandem::task<void> fails(unsigned long refused_one) {
  const std::runtime_error failure("lost");
  tandem::test::allocations.arm(refused_one, asker::caller());
  throw failure;
  co_return;
}

// What the program says last is said whatever it got no memory for.
TEST(refused_memory_of_a_report, leaves_the_failure_that_nobody_took_named) {
  constexpr unsigned long most = 12;
  for (unsigned long nth = 1; nth <= most; ++nth) {
    EXPECT_DEATH(
        {
          tandem::runtime_options options = tandem::test::small(1);
          options.on_unhandled_exception = nullptr;
          tandem::runtime owner(options);
          owner.spawn(fails(nth)).detach();
          owner.drain(std::chrono::seconds(10));
        },
        "a detached task failed and nobody took its exception: lost\n"
        "  spawned at .*refused_memory_stress.cpp")
        << "allocation " << nth;
  }
}

INSTANTIATE_TEST_SUITE_P(of, refused_memory, ::testing::ValuesIn(tandem::test::refused_runs),
                         [](const auto& each) { return std::string(each.param.name); });

}  // namespace
