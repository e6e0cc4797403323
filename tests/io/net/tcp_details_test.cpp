// tcp_details_test.cpp: options that not every system has, as the system itself tells them; statistics.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/timeout.hpp>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::bytes_of;
using tandem::io::endpoint;
using tandem::io::listen_options;
using tandem::io::system_name;
using tandem::io::tcp_listener;
using tandem::io::tcp_options;
using tandem::io::tcp_statistics;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::test_runtime;

int told(tandem::io::native_descriptor socket, int level, int name) {
  int value = -1;
  socklen_t size = sizeof value;
  EXPECT_EQ(::getsockopt(socket, level, name, &value, &size), 0);
  return value;
}

std::string text_told(tandem::io::native_descriptor socket, int level, int name) {
  std::array<char, 64> text{};
  socklen_t size = text.size() - 1;
  EXPECT_EQ(::getsockopt(socket, level, name, text.data(), &size), 0);
  return text.data();
}

void run(task<void> body) {
  test_runtime rt;
  rt.run(std::move(body));
}

TEST(tcp_details, a_traffic_class_is_that_of_both_ends_and_both_families) {
  run([]() -> task<void> {
    tcp_options options;
    options.traffic_class = 0xB8;
    connection v4 = co_await make_connection(options);
    for (const tcp_stream* end : {&v4.client, &v4.server}) {
      EXPECT_EQ(told(end->native_handle(), IPPROTO_IP, IP_TOS), 0xB8);
      EXPECT_EQ(end->options().traffic_class, 0xB8);
    }
    v4.client.set_traffic_class(0x20);
    EXPECT_EQ(told(v4.client.native_handle(), IPPROTO_IP, IP_TOS), 0x20);
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v6(0));
    tcp_stream v6 = co_await tcp_stream::connect(listener.local_endpoint(), options);
    EXPECT_EQ(told(v6.native_handle(), IPPROTO_IPV6, IPV6_TCLASS), 0xB8);
    EXPECT_EQ(v6.options().traffic_class, 0xB8);
  }());
}

TEST(tcp_details, whether_acknowledgements_are_sent_at_once_is_told_to_the_system) {
  run([]() -> task<void> {
    connection both = co_await make_connection();
    tcp_options options;
    for (const bool at_once : {false, true, false}) {
      options.quick_ack = at_once;
      both.client.set_options(options);
      EXPECT_EQ(told(both.client.native_handle(), IPPROTO_TCP, TCP_QUICKACK), at_once ? 1 : 0);
      EXPECT_EQ(both.client.options().quick_ack, at_once);
    }
  }());
}

TEST(tcp_details, the_bits_of_congestion_are_tcps_own) {
  run([]() -> task<void> {
    connection both = co_await make_connection();
    both.client.set_traffic_class(0xBB);
    EXPECT_EQ(told(both.client.native_handle(), IPPROTO_IP, IP_TOS), 0xB8);
  }());
}

TEST(tcp_details, a_device_is_the_only_way) {
  run([]() -> task<void> {
    tcp_options options;
    options.device = system_name("lo");
    connection both = co_await make_connection(options);
    EXPECT_EQ(text_told(both.client.native_handle(), SOL_SOCKET, SO_BINDTODEVICE), "lo");
    EXPECT_EQ(both.client.options().device, system_name("lo"));
    EXPECT_EQ(both.server.options().device, system_name("lo"));
    options.device = system_name("no-such-device");
    const auto refused = co_await as_result(make_connection(options));
    EXPECT_EQ(refused.error(), std::errc::no_such_device);
    const connection without = co_await make_connection();
    EXPECT_FALSE(without.client.options().device);
  }());
}

TEST(tcp_details, a_mark_is_for_those_who_may_administrate) {
  run([]() -> task<void> {
    connection both = co_await make_connection();
    EXPECT_FALSE(both.client.options().mark);
    try {
      both.client.set_mark(42);
      EXPECT_EQ(told(both.client.native_handle(), SOL_SOCKET, SO_MARK), 42);
      EXPECT_EQ(both.client.options().mark, 42U);
      tcp_options options;
      options.mark = 7;
      const connection marked = co_await make_connection(options);
      EXPECT_EQ(told(marked.client.native_handle(), SOL_SOCKET, SO_MARK), 7);
    } catch (const std::system_error& refused) {
      EXPECT_EQ(refused.code(), std::errc::operation_not_permitted);
    }
  }());
}

TEST(tcp_details, a_congestion_control_is_taken_or_refused_by_its_name) {
  run([]() -> task<void> {
    tcp_options options;
    options.congestion_control = system_name("reno");  // which every kernel has
    connection both = co_await make_connection(options);
    for (const tcp_stream* end : {&both.client, &both.server}) {
      EXPECT_EQ(text_told(end->native_handle(), IPPROTO_TCP, TCP_CONGESTION), "reno");
      EXPECT_EQ(end->options().congestion_control, system_name("reno"));
    }
    try {
      both.client.set_congestion_control(system_name("nobody-knows"));
      ADD_FAILURE() << "it is known";
    } catch (const std::system_error& refused) {
      EXPECT_EQ(refused.code(), std::errc::no_such_file_or_directory);
    }
    options.congestion_control = system_name("nobody-knows");
    try {
      both.client.set_options(options);
      ADD_FAILURE() << "it is known";
    } catch (const std::system_error& refused) {
      EXPECT_NE(std::string_view(refused.what()).find("tcp_options::congestion_control"),
                std::string_view::npos);
    }
  }());
}

