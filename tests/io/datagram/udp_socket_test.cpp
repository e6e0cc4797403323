// udp_socket_test.cpp: datagrams come whole, with who sent them and what to, alone or many at once.
// SPDX-License-Identifier: MIT
#include <tandem/io/udp_socket.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <stop_token>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_stop.hpp>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::endpoint;
using tandem::io::outgoing_datagram;
using tandem::io::received_datagram;
using tandem::io::udp_options;
using tandem::io::udp_socket;
using tandem::test::bytes_of;
using tandem::test::on_every_home;
using tandem::test::pattern;

using bytes = std::vector<std::byte>;

bytes copy_of(std::span<const std::byte> from) { return {from.begin(), from.end()}; }
std::string text_of(std::span<const std::byte> from) {
  std::string text;
  for (const std::byte each : from) text += static_cast<char>(each);
  return text;
}

/// Until so many datagrams have come, gathered or not.
task<std::vector<bytes>> next(udp_socket& socket, std::size_t count) {
  std::vector<bytes> all;
  while (all.size() < count) {
    received_datagram got = co_await socket.receive();
    for (const std::span<std::byte> each : got.segments()) all.push_back(copy_of(each));
  }
  co_return all;
}

TEST(udp_socket, a_datagram_comes_whole_with_its_sender_and_what_it_was_sent_to) {
  on_every_home([]() -> task<void> {
    for (const endpoint& where : {endpoint::loopback_v4(0), endpoint::loopback_v6(0)}) {
      udp_socket here = udp_socket::bind(where);
      udp_socket there = udp_socket::bind(where);
      const bytes sent = pattern(1200, 1);
      co_await here.send_to(sent, there.local_endpoint());
      const received_datagram got = co_await there.receive();
      EXPECT_EQ(copy_of(got.bytes()), sent);
      EXPECT_EQ(got.sender(), here.local_endpoint());
      EXPECT_EQ(got.receiver(), there.local_endpoint());
      EXPECT_EQ(got.segments().size(), 1U);
    }
  });
}

