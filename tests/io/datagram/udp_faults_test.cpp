// udp_faults_test.cpp: what the system refuses is told once, by the call that it is about.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/udp_socket.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <vector>

#include "io/datagram/refused_sends.hpp"
#include "io/support/io_support.hpp"
#include "no_descriptors.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::endpoint;
using tandem::io::outgoing_datagram;
using tandem::io::received_datagram;
using tandem::io::udp_options;
using tandem::io::udp_socket;
using tandem::test::bytes_of;
using tandem::test::on_every_home;
using tandem::test::refused_sends;

/// The next one that comes is this one, and nothing before it.
task<void> expect_next(udp_socket& socket, std::size_t size) {
  const received_datagram got = co_await socket.receive();
  EXPECT_EQ(got.bytes().size(), size);
}

TEST(udp_faults, a_full_device_is_told_and_the_next_send_goes_out) {
  on_every_home([]() -> task<void> {
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket there = udp_socket::bind(endpoint::loopback_v4(0));
    const endpoint to = there.local_endpoint();
    {
      const refused_sends none(ENOBUFS);
      const auto one = co_await as_result(here.send_to(bytes_of("x"), to));
      EXPECT_EQ(one.error(), std::errc::no_buffer_space);
      const std::vector<std::byte> long_one(3000);
      const auto train = co_await as_result(here.send_train_to(long_one, 1000, to));
      EXPECT_EQ(train.error(), std::errc::no_buffer_space);
      const std::array<outgoing_datagram, 1> list{outgoing_datagram(bytes_of("x"), to)};
      const auto many = co_await as_result(here.send_many(list));
      EXPECT_EQ(many.error(), std::errc::no_buffer_space);
    }
    co_await here.send_to(bytes_of("four"), to);
    co_await expect_next(there, 4);
  });
}

TEST(udp_faults, of_many_those_before_the_failure_are_counted_and_the_next_call_tells) {
  on_every_home([]() -> task<void> {
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket there = udp_socket::bind(endpoint::loopback_v4(0));
    const endpoint to = there.local_endpoint();
    const std::vector<outgoing_datagram> list(5, outgoing_datagram(bytes_of("abc"), to));
    {
      const refused_sends later(EPERM, 3);  // as a firewall says it
      EXPECT_EQ(co_await here.send_many(list), 3U);
      const auto again = co_await as_result(here.send_many(list));
      EXPECT_EQ(again.error(), std::errc::operation_not_permitted);
    }
    for (int i = 0; i < 3; ++i) co_await expect_next(there, 3);
    co_await here.send_to(bytes_of("last"), to);
    co_await expect_next(there, 4);
  });
}

TEST(udp_faults, without_descriptors_each_way_to_open_one_says_so) {
  on_every_home([]() -> task<void> {
    const auto any = endpoint::loopback_v4(0);
    const auto refusal = [](const auto& open) {
      const tandem::test::no_descriptors none;
      try {
        open();
      } catch (const std::system_error& failure) {
        return failure.code();
      }
      return std::error_code();
    };
    const auto expected = std::errc::too_many_files_open;
    EXPECT_EQ(refusal([&] { (void)udp_socket::bind(any); }), expected);
    EXPECT_EQ(refusal([&] { (void)udp_socket::bind_sharded(any); }), expected);
    EXPECT_EQ(refusal([&] { (void)udp_socket::connect(endpoint::loopback_v4(9)); }), expected);
    co_return;
  });
}

bool has_errors_queued(const udp_socket& socket) {
  pollfd asked{socket.native_handle(), 0, 0};
  return ::poll(&asked, 1, 0) == 1 && (asked.revents & POLLERR) != 0;
}

task<void> receive_one(udp_socket& socket) {
  while (true) {
    const auto got = co_await as_result(socket.receive());
    if (got) co_return;
    EXPECT_EQ(got.error(), std::errc::connection_refused);
  }
}

TEST(udp_faults, a_queue_of_errors_is_emptied_and_does_not_keep_a_receive_awake) {
  on_every_home([]() -> task<void> {
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    const int on = 1;
    EXPECT_EQ(::setsockopt(here.native_handle(), IPPROTO_IP, IP_RECVERR, &on, sizeof on), 0);
    udp_socket gone = udp_socket::bind(endpoint::loopback_v4(0));
    const endpoint nobody = gone.local_endpoint();
    gone.close();
    co_await here.send_to(bytes_of("anybody?"), nobody);
    EXPECT_TRUE(has_errors_queued(here));
    const auto body = [&here](tandem::task_scope& scope) -> task<void> {
      scope.spawn(here.thread_executor(), receive_one(here));
      while (has_errors_queued(here)) co_await tandem::yield();  // a hang: nobody empties it
      udp_socket other = udp_socket::bind(endpoint::loopback_v4(0));
      co_await other.send_to(bytes_of("yes"), here.local_endpoint());
    };
    co_await tandem::with_scope(body);
  });
}

TEST(udp_faults, what_does_not_fit_the_callers_buffer_is_cut_and_says_so) {
  on_every_home([]() -> task<void> {
    udp_options options;
    options.gathers = false;
    udp_socket here = udp_socket::bind(endpoint::loopback_v4(0));
    udp_socket there = udp_socket::bind(endpoint::loopback_v4(0), options);
    co_await here.send_to(bytes_of("a long one"), there.local_endpoint());
    co_await here.send_to(bytes_of("short"), there.local_endpoint());
    std::array<std::byte, 6> room;
    auto got = co_await there.receive_into(room);
    EXPECT_EQ(got.bytes, room.size());
    EXPECT_TRUE(got.is_cut);
    got = co_await there.receive_into(room);
    EXPECT_EQ(got.bytes, 5U);
    EXPECT_FALSE(got.is_cut);
  });
}

}  // namespace
