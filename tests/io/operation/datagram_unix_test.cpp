// datagram_unix_test.cpp: datagrams of local sockets.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstddef>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/udp_awaiters.hpp>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"

namespace {

using tandem::task;
using tandem::test::on_every_home;

using bytes = std::vector<std::byte>;

TEST(datagram_moves, one_from_a_socket_without_an_address_has_no_sender) {
  on_every_home([]() -> task<void> {
    int pair[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair), 0);
    tandem::io::detail::socket one(pair[0],
                                   tandem::io::current_completion_pool("test").next_thread());
    tandem::io::detail::socket other(pair[1],
                                     tandem::io::current_completion_pool("test").next_thread());
    bytes room(100);
    // It names nobody who could be told.
    EXPECT_EQ(::send(pair[0], room.data(), 50, 0), 50);
    tandem::io::receive_into_awaiter got_one(other, room);
    EXPECT_EQ((co_await std::move(got_one)).bytes, 50U);
    co_return;
  });
}

}  // namespace
