// udp_trains_test.cpp: trains that the system refuses to cut arrive all the same; what a call brings at once.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <tandem/as_result.hpp>
#include <tandem/io/udp_socket.hpp>
#include <vector>

#include "io/datagram/refused_sends.hpp"
#include "io/support/io_support.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::endpoint;
using tandem::io::received_datagram;
using tandem::io::udp_socket;
using tandem::test::on_every_home;
using tandem::test::pattern;

using bytes = std::vector<std::byte>;

task<bytes> all_of(udp_socket& socket, std::size_t size) {
  bytes all;
  while (all.size() < size) {
    const received_datagram got = co_await socket.receive();
    EXPECT_LE(got.segment_bytes(), 1000U);
    all.insert(all.end(), got.bytes().begin(), got.bytes().end());
  }
  co_return all;
}

/// Twice: what is remembered of the first time must not lose anything either.
task<void> arrives_twice(udp_socket& by) {
  udp_socket there = udp_socket::bind(endpoint::loopback_v4(0));
  for (unsigned round = 0; round < 2; ++round) {
    // More than one call takes; no more than the socket has room for.
    const bytes sent = pattern(std::size_t{70} * 1000 + 1, round);
    co_await by.send_train_to(sent, 1000, there.local_endpoint());
    EXPECT_EQ(co_await all_of(there, sent.size()), sent);
  }
}

TEST(udp_trains, a_socket_without_checksums_cannot_have_them_cut) {
  on_every_home([]() -> task<void> {
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    const int on = 1;
    EXPECT_EQ(::setsockopt(here.native_handle(), SOL_SOCKET, SO_NO_CHECK, &on, sizeof on), 0);
    co_await arrives_twice(here);
  });
}

TEST(udp_trains, a_device_that_cannot_cut_is_asked_once) {
  on_every_home([]() -> task<void> {
    for (const int error : {EIO, EINVAL}) {
      const tandem::test::refused_trains refused(error);
      udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
      co_await arrives_twice(here);
      EXPECT_EQ(refused.asked(), 1U);
      udp_socket other = udp_socket::bind(endpoint::loopback_v4(0));
      co_await arrives_twice(other);
      EXPECT_EQ(refused.asked(), 2U) << "what one socket was told is none of another's";
    }
  });
}

/// Whether the system is asked to cut one, which it is not of a socket that remembers a refusal.
task<bool> asks_for_trains(udp_socket& by) {
  udp_socket there = udp_socket::bind(endpoint::loopback_v4(0));
  const tandem::test::refused_trains refused(EIO);
  const bytes sent(3000);
  co_await by.send_train_to(sent, 1000, there.local_endpoint());
  co_return refused.asked() != 0;
}

TEST(udp_trains, a_receiver_that_cannot_be_does_not_slow_those_of_others) {
  on_every_home([]() -> task<void> {
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    const bytes sent(3000);
    const auto nowhere =
        co_await as_result(here.send_train_to(sent, 1000, endpoint::loopback_v4(0)));
    EXPECT_EQ(nowhere.error(), std::errc::invalid_argument);
    EXPECT_TRUE(co_await asks_for_trains(here));
    EXPECT_FALSE(co_await asks_for_trains(here)) << "that refusal is remembered";
  });
}

TEST(udp_trains, segments_that_are_too_long_for_one_route_do_not_slow_those_of_others) {
  on_every_home([]() -> task<void> {
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket there = udp_socket::bind(endpoint::loopback_v4(0));
    {
      const tandem::test::refused_trains too_long(EMSGSIZE);
      const bytes sent = pattern(3000, 1);
      co_await here.send_train_to(sent, 1000, there.local_endpoint());
      EXPECT_EQ(co_await all_of(there, sent.size()), sent);
    }
    EXPECT_TRUE(co_await asks_for_trains(here));
  });
}

TEST(udp_trains, one_that_is_too_long_for_any_packet_is_told) {
  on_every_home([]() -> task<void> {
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    const auto failed =
        co_await as_result(here.send_train_to(bytes(140'000), 70'000, here.local_endpoint()));
    EXPECT_EQ(failed.error(), std::errc::message_size);
    const auto senseless =
        co_await as_result(here.send_train_to(bytes(1), 0, here.local_endpoint()));
    EXPECT_EQ(senseless.error(), std::errc::invalid_argument);
  });
}

TEST(udp_batches, what_is_pending_is_given_without_asking_the_system) {
  on_every_home([]() -> task<void> {
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket there = udp_socket::bind(endpoint::loopback_v4(0));
    constexpr std::size_t count = 9;
    for (std::size_t i = 0; i < count; ++i) {
      const std::array<std::byte, 1> number{static_cast<std::byte>(i)};
      co_await here.send_to(number, there.local_endpoint());
    }
    std::size_t received = 0;
    std::size_t most = 0;
    while (received < count) {
      const std::size_t before = there.pending();
      const received_datagram got = co_await there.receive();
      EXPECT_EQ(got.bytes().front(), static_cast<std::byte>(received++));
      if (before != 0) {
        EXPECT_EQ(there.pending(), before - 1);
      }
      most = (std::max)(most, there.pending());
    }
    EXPECT_EQ(there.pending(), 0U);
    EXPECT_GT(most, 0U) << "each datagram was asked for by a call of its own";
  });
}

}  // namespace
