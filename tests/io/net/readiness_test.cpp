// readiness_test.cpp: waiting for descriptors that are not tandem's.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <tandem/as_result.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/race.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>

#include "io/support/foreign_pair.hpp"
#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::with_timeout;
using tandem::io::no_descriptor;
using tandem::io::readable;
using tandem::io::writable;
using tandem::test::drain_plain;
using tandem::test::fill_plain;
using tandem::test::foreign_pair;
using tandem::test::on_every_home;
using tandem::test::plain_socket;
using tandem::test::receive_plain;
using tandem::test::send_plain;

TEST(readiness, a_descriptor_is_readable_when_something_was_written) {
  on_every_home([]() -> task<void> {
    foreign_pair pair;
    EXPECT_TRUE((co_await as_result(with_timeout(1ms, readable(pair.ends[0])))).is_cancelled());
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      // Not lossy: all that wait go on, and none has taken anything.
      for (int i = 0; i < 3; ++i) {
        scope.spawn([](plain_socket fd) -> task<void> { co_await readable(fd); }(pair.ends[0]));
      }
      EXPECT_EQ(send_plain(pair.ends[1], "x", 1), 1);
      co_return;
    });
    co_await readable(pair.ends[0]);
    char byte = 0;
    EXPECT_EQ(receive_plain(pair.ends[0], &byte, 1), 1);
    EXPECT_TRUE((co_await as_result(with_timeout(1ms, readable(pair.ends[0])))).is_cancelled());
  });
}

TEST(readiness, a_full_socket_is_writable_after_the_other_end_has_read) {
  on_every_home([]() -> task<void> {
    foreign_pair pair;
    co_await writable(pair.ends[0]);
    const std::ptrdiff_t filled = fill_plain(pair.ends[0]);
    EXPECT_TRUE((co_await as_result(with_timeout(1ms, writable(pair.ends[0])))).is_cancelled());
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](plain_socket fd) -> task<void> {
        co_await writable(fd);
        EXPECT_GT(send_plain(fd, "x", 1), 0);
      }(pair.ends[0]));
      drain_plain(pair.ends[1], filled);
      co_return;
    });
  });
}

TEST(readiness, the_end_and_a_vanished_peer_are_readable_and_writable) {
  on_every_home([]() -> task<void> {
    foreign_pair pair;
    pair.close_one(1);
    co_await readable(pair.ends[0]);
    co_await writable(pair.ends[0]);
  });
}

TEST(readiness, no_descriptor_is_an_error) {
  on_every_home([]() -> task<void> {
    const auto none = co_await as_result(readable(no_descriptor));
    EXPECT_EQ(none.error(), std::errc::bad_file_descriptor);
    foreign_pair pair;
    const plain_socket closed = pair.ours();
    pair.close_one(0);
    const auto gone = co_await as_result(writable(closed));
    EXPECT_EQ(gone.error(), std::errc::bad_file_descriptor);
    EXPECT_THROW(co_await readable(no_descriptor), std::system_error);
  });
}

TEST(readiness, it_may_race_since_losing_loses_nothing) {
  on_every_home([]() -> task<void> {
    foreign_pair one;
    foreign_pair other;
    EXPECT_EQ(send_plain(other.ends[1], "x", 1), 1);
    co_await tandem::race(readable(one.ends[0]), readable(other.ends[0]));
    char byte = 0;
    EXPECT_EQ(receive_plain(other.ends[0], &byte, 1), 1);
  });
}

TEST(readiness, bytes_that_race_with_deadlines_are_all_seen) {
  on_every_home([]() -> task<void> {
    foreign_pair pair;
    constexpr int count = 200;
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](plain_socket fd) -> task<void> {
        for (int i = 0; i < count; ++i) {
          co_await tandem::sleep_for(std::chrono::microseconds(i * 7919 % 100));
          EXPECT_EQ(send_plain(fd, "x", 1), 1);
        }
      }(pair.ends[1]));
      int got = 0;
      while (got < count) {
        const auto waited = co_await as_result(with_timeout(50us, readable(pair.ends[0])));
        EXPECT_TRUE(waited.has_value() || waited.is_cancelled());
        char byte = 0;
        while (receive_plain(pair.ends[0], &byte, 1) == 1) ++got;
      }
    });
  });
}

}  // namespace
