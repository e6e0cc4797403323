// tcp_native_mode_test.cpp: the mode of descriptors that are given to others, and local sockets.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <system_error>

#include "io/support/io_support.hpp"

namespace {

using tandem::task;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::test_runtime;

TEST(tcp_native, a_released_descriptor_blocks) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection both = co_await make_connection();
    const int released = both.client.release();
    EXPECT_EQ(::fcntl(released, F_GETFL) & O_NONBLOCK, 0);
    ::close(released);
  }());
}

TEST(tcp_native, a_local_socket_is_refused_and_keeps_its_mode) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    const auto refused = [](auto adopt) {
      try {
        (void)adopt();
      } catch (const std::system_error& e) {
        return e.code() == std::errc::wrong_protocol_type;
      }
      return false;
    };
    EXPECT_TRUE(refused([&] { return tcp_stream::from_native(ends[0]); }));
    EXPECT_TRUE(refused([&] { return tcp_listener::from_native(ends[1]); }));
    for (const int each : ends) {
      EXPECT_NE(::fcntl(each, F_GETFL) & O_NONBLOCK, 0);
      ::close(each);
    }
    co_return;
  }());
}

}  // namespace
