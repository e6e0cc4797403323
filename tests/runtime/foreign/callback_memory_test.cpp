// callback_memory_test.cpp: awaiting a callback allocates nothing.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <tandem/from_callback.hpp>

#include "runtime/support/sync_support.hpp"
#include "sanitized.hpp"
#include "test_runtime.hpp"

TANDEM_TEST_COUNT_NEW

namespace {

TEST(from_callback, nothing_is_allocated) {
#if TANDEM_TEST_SANITIZED
  GTEST_SKIP() << "a sanitizer has allocations of its own";
#endif
  tandem::test::test_runtime rt(tandem::test::with_threads(1));  // they are counted by thread
  const auto count = []() -> tandem::task<long> {
    const auto some = [](int times) -> tandem::task<void> {
      for (int i = 0; i < times; ++i) {
        const int got = co_await tandem::from_callback<void(int)>([i](auto done) {
          const auto copy = done;
          copy(i);
        });
        EXPECT_EQ(got, i);
      }
    };
    co_await some(10);  // the slots' first block, and the frame
    const long before = tandem::test::news();
    co_await some(1000);
    co_return tandem::test::news() - before;
  };
  EXPECT_EQ(rt.run(count()), 0);
}

}  // namespace
