// udp_unix_test.cpp: what Windows does not tell: marks, which address was used; ports that are shared.
// SPDX-License-Identifier: MIT
#include <tandem/io/udp_socket.hpp>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
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
using tandem::io::ecn_mark;
using tandem::io::endpoint;
using tandem::io::received_datagram;
using tandem::io::udp_options;
using tandem::io::udp_socket;
using tandem::test::bytes_of;
using tandem::test::has;
using tandem::test::on_every_home;
using tandem::test::refusal_of;

std::string port_text(const udp_socket& of) {
  return ":" + std::to_string(of.local_endpoint().port());
}

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

TEST(udp_socket, one_that_is_bound_to_every_address_is_told_which_was_used) {
  on_every_home([]() -> task<void> {
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket any = udp_socket::bind(endpoint::any_v4(0));
    endpoint second = endpoint::parse("127.0.0.2:" + std::to_string(any.local_endpoint().port()));
    co_await here.send_to(bytes_of("x"), second);
    const received_datagram got = co_await any.receive();
    EXPECT_EQ(got.receiver(), second);
    EXPECT_NE(got.interface_index(), 0U);
    udp_socket both = udp_socket::bind(endpoint::any_v6(0));
    const std::uint16_t port = both.local_endpoint().port();
    co_await here.send_to(bytes_of("four"), endpoint::loopback_v4(port));
    const received_datagram four = co_await both.receive();
    EXPECT_EQ(four.receiver().to_string(), "[::ffff:127.0.0.1]:" + std::to_string(port));
  });
}

int told(const udp_socket& by, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  EXPECT_EQ(::getsockopt(by.native_handle(), level, name, &value, &size), 0);
  return value;
}

TEST(udp_options, buffers_and_numbers_of_hops_are_those_that_were_given) {
  on_every_home([]() -> task<void> {
    udp_options options;
    options.send_buffer_bytes = 24 * 1024;
    options.hops = 7;
    options.multicast_hops = 3;
    const udp_socket v4 = udp_socket::bind(endpoint::loopback_v4(0), options);
    const int buffer = told(v4, SOL_SOCKET, SO_SNDBUF);
    EXPECT_TRUE(buffer == 24 * 1024 || buffer == 48 * 1024) << buffer;  // Linux tells the double
    EXPECT_EQ(told(v4, IPPROTO_IP, IP_TTL), 7);
    EXPECT_EQ(told(v4, IPPROTO_IP, IP_MULTICAST_TTL), 3);
    const udp_socket v6 = udp_socket::bind(endpoint::loopback_v6(0), options);
    EXPECT_EQ(told(v6, IPPROTO_IPV6, IPV6_UNICAST_HOPS), 7);
    EXPECT_EQ(told(v6, IPPROTO_IPV6, IPV6_MULTICAST_HOPS), 3);
    co_return;
  });
}

TEST(udp_options, a_group_has_those_who_have_joined_until_they_leave) {
  on_every_home([]() -> task<void> {
    udp_options shared;
    shared.multicast_loop = true;
    shared.multicast_hops = 0;  // not beyond this machine
    udp_socket member = udp_socket::bind(endpoint::any_v4(0), shared);
    udp_socket sender = udp_socket::bind(endpoint::any_v4(0), shared);
    const endpoint group = endpoint::parse("239.255.77.1" + port_text(member));
    const std::uint32_t loopback = tandem::test::loopback_index();
    member.join_group(group, loopback);
    sender.set_multicast_interface(loopback);
    co_await sender.send_to(bytes_of("all"), group);
    const received_datagram got = co_await tandem::with_timeout(10s, member.receive());
    EXPECT_EQ(got.bytes().size(), 3U);
    EXPECT_EQ(got.receiver(), group);
    try {
      member.join_group(group, loopback);
      ADD_FAILURE() << "joined twice";
    } catch (const std::system_error& failure) {
      EXPECT_NE(std::string(failure.what()).find(group.to_string()), std::string::npos);
    }
    member.leave_group(group, loopback);
    co_await sender.send_to(bytes_of("gone"), group);
    const auto nothing = co_await as_result(tandem::with_timeout(20ms, member.receive()));
    EXPECT_TRUE(nothing.is_cancelled());
    EXPECT_THROW(member.join_group(endpoint::loopback_v4(1)), std::system_error);
  });
}

TEST(udp_options, an_address_has_one_socket_unless_they_share_it) {
  on_every_home([]() -> task<void> {
    udp_options shared;
    shared.reuse_port = true;
    udp_socket first = udp_socket::bind(endpoint::loopback_v4(0), shared);
    udp_socket second = udp_socket::bind(first.local_endpoint(), shared);
    EXPECT_EQ(second.local_endpoint(), first.local_endpoint());
    const std::string taken =
        refusal_of<std::system_error>([&] { (void)udp_socket::bind(first.local_endpoint()); });
    EXPECT_TRUE(has(taken, first.local_endpoint().to_string())) << taken;
    co_return;
  });
}

/// What the exception of a send says.
template <class Send>
task<std::string> text_of_failure(Send send) {
  try {
    co_await send();
  } catch (const std::system_error& failure) {
    co_return failure.what();
  }
  co_return "not refused";
}

TEST(udp_sends, what_was_not_sent_is_told_with_what_to_do_about_it) {
  on_every_home([]() -> task<void> {
    udp_socket from = udp_socket::bind(endpoint::loopback_v4(0));
    const endpoint peer = from.local_endpoint();
    const std::vector<std::byte> huge(70'000);
    const auto to = [&from](std::span<const std::byte> bytes, endpoint receiver) {
      return text_of_failure([&from, bytes, receiver] { return from.send_to(bytes, receiver); });
    };
    const auto train = [&from, &huge, &peer](std::size_t each) {
      return text_of_failure([&, each] { return from.send_train_to(huge, each, peer); });
    };
    std::vector<std::pair<std::string, std::string>> said;
    said.emplace_back(co_await to(huge, peer), "70000 bytes: at most 65507");
    said.emplace_back(co_await train(66'000), "66000 bytes: at most 65507");
    said.emplace_back(co_await train(0), "segment_bytes is 0");
    said.emplace_back(co_await to(bytes_of("x"), endpoint::loopback_v4(0)), "has no port");
    said.emplace_back(co_await to(bytes_of("x"), endpoint::parse("255.255.255.255:9")),
                      "udp_options::broadcast");
    const auto to_nobody = [&from] { return from.send(bytes_of("x")); };
    said.emplace_back(co_await text_of_failure(to_nobody), "not connected");
    const std::vector<tandem::io::outgoing_datagram> list(1, tandem::io::outgoing_datagram(huge));
    const auto many = [&] { return from.send_many(list); };
    said.emplace_back(co_await text_of_failure(many), "70000 bytes: at most 65507");
    for (const auto& [text, part] : said) EXPECT_TRUE(has(text, part)) << text;
  });
}

}  // namespace
