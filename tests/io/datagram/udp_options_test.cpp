// udp_options_test.cpp: each option does what it says, groups and broadcast included.
// SPDX-License-Identifier: MIT
#include <tandem/io/udp_socket.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <numeric>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"
#include "plain_sockets.hpp"
#include "refusal_text.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::endpoint;
using tandem::io::received_datagram;
using tandem::io::udp_options;
using tandem::io::udp_socket;
using tandem::test::bytes_of;
using tandem::test::has;
using tandem::test::on_every_home;
using tandem::test::refusal_of;

/// Counts what comes, and answers.
task<void> answer_all(udp_socket socket, int& count) {
  while (true) {
    const received_datagram got = co_await socket.receive();
    ++count;
    co_await socket.send_to(got.bytes(), got.sender());
  }
}

TEST(udp_options, shards_have_one_port_and_each_answers_what_comes_to_it) {
  on_every_home([]() -> task<void> {
    std::vector<udp_socket> shards = udp_socket::bind_sharded(endpoint::loopback_v4(0));
    EXPECT_GE(shards.size(), 1U);
    const endpoint all = shards.front().local_endpoint();
    std::vector<int> counts(shards.size(), 0);
    constexpr int asked = 64;
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      for (std::size_t i = 0; i < shards.size(); ++i) {
        EXPECT_EQ(shards[i].local_endpoint(), all);
        scope.spawn(answer_all(std::move(shards[i]), counts[i]));
      }
      for (int i = 0; i < asked; ++i) {
        udp_socket client = udp_socket::connect(all);
        co_await client.send(bytes_of("one"));
        const received_datagram got = co_await tandem::with_timeout(10s, client.receive());
        EXPECT_EQ(got.sender(), all);
      }
      scope.request_stop();
    });
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0), asked);
  });
}

TEST(udp_options, broadcast_is_refused_unless_it_was_asked_for) {
  on_every_home([]() -> task<void> {
    udp_socket here = udp_socket::bind(endpoint::any_v4(0));
    const endpoint all = endpoint::parse("255.255.255.255:9");
    const auto refused = co_await as_result(here.send_to(bytes_of("x"), all));
    EXPECT_EQ(refused.error(), std::errc::permission_denied);
    here.set_broadcast(true);
    const auto allowed = co_await as_result(here.send_to(bytes_of("x"), all));
    EXPECT_NE(allowed.error(), std::errc::permission_denied);  // there may be no network
    udp_options options;
    options.broadcast = true;
    udp_socket may = udp_socket::bind(endpoint::any_v4(0), options);
    const auto from_its_start = co_await as_result(may.send_to(bytes_of("x"), all));
    EXPECT_NE(from_its_start.error(), std::errc::permission_denied);
  });
}

TEST(udp_options, an_address_is_one_sockets_unless_all_agree_to_share_it) {
  on_every_home([]() -> task<void> {
    const udp_socket alone = udp_socket::bind(endpoint::loopback_v4(0));
    const auto bind_again = [&] { (void)udp_socket::bind(alone.local_endpoint()); };
    EXPECT_EQ(tandem::test::refusal_code(bind_again), std::errc::address_in_use);
    udp_options options;
    options.reuse_address = true;
    const udp_socket first = udp_socket::bind(endpoint::loopback_v4(0), options);
    const udp_socket second = udp_socket::bind(first.local_endpoint(), options);
    EXPECT_EQ(second.local_endpoint(), first.local_endpoint());
    co_return;
  });
}

TEST(udp_options, what_the_system_refuses_is_named) {
  on_every_home([]() -> task<void> {
    udp_options options;
    options.hops = 70'000;
    const std::string text = refusal_of<std::system_error>(
        [&] { (void)udp_socket::bind(endpoint::loopback_v4(0), options); });
    EXPECT_TRUE(has(text, "udp_options::hops")) << text;
    const auto advises = [](const endpoint& any, const endpoint& group) {
      udp_socket member = udp_socket::bind(any);
      return has(refusal_of<std::system_error>([&] { member.join_group(group, 70'000); }),
                 "no group's address");
    };
    EXPECT_TRUE(advises(endpoint::any_v4(0), endpoint::loopback_v4(0)));
    EXPECT_TRUE(advises(endpoint::any_v6(0), endpoint::loopback_v6(0)));
    // Of these it is the interface that there is none of.
    EXPECT_FALSE(advises(endpoint::any_v4(0), endpoint::parse("224.0.0.77:0")));
    EXPECT_FALSE(advises(endpoint::any_v4(0), endpoint::parse("239.255.77.1:0")));
    EXPECT_FALSE(advises(endpoint::any_v6(0), endpoint::parse("[ff02::77]:0")));
    co_return;
  });
}

TEST(udp_options, buffers_hold_as_much_as_they_are_given) {
  on_every_home([]() -> task<void> {
    udp_options small;
    small.receive_buffer_bytes = 4096;
    small.gathers = false;
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket there = udp_socket::bind(endpoint::loopback_v4(0), small);
    const std::vector<std::byte> one(1000);
    for (int i = 0; i < 100; ++i) co_await here.send_to(one, there.local_endpoint());
    EXPECT_EQ((co_await there.receive()).bytes().size(), one.size());
    int came = 1;
    while (co_await as_result(tandem::with_timeout(20ms, there.receive()))) ++came;
    EXPECT_LT(came, 50);
  });
}

TEST(udp_options, a_foreign_socket_is_taken_over_and_what_is_none_refused) {
  on_every_home([]() -> task<void> {
    std::uint16_t port = 0;
    const auto plain = tandem::test::bound_plain(tandem::test::socket_kind::datagram_v4, port);
    udp_socket mine = udp_socket::from_native(plain);
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    co_await here.send_to(bytes_of("x"), endpoint::loopback_v4(port));
    EXPECT_EQ((co_await mine.receive()).receiver(), endpoint::loopback_v4(port));
    const auto again = mine.release();
    EXPECT_EQ(again, plain);
    EXPECT_FALSE(mine.is_open());
    tandem::test::close_plain(again);
    const auto stream = tandem::test::open_plain(tandem::test::socket_kind::stream_v4);
    try {
      (void)udp_socket::from_native(stream);
      ADD_FAILURE() << "taken";
    } catch (const std::system_error& refused) {
      EXPECT_NE(std::string(refused.what()).find("is no UDP socket"), std::string::npos);
    }
    tandem::test::close_plain(stream);
  });
}

}  // namespace