TEST(tcp_details, no_segment_is_larger_than_the_largest) {
  run([]() -> task<void> {
    tcp_options options;
    options.max_segment_bytes = 600;
    connection both = co_await make_connection(options);
    for (const tcp_stream* end : {&both.client, &both.server}) {
      EXPECT_LE(told(end->native_handle(), IPPROTO_TCP, TCP_MAXSEG), 600);
    }
    options.max_segment_bytes = 1;
    const auto refused = co_await as_result(make_connection(options));
    EXPECT_EQ(refused.error(), std::errc::invalid_argument);
  }());
}

TEST(tcp_details, fast_open_is_asked_for_and_offered) {
  run([]() -> task<void> {
    listen_options listening;
    listening.fast_open_queue = 16;
    listening.defer_accept = 3s;
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0), listening);
    EXPECT_EQ(told(listener.native_handle(), IPPROTO_TCP, TCP_FASTOPEN), 16);
    EXPECT_GE(told(listener.native_handle(), IPPROTO_TCP, TCP_DEFER_ACCEPT), 3);
    tcp_options options;
    options.fast_open = true;
    for (int i = 0; i < 2; ++i) {  // the second one has a cookie, where the system gives them
      tcp_stream client = co_await tcp_stream::connect(listener.local_endpoint(), options);
      EXPECT_EQ(told(client.native_handle(), IPPROTO_TCP, TCP_FASTOPEN_CONNECT), 1);
      co_await client.write_all(bytes_of("first"));
      tcp_stream server = co_await listener.accept();
      std::array<std::byte, 8> room;
      EXPECT_EQ(co_await server.read(room), 5U);
      co_await server.write_all(bytes_of("last"));
      EXPECT_EQ(co_await client.read(room), 4U);
    }
    tcp_options late;
    late.fast_open = true;
    connection both = co_await make_connection();
    EXPECT_THROW(both.client.set_options(late), std::system_error);
  }());
}

TEST(tcp_details, options_as_the_system_has_them_can_be_set_again) {
  run([]() -> task<void> {
    connection both = co_await make_connection();
    tcp_options now = both.client.options();
    now.linger.reset();
    both.client.set_options(now);
    EXPECT_EQ(both.client.options().congestion_control, now.congestion_control);
    EXPECT_EQ(both.client.options().traffic_class, now.traffic_class);
  }());
}

TEST(tcp_details, statistics_tell_what_has_gone_and_come) {
  run([]() -> task<void> {
    tcp_stream none;
    EXPECT_THROW((void)none.statistics(), std::system_error);
    tcp_options options;
    options.max_segment_bytes = 600;
    connection both = co_await make_connection(options);
    const std::vector<std::byte> data = tandem::test::pattern(30'000, 1);
    co_await both.client.write_all(data);
    both.client.shutdown();
    EXPECT_EQ((co_await tandem::test::read_to_end(both.server)).size(), data.size());
    const tcp_statistics sent = both.client.statistics();
    const tcp_statistics came = both.server.statistics();
    EXPECT_EQ(came.bytes_received, data.size() + 1) << "the end counts as a byte";
    EXPECT_EQ(sent.bytes_sent - sent.bytes_retransmitted, data.size());
    EXPECT_EQ(sent.not_sent, 0U);
    EXPECT_GT(sent.round_trip, 0us);
    EXPECT_GT(sent.least_round_trip, 0us);
    EXPECT_GE(sent.retransmission_timeout, 1ms);
    EXPECT_LT(sent.since_sent, 10min);
    EXPECT_GT(sent.segments_sent, 0U);
    EXPECT_GT(came.segments_received, 0U);
    EXPECT_LE(sent.send_segment, 600U);
    EXPECT_GE(sent.path_mtu, 600U);
    EXPECT_EQ(sent.congestion_window % sent.send_segment, 0U);
    EXPECT_GE(sent.congestion_window, sent.send_segment);
    EXPECT_EQ(sent.slow_start_threshold, 0U) << "nothing was lost";
    EXPECT_GT(sent.delivery_rate, 0U);
    EXPECT_GT(sent.pacing_rate, 0U);
    EXPECT_FALSE(sent.had_fast_open);
  }());
}

TEST(tcp_details, statistics_tell_what_is_written_and_not_taken) {
  run([]() -> task<void> {
    tcp_options options;
    options.receive_buffer_bytes = 4096;
    connection both = co_await make_connection(options);
    std::vector<std::byte> much(1U << 20U);
    (void)co_await both.client.write(much);
    while (true) {  // until there is no more room
      const auto count = co_await as_result(tandem::with_timeout(20ms, both.client.write(much)));
      if (!count) break;
    }
    const tcp_statistics now = both.client.statistics();
    EXPECT_GT(now.not_sent, 0U);
    EXPECT_GE(now.bytes_sent, now.bytes_acknowledged - 1);  // the handshake is one, too
  }());
}

TEST(system_name, is_short) {
  EXPECT_EQ(system_name("eth0").view(), "eth0");
  EXPECT_EQ(system_name("fifteen-letters").view(), "fifteen-letters");
  EXPECT_THROW(system_name("sixteen-letters-"), std::invalid_argument);
  EXPECT_THROW(system_name(std::string_view("a\0b", 3)), std::invalid_argument);
  EXPECT_EQ(system_name().view(), "");
}

}  // namespace
