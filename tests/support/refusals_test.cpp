// refusals_test.cpp: what is refused, of whom, and that the loop comes to every request.
// SPDX-License-Identifier: MIT
#include "refusals.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <tandem/config.hpp>
#include <thread>
#include <vector>

namespace {

using tandem::test::asker;
using tandem::test::for_each_refusal;
using tandem::test::refused;

// Never inlined, so that no compiler leaves the allocation out.
TANDEM_NOINLINE std::unique_ptr<int> some_memory() { return std::make_unique<int>(1); }

TEST(refusals, the_nth_allocation_is_refused_once) {
  const refused second(tandem::test::allocations, 2);
  EXPECT_NO_THROW((void)some_memory());
  EXPECT_THROW((void)some_memory(), std::bad_alloc);
  EXPECT_NO_THROW((void)some_memory());
  EXPECT_TRUE(tandem::test::allocations.has_refused());
}

TEST(refusals, the_c_functions_are_refused_too) {
  for (int which = 0; which < 3; ++which) {
    const refused first(tandem::test::allocations, 1);
    // So that no compiler leaves the allocation out.
    void* volatile made = which == 0   ? std::malloc(10)
                          : which == 1 ? std::calloc(1, 10)
                                       : std::realloc(nullptr, 10);
    EXPECT_EQ(made, nullptr) << which;
    std::free(made);
  }
}

TEST(refusals, aligned_memory_is_refused_too) {
  const refused first(tandem::test::allocations, 1);
  void* volatile made = ::operator new(64, std::align_val_t{64}, std::nothrow);
  EXPECT_EQ(made, nullptr);
  ::operator delete(made, std::align_val_t{64});
}

TEST(refusals, what_is_granted_is_not_counted) {
  const refused first(tandem::test::allocations, 1);
  {
    const tandem::test::granted here;
    EXPECT_NO_THROW((void)some_memory());
  }
  EXPECT_EQ(tandem::test::allocations.seen(), 0U);
  EXPECT_THROW((void)some_memory(), std::bad_alloc);
}

TEST(refusals, others_get_what_is_refused_to_the_caller) {
  std::unique_ptr<int> made;
  std::thread other;
  {
    const refused none(tandem::test::allocations, 0);
    other = std::thread([&] { made = some_memory(); });
    const unsigned long by_caller = tandem::test::allocations.seen();
    other.join();
    EXPECT_EQ(tandem::test::allocations.seen(), by_caller);
  }
  EXPECT_NE(made, nullptr);
}

TEST(refusals, a_refused_thread_is_a_system_error) {
  const refused first(tandem::test::new_threads, 1);
  EXPECT_THROW(std::thread([] {}).join(), std::system_error);
  EXPECT_NO_THROW(std::thread([] {}).join());
}

TEST(refusals, the_loop_comes_to_every_request) {
  std::vector<int> failed(3, 0);
  failed.reserve(16);
  for_each_refusal(tandem::test::allocations, asker::caller(), [&] {
    for (int& each : failed) {
      try {
        (void)some_memory();
      } catch (const std::bad_alloc&) {
        ++each;
        throw;
      }
    }
  });
  EXPECT_EQ(failed, std::vector<int>(3, 1));
}

}  // namespace
