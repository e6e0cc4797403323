// any_stream_cost_test.cpp: an operation of an any_stream allocates nothing.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <tandem/io/any_stream.hpp>
#include <tandem/resume_on.hpp>
#include <utility>

#include "io/stream/any_stream_support.hpp"
#include "refusals.hpp"
#include "sanitized.hpp"

namespace {

using tandem::task;
using tandem::io::any_stream;
using tandem::test::allocations;
using tandem::test::any_connection;
using tandem::test::bytes_of;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::refused;
using tandem::test::test_runtime;

/// Writes, in each form, on one end and reads on the other one; from the fourth round on what is
/// allocated is counted.
task<void> exchange(any_connection& c) {
  const std::array<std::span<const std::byte>, 2> list{bytes_of("a"), bytes_of("list")};
  std::array<std::byte, 64> room;
  std::optional<refused> counting;
  for (int i = 0; i < 203; ++i) {
    if (i == 3) counting.emplace(allocations, 0);
    co_await c.client.write_all(bytes_of("question"));
    std::size_t expected = 8;
    expected += co_await c.client.write(bytes_of("again"));
    co_await c.client.write_all(list);
    expected += 5;
    for (std::size_t n = 0; n < expected;) n += co_await c.server.read(std::span(room).subspan(n));
    EXPECT_EQ(expected, 18U);
  }
}

/// At the completion thread: whatever is done for an operation is done there.
void expect_no_allocation(any_connection (*make)(connection)) {
  if (tandem::test::sanitized) GTEST_SKIP() << "frames are not kept under a sanitizer";
  test_runtime rt;
  tandem::io::completion_pool& pool = tandem::io::install(*rt, tandem::test::threads_between(1, 1));
  rt.run([](tandem::executor* home, any_connection (*made)(connection)) -> task<void> {
    co_await tandem::resume_on(*home);
    any_connection c = made(co_await make_connection());
    co_await exchange(c);
    EXPECT_EQ(allocations.seen(), 0U);
  }(&pool.thread(0).executor(), make));
}

TEST(any_stream_cost, an_operation_over_tcp_allocates_nothing) {
  expect_no_allocation(
      [](connection c) { return any_connection(std::move(c.client), std::move(c.server)); });
}

template <class Stream>
any_connection in_memory(connection) {
  auto both = tandem::test::make_memory_connection<Stream>();
  return {std::move(both.first), std::move(both.second)};
}

TEST(any_stream_cost, an_adapted_operation_allocates_nothing_after_the_first_ones) {
  // Its awaiters are larger than any frame of the free lists, so each frame would be allocated.
  static_assert(sizeof(tandem::test::memory_read) > 1024);
  expect_no_allocation(in_memory<tandem::test::memory_stream>);
}

TEST(any_stream_cost, what_is_small_lies_inside) {
  if (tandem::test::sanitized) GTEST_SKIP() << "frames are not kept under a sanitizer";
  const refused nothing(allocations, 0);  // only counted
  any_stream none;
  any_stream one = tandem::io::tcp_stream();
  any_stream other = std::move(one);
  none = std::move(other);
  EXPECT_EQ(allocations.seen(), 0U);
  EXPECT_LE(sizeof(any_stream), sizeof(tandem::io::tcp_stream) + 2 * sizeof(void*));
}

}  // namespace
