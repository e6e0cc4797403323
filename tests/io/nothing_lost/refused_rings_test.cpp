// refused_rings_test.cpp: every ring is refused once, in whatever a program does with the pool.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <system_error>

#include "io/nothing_lost/every_use.hpp"
#include "io/nothing_lost/refused_rings.hpp"
#include "io_uring_filter.hpp"

namespace {

using tandem::test::asker;
using tandem::test::every_use;
using tandem::test::refuse_in;

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
