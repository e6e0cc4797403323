// zero_copy_linux_test.cpp: a stop of a lent write that has sent nothing.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <tandem/as_result.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::read_to_end;

/// How much the system has taken since so much was acknowledged; less, if the peer takes some just now.
std::uint64_t taken_since(std::uint64_t acknowledged, const tcp_stream& of) {
  const std::uint64_t meanwhile = of.statistics().bytes_acknowledged - acknowledged;
  int outstanding = 0;
  EXPECT_EQ(::ioctl(of.native_handle(), SIOCOUTQ, &outstanding), 0);
  return meanwhile + static_cast<std::uint64_t>(outstanding);
}

/// Until nothing more goes in either way: without a copy a full buffer still takes a segment.
/// @returns  what was written
std::size_t fill(const tcp_stream& to) {
  const std::vector<std::byte> some = pattern(100'000, 7);
  const int yes = 1;
  EXPECT_EQ(::setsockopt(to.native_handle(), SOL_SOCKET, SO_ZEROCOPY, &yes, sizeof yes), 0);
  std::size_t written = 0;
  for (const int flags : {0, int{MSG_ZEROCOPY}}) {
    ssize_t went = 0;
    do {
      written += static_cast<std::size_t>(went);
      went = ::send(to.native_handle(), some.data(), some.size(), MSG_DONTWAIT | flags);
    } while (went > 0);
    EXPECT_EQ(errno, EAGAIN);
  }
  return written;
}

struct trial {
  bool nothing_was_sent = false;
  bool was_stopped = false;
  std::size_t written = 0;
};

/// A lent write to a peer that has no room left, stopped while it waits.
task<trial> stop_one_that_waits(tcp_stream& to) {
  trial made;
  const std::uint64_t acknowledged = to.statistics().bytes_acknowledged;
  made.written = fill(to);
  co_await tandem::sleep_for(5ms);  // while it may still take a segment of those
  const std::vector<std::byte> more = pattern(100'000, 8);
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn([](tcp_stream& s, const std::vector<std::byte>& all, bool& told) -> task<void> {
      told = (co_await as_result(s.write_all_zero_copy(all))).is_cancelled();
    }(to, more, made.was_stopped));
    co_await tandem::sleep_for(10ms);
    scope.request_stop();
  });
  made.nothing_was_sent = taken_since(acknowledged, to) == made.written;
  co_return made;
}

TEST(zero_copy_linux, a_stop_of_one_that_has_sent_nothing_leaves_what_was_written_before) {
  tandem::io::tcp_options small;
  small.send_buffer_bytes = 4'000;
  small.receive_buffer_bytes = 2'000;
  on_every_home([&]() -> task<void> {
    trial made;
    connection c;
    for (int tries = 0; !made.nothing_was_sent; ++tries) {
      if (tries == 20) {
        ADD_FAILURE() << "the peer took something each time";
        co_return;
      }
      c = co_await make_connection(small);
      made = co_await stop_one_that_waits(c.client);
    }
    EXPECT_TRUE(made.was_stopped);
    c.client.shutdown();
    const auto got = co_await as_result(read_to_end(c.server));
    EXPECT_FALSE(got.error()) << got.error().message();
    EXPECT_EQ(got ? got.value().size() : 0, made.written);
  });
}

}  // namespace
