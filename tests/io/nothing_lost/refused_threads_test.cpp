// refused_threads_test.cpp: every thread, and every ring, is refused once, in whatever a program does with the pool.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdlib>
#include <initializer_list>
#include <string>
#include <system_error>

#include "io/nothing_lost/refusal_cases.hpp"
#include "io/nothing_lost/refused_rings.hpp"
#include "io_uring_filter.hpp"
#include "refusals.hpp"

namespace {

using tandem::test::asker;

void refuse_in(tandem::test::refusals& what, void (*use)()) {
  use();
  const int descriptors = tandem::test::count_descriptors();
  tandem::test::for_each_refusal(what, asker::anyone(), [use] { use(); });
  EXPECT_EQ(tandem::test::count_descriptors(), descriptors);
}

constexpr std::initializer_list<void (*)()> every_use = {
    &tandem::test::start_and_end,   &tandem::test::run_tasks,
    &tandem::test::wait_for_timers, &tandem::test::exchange_bytes,
    &tandem::test::serve_clients,   &tandem::test::receive_and_take_incoming,
    &tandem::test::use_files,       &tandem::test::resize_and_go_on,
    &tandem::test::grow_by_itself,  &tandem::test::drive_a_library,
    &tandem::test::use_the_rest,    &tandem::test::end_with_open_connections,
};

TEST(refused_threads, whatever_needs_one_ends_and_leaves_nothing) {
  for (const auto use : every_use) refuse_in(tandem::test::new_threads, use);
}

/// How many rings the first use asks for.
unsigned long rings_asked_for() {
  const tandem::test::refused none(tandem::test::new_rings, 0, asker::anyone());
  tandem::test::start_and_end();
  return tandem::test::new_rings.seen();
}

// Where nobody chose a backend, a first ring that is refused brings Asio for all threads.
TEST(refused_rings, whatever_a_pool_without_one_does_ends_and_leaves_nothing) {
  for (const auto use : every_use) refuse_in(tandem::test::new_rings, use);
}

TEST(refused_rings, one_of_a_pool_that_insists_on_them_is_an_error) {
  const char* const chosen = std::getenv("TANDEM_IO_BACKEND");
  const std::string before = chosen != nullptr ? chosen : "automatic";
  if (before == "asio") GTEST_SKIP() << "there are none with Asio";
  if (tandem::test::does_without_io_uring()) GTEST_SKIP() << "the host refuses io_uring";
  ::setenv("TANDEM_IO_BACKEND", "uring", 1);
  EXPECT_EQ(rings_asked_for(), 2U);
  {
    const tandem::test::refused second(tandem::test::new_rings, 2, asker::anyone());
    EXPECT_THROW(tandem::test::start_and_end(), std::system_error);
  }
  for (const auto use : every_use) refuse_in(tandem::test::new_rings, use);
  ::setenv("TANDEM_IO_BACKEND", before.c_str(), 1);
}

}  // namespace
