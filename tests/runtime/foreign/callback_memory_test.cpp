// callback_memory_test.cpp: awaiting a callback allocates nothing.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

#include <tandem/from_callback.hpp>

#include "sanitized.hpp"
#include "test_runtime.hpp"

namespace {
std::atomic<long> allocations{0};
}

#if !TANDEM_TEST_SANITIZED
void* operator new(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* const block = std::malloc(bytes)) return block;
  throw std::bad_alloc();
}
void operator delete(void* block) noexcept { std::free(block); }
void operator delete(void* block, std::size_t) noexcept { std::free(block); }
#endif

namespace {

TEST(from_callback, nothing_is_allocated) {
#if TANDEM_TEST_SANITIZED
  GTEST_SKIP() << "a sanitizer has allocations of its own";
#endif
  tandem::test::test_runtime rt;
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
    const long before = allocations;
    co_await some(1000);
    co_return allocations - before;
  };
  EXPECT_EQ(rt.run(count()), 0);
}

}  // namespace