TEST(udp_socket, the_largest_one_comes_whole_and_an_empty_one_is_one) {
  on_every_home([]() -> task<void> {
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket there = udp_socket::bind(endpoint::loopback_v4(0));
    const bytes sent = pattern(65'507, 2);
    co_await here.send_to(sent, there.local_endpoint());
    co_await here.send_to({}, there.local_endpoint());
    EXPECT_EQ(copy_of((co_await there.receive()).bytes()), sent);
    const received_datagram empty = co_await there.receive();
    EXPECT_TRUE(empty.has_value());
    EXPECT_TRUE(empty.bytes().empty());
    EXPECT_EQ(empty.segments().size(), 1U);
    EXPECT_EQ(empty.sender(), here.local_endpoint());
  });
}

TEST(udp_socket, one_of_both_families_has_peers_of_both_unless_it_says_otherwise) {
  on_every_home([]() -> task<void> {
    udp_socket both = udp_socket::bind(endpoint::any_v6(0));
    const std::uint16_t port = both.local_endpoint().port();
    udp_socket v4 = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket v6 = udp_socket::bind(endpoint::loopback_v6(0));
    co_await v4.send_to(bytes_of("four"), endpoint::loopback_v4(port));
    const received_datagram four = co_await both.receive();
    EXPECT_EQ(four.sender().to_string(),
              "[::ffff:127.0.0.1]:" + std::to_string(v4.local_endpoint().port()));
    co_await both.send_to(bytes_of("back"), four.sender());
    EXPECT_EQ(text_of((co_await v4.receive()).bytes()), "back");
    co_await v6.send_to(bytes_of("six"), endpoint::loopback_v6(port));
    EXPECT_EQ((co_await both.receive()).sender(), v6.local_endpoint());

    udp_options options;
    options.only_v6 = true;
    udp_socket six = udp_socket::bind(endpoint::any_v6(0), options);
    udp_socket same = udp_socket::bind(endpoint::any_v4(six.local_endpoint().port()));
    EXPECT_TRUE(same.is_open());
  });
}

TEST(udp_socket, a_connected_one_hears_its_peer_only) {
  on_every_home([]() -> task<void> {
    udp_socket peer = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket stranger = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket mine = udp_socket::connect(peer.local_endpoint());
    EXPECT_EQ(mine.remote_endpoint(), peer.local_endpoint());
    co_await stranger.send_to(bytes_of("no"), mine.local_endpoint());
    co_await mine.send(bytes_of("question"));
    const received_datagram asked = co_await peer.receive();
    co_await peer.send_to(bytes_of("answer"), asked.sender());
    EXPECT_EQ(text_of((co_await mine.receive()).bytes()), "answer");
  });
}

TEST(udp_socket, one_that_is_disconnected_hears_everybody_again) {
  on_every_home([]() -> task<void> {
    udp_socket peer = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket stranger = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket mine = udp_socket::connect(peer.local_endpoint());
    mine.disconnect();
    co_await stranger.send_to(bytes_of("now"), mine.local_endpoint());
    EXPECT_EQ(text_of((co_await mine.receive()).bytes()), "now");
    const auto to_nobody = co_await as_result(mine.send(bytes_of("x")));
    EXPECT_FALSE(to_nobody.has_value());
  });
}

TEST(udp_socket, a_connected_one_hears_once_that_nobody_listens) {
  on_every_home([]() -> task<void> {
    udp_socket peer = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket mine = udp_socket::connect(peer.local_endpoint());
    peer.close();
    co_await mine.send(bytes_of("anybody?"));
    const auto refused = co_await as_result(mine.receive());
    EXPECT_EQ(refused.error(), std::errc::connection_refused);
    const auto nothing = co_await as_result(tandem::with_timeout(10ms, mine.receive()));
    EXPECT_TRUE(nothing.is_cancelled());
  });
}

TEST(udp_socket, an_empty_list_is_refused_by_one_that_is_closed_and_in_a_stopped_task) {
  on_every_home([]() -> task<void> {
    std::error_code refused;
    udp_socket closed;
    try {
      (void)co_await closed.send_many({});
    } catch (const std::system_error& failure) {
      refused = failure.code();
    }
    EXPECT_EQ(refused, std::errc::bad_file_descriptor);
    udp_socket open = udp_socket::bind(endpoint::loopback_v4(0));
    std::stop_source stopped;
    stopped.request_stop();
    refused = {};
    try {
      (void)co_await tandem::with_stop(stopped.get_token(), open.send_many({}));
    } catch (const std::system_error& failure) {
      refused = failure.code();
    }
    EXPECT_EQ(refused, std::errc::operation_canceled);
    EXPECT_EQ(co_await open.send_many({}), 0U);
  });
}

TEST(udp_socket, what_is_awaited_after_the_close_finds_it_closed) {
  on_every_home([]() -> task<void> {
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    const endpoint there = here.local_endpoint();
    co_await here.send_to(bytes_of("x"), there);
    co_await here.send_to(bytes_of("y"), there);
    (void)co_await here.receive();  // which may have found both
    const bytes sent(3000);
    auto receiving = here.receive();
    auto sending = here.send_train_to(sent, 1000, there);
    here.close();
    const auto received = co_await as_result(std::move(receiving));
    EXPECT_EQ(received.error(), std::errc::bad_file_descriptor);
    const auto went = co_await as_result(std::move(sending));
    EXPECT_EQ(went.error(), std::errc::bad_file_descriptor);
  });
}

TEST(udp_socket, a_train_arrives_in_its_segments_in_order) {
  on_every_home([]() -> task<void> {
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket there = udp_socket::bind(endpoint::loopback_v4(0));
    for (const std::size_t size : {std::size_t{1200} * 40 + 7, std::size_t{1}, std::size_t{0}}) {
      const bytes all = pattern(size, 3);
      co_await here.send_train_to(all, 1200, there.local_endpoint());
      const std::size_t count = size == 0 ? 1 : (size + 1199) / 1200;
      bytes got;
      for (const bytes& each : co_await next(there, count)) {
        EXPECT_LE(each.size(), 1200U);
        got.insert(got.end(), each.begin(), each.end());
      }
      EXPECT_EQ(got, all);
    }
  });
}

TEST(udp_socket, one_that_does_not_gather_gets_a_train_one_by_one) {
  on_every_home([]() -> task<void> {
    udp_options options;
    options.gathers = false;
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket there = udp_socket::bind(endpoint::loopback_v4(0), options);
    co_await here.send_train_to(pattern(5000, 4), 1000, there.local_endpoint());
    for (int i = 0; i < 5; ++i) {
      const received_datagram got = co_await there.receive();
      EXPECT_EQ(got.bytes().size(), 1000U);
      EXPECT_EQ(got.segments().size(), 1U);
    }
  });
}

TEST(udp_socket, many_go_by_one_call_each_to_its_own_receiver) {
  on_every_home([]() -> task<void> {
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket one = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket two = udp_socket::bind(endpoint::loopback_v4(0));
    std::vector<bytes> kept;
    for (std::size_t i = 0; i < 100; ++i) kept.push_back(pattern(i, static_cast<unsigned>(i)));
    std::vector<outgoing_datagram> all;
    for (std::size_t i = 0; i < kept.size(); ++i) {
      all.emplace_back(kept[i], (i % 2 == 0 ? one : two).local_endpoint());
    }
    EXPECT_EQ(co_await here.send_many(all), 100U);
    const std::vector<bytes> even = co_await next(one, 50);
    const std::vector<bytes> odd = co_await next(two, 50);
    for (std::size_t i = 0; i < kept.size(); ++i)
      EXPECT_EQ((i % 2 == 0 ? even : odd)[i / 2], kept[i]);
    EXPECT_EQ(co_await here.send_many({}), 0U);
  });
}

TEST(udp_socket, a_receive_that_is_stopped_has_lost_nothing) {
  on_every_home([]() -> task<void> {
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket there = udp_socket::bind(endpoint::loopback_v4(0));
    for (int round = 0; round < 3; ++round) {
      const auto stopped = co_await as_result(tandem::with_timeout(1ms, there.receive()));
      EXPECT_TRUE(stopped.is_cancelled());
      co_await here.send_to(bytes_of("after"), there.local_endpoint());
      EXPECT_EQ(text_of((co_await there.receive()).bytes()), "after");
    }
  });
}

TEST(udp_socket, what_is_not_open_says_so) {
  on_every_home([]() -> task<void> {
    udp_socket none;
    EXPECT_FALSE(none.is_open());
    EXPECT_EQ((co_await as_result(none.receive())).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await as_result(none.send(bytes_of("x")))).error(),
              std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await as_result(none.send_train(bytes_of("x"), 1))).error(),
              std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await as_result(none.send_many({}))).error(), std::errc::bad_file_descriptor);
  });
}

}  // namespace
