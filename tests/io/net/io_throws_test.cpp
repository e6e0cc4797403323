// io_throws_test.cpp: a limit that ends an operation throws nothing where a result is asked for.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <tandem/as_result.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/timeout.hpp>

#include "counted_throws.hpp"
#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::test::connection;
using tandem::test::test_runtime;

/// What `wait()` throws anywhere while a limit ends it.
template <class Wait>
task<long> throws_of(Wait wait) {
  const tandem::test::throw_count before = tandem::test::thrown();
  const auto got = co_await tandem::as_result(tandem::with_timeout(5ms, wait()));
  EXPECT_TRUE(got.is_cancelled());
  EXPECT_EQ(got.reason(), tandem::stop_reason::deadline);
  const tandem::test::throw_count after = tandem::test::thrown();
  co_return after.fresh + after.further - before.fresh - before.further;
}

task<void> each_operation() {
  connection both = co_await tandem::test::make_connection();
  std::array<std::byte, 16> buffer{};
  const auto read = [&] { return both.client.read(buffer); };
  EXPECT_EQ(co_await throws_of(read), 0);
  const auto readable = [&] { return tandem::io::readable(both.client.native_handle()); };
  EXPECT_EQ(co_await throws_of(readable), 0);
  const auto receive = [&] { return both.server.receive(); };
  EXPECT_EQ(co_await throws_of(receive), 0);
  tandem::io::tcp_listener listener =
      tandem::io::tcp_listener::bind(tandem::io::endpoint::loopback_v4(0));
  const auto accept = [&] { return listener.accept(); };
  EXPECT_EQ(co_await throws_of(accept), 0);
}

TEST(io_throws, a_limit_throws_nothing_where_a_result_is_asked_for) {
  test_runtime rt(1);
  rt.run(each_operation());
}

}  // namespace
