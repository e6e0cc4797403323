// udp_marks_test.cpp: congestion is marked in datagrams, and told.
// SPDX-License-Identifier: MIT
#include <tandem/io/udp_socket.hpp>

#include <gtest/gtest.h>

#include "io/support/io_support.hpp"

namespace {

using tandem::task;
using tandem::io::ecn_mark;
using tandem::io::endpoint;
using tandem::io::udp_options;
using tandem::io::udp_socket;
using tandem::test::bytes_of;
using tandem::test::on_every_home;

TEST(udp_marks, a_mark_travels_with_each_datagram_and_is_told_only_if_it_is_to_be) {
  on_every_home([]() -> task<void> {
    for (const endpoint& where : {endpoint::loopback_v4(0), endpoint::loopback_v6(0)}) {
      udp_options marked;
      marked.mark = ecn_mark::capable_0;
      udp_options deaf;
      deaf.tells_marks = false;
      udp_socket here = udp_socket::bind(where, marked);
      udp_socket there = udp_socket::bind(where);
      udp_socket other = udp_socket::bind(where, deaf);
      co_await here.send_to(bytes_of("x"), there.local_endpoint());
      EXPECT_EQ((co_await there.receive()).mark(), ecn_mark::capable_0);
      here.set_mark(ecn_mark::congested);
      co_await here.send_to(bytes_of("x"), there.local_endpoint());
      EXPECT_EQ((co_await there.receive()).mark(), ecn_mark::congested);
      co_await here.send_to(bytes_of("x"), other.local_endpoint());
      EXPECT_EQ((co_await other.receive()).mark(), ecn_mark::none);
    }
  });
}

}  // namespace
