// datagram_test.cpp: one datagram at a time, whole, with its sender.
// SPDX-License-Identifier: MIT
#include <tandem/io/udp_awaiters.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/errors.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <type_traits>
#include <vector>

#include "io/support/io_support.hpp"
#include "io/support/udp_socket.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::address_family;
using tandem::io::endpoint;
using tandem::io::received_into;
using tandem::test::bytes_of;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::udp_socket;

using bytes = std::vector<std::byte>;

bytes first_of(const bytes& whole, std::size_t count) {
  return {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(count)};
}

task<void> goes_there_and_back(address_family family) {
  udp_socket here(family);
  udp_socket there(family);
  const bytes sent = pattern(1200, 1);
  bytes room(2000);
  co_await here.send(sent, there.where());
  const received_into got = co_await there.receive(room);
  EXPECT_EQ(got.sender, here.where());
  EXPECT_FALSE(got.is_cut);
  EXPECT_EQ(first_of(room, got.bytes), sent);
  co_await there.send(bytes_of("answer"), got.sender);
  const received_into answer = co_await here.receive(room);
  EXPECT_EQ(answer.sender, there.where());
  EXPECT_EQ(answer.bytes, 6U);
}

TEST(datagram, comes_whole_with_the_address_of_its_sender) {
  on_every_home([] { return goes_there_and_back(address_family::ipv4); });
}

TEST(datagram, comes_with_the_address_of_its_sender_over_ipv6) {
  on_every_home([] { return goes_there_and_back(address_family::ipv6); });
}

TEST(datagram, one_that_is_longer_than_the_buffer_says_that_it_was_cut_and_the_next_one_is_whole) {
  on_every_home([]() -> task<void> {
    udp_socket here;
    udp_socket there;
    const bytes sent = pattern(100, 2);
    co_await here.send(sent, there.where());
    co_await here.send(first_of(sent, 60), there.where());
    bytes room(60);
    const received_into first = co_await there.receive(room);
    EXPECT_TRUE(first.is_cut);
    EXPECT_EQ(first.bytes, 60U);
    EXPECT_EQ(room, first_of(sent, 60));
    const received_into second = co_await there.receive(room);
    EXPECT_FALSE(second.is_cut);
    EXPECT_EQ(second.bytes, 60U);
  });
}

TEST(datagram, an_empty_one_is_one_and_an_empty_buffer_takes_one) {
  on_every_home([]() -> task<void> {
    udp_socket here;
    udp_socket there;
    bytes room(10);
    co_await here.send({}, there.where());
    const received_into empty = co_await there.receive(room);
    EXPECT_EQ(empty.bytes, 0U);
    EXPECT_EQ(empty.sender, here.where());
    EXPECT_FALSE(empty.is_cut);
    co_await here.send(bytes_of("gone"), there.where());
    co_await here.send(bytes_of("kept"), there.where());
    const received_into cut = co_await there.receive({});
    EXPECT_EQ(cut.bytes, 0U);
    EXPECT_TRUE(cut.is_cut);
    const received_into kept = co_await there.receive(room);
    EXPECT_EQ(kept.bytes, 4U);
  });
}

TEST(datagram, a_receive_waits_until_one_comes_while_others_are_sent_from_its_socket) {
  on_every_home([]() -> task<void> {
    udp_socket here;
    udp_socket there;
    bytes room(10);
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](udp_socket& socket, std::span<std::byte> into, endpoint from) -> task<void> {
        const received_into got = co_await socket.receive(into);
        EXPECT_EQ(got.bytes, 5U);
        EXPECT_EQ(got.sender, from);
      }(there, room, here.where()));
      co_await tandem::sleep_for(1ms);
      co_await there.send(bytes_of("beside"), here.where());
      co_await here.send(bytes_of("later"), there.where());
    });
    const received_into beside = co_await here.receive(room);
    EXPECT_EQ(beside.bytes, 6U);
  });
}

TEST(datagram, a_stop_ends_a_receive_that_waits_and_the_next_one_gets_what_comes_then) {
  on_every_home([]() -> task<void> {
    udp_socket here;
    udp_socket there;
    bytes room(10);
    for (int round = 0; round < 3; ++round) {
      const auto stopped = co_await as_result(tandem::with_timeout(1ms, there.receive(room)));
      EXPECT_FALSE(stopped.has_value());
      co_await here.send(bytes_of("after"), there.where());
      const received_into got = co_await there.receive(room);
      EXPECT_EQ(got.bytes, 5U);
    }
  });
}

TEST(datagram, what_the_system_refuses_is_told_with_what_was_tried) {
  on_every_home([]() -> task<void> {
    udp_socket here;
    udp_socket there;
    const bytes too_long(70'000);
    const auto refused = co_await as_result(here.send(too_long, there.where()));
    EXPECT_EQ(refused.error(), std::errc::message_size);
    std::string text;
    try {
      co_await here.send(too_long, there.where());
    } catch (const std::system_error& failure) {
      text = failure.what();
    }
    EXPECT_NE(text.find("udp_socket::send to " + there.where().to_string()), std::string::npos)
        << text;
    const auto other_family =
        co_await as_result(here.send(bytes_of("x"), endpoint::loopback_v6(there.port())));
    EXPECT_FALSE(other_family.has_value());
    here.close();
    bytes room(10);
    const auto sent = co_await as_result(here.send(bytes_of("x"), there.where()));
    EXPECT_EQ(sent.error(), std::errc::bad_file_descriptor);
    const auto received = co_await as_result(here.receive(room));
    EXPECT_EQ(received.error(), std::errc::bad_file_descriptor);
  });
}

static_assert(tandem::io::receive_into_awaiter::lossy_when_dropped::value);
static_assert(tandem::io::send_datagram_awaiter::lossy_when_dropped::value);

}  // namespace
