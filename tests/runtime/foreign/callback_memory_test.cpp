// callback_memory_test.cpp: neither awaiting a callback nor a call that brings a value allocates anything.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <tandem/callback_stream.hpp>
#include <tandem/from_callback.hpp>

#include "runtime/foreign/foreign_sensor.hpp"
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

TEST(callback_stream, a_call_allocates_nothing) {
#if TANDEM_TEST_SANITIZED
  GTEST_SKIP() << "a sanitizer has allocations of its own";
#endif
  tandem::test::test_runtime rt(tandem::test::with_threads(1));  // they are counted by thread
  const auto count = []() -> tandem::task<long> {
    tandem::test::foreign_sensor<int> sensor;
    co_return co_await tandem::with_callbacks(
        tandem::callback_stream<int>(4, tandem::overflow_policy::drop_oldest, sensor.subscribing()),
        [&](auto& values) -> tandem::task<long> {
          const long before = tandem::test::news();
          for (int i = 0; i < 1000; ++i) {
            for (int k = 0; k <= i % 8; ++k) sensor.call(i);
            EXPECT_EQ(co_await values.next(), i);
            for (int k = 1; k <= i % 8 && k < 4; ++k) co_await values.next();
          }
          EXPECT_GT(values.dropped(), 0U);
          co_return tandem::test::news() - before;
        });
  };
  EXPECT_EQ(rt.run(count()), 0);
}

}  // namespace
