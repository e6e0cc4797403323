// tcp_options_test.cpp: options of connections, half-close, resets.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <tandem/as_result.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <vector>

#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::endpoint;
using tandem::io::keep_alive;
using tandem::io::shutdown_kind;
using tandem::io::tcp_listener;
using tandem::io::tcp_options;
using tandem::io::tcp_stream;
using tandem::test::bytes_of;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::pattern;
using tandem::test::read_to_end;
using tandem::test::test_runtime;

TEST(tcp_options, without_any_nagle_is_off_and_the_rest_is_the_systems) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const connection both = co_await make_connection();
    for (const tcp_stream* end : {&both.client, &both.server}) {
      const tcp_options now = end->options();
      EXPECT_TRUE(now.no_delay);
      EXPECT_FALSE(now.alive);
      EXPECT_FALSE(now.linger);
    }
  }());
}

TEST(tcp_options, connecting_and_accepted_ends_have_what_was_given) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    tcp_options wanted;
    wanted.no_delay = false;
    wanted.alive = keep_alive(31s, 7s, 4);
    wanted.linger = 3s;
    wanted.receive_buffer_bytes = 32 * 1024;
    wanted.send_buffer_bytes = 24 * 1024;
    wanted.user_timeout = 12'345ms;
    connection both = co_await make_connection(wanted);
    for (tcp_stream* end : {&both.client, &both.server}) {
      const tcp_options now = end->options();
      EXPECT_FALSE(now.no_delay);
      EXPECT_EQ(now.alive, wanted.alive);
      EXPECT_EQ(now.linger, wanted.linger);
      EXPECT_EQ(now.receive_buffer_bytes, 2 * *wanted.receive_buffer_bytes);
      EXPECT_EQ(now.send_buffer_bytes, 2 * *wanted.send_buffer_bytes);
      EXPECT_EQ(now.user_timeout, wanted.user_timeout);
      end->set_linger({});
    }
  }());
}

TEST(tcp_options, each_can_be_changed_while_the_connection_lives) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection both = co_await make_connection();
    tcp_stream& stream = both.client;
    stream.set_no_delay(false);
    stream.set_keep_alive(keep_alive(10s, 2s, 3));
    stream.set_user_timeout(5s);
    stream.set_receive_buffer_bytes(16 * 1024);
    stream.set_send_buffer_bytes(20 * 1024);
    stream.set_quick_ack(true);
    stream.set_linger(0s);
    tcp_options now = stream.options();
    EXPECT_FALSE(now.no_delay);
    EXPECT_EQ(now.alive, keep_alive(10s, 2s, 3));
    EXPECT_EQ(now.user_timeout, 5s);
    EXPECT_EQ(now.receive_buffer_bytes, 32U * 1024);
    EXPECT_EQ(now.send_buffer_bytes, 40U * 1024);
    EXPECT_EQ(now.linger, 0s);
    stream.set_keep_alive({});
    stream.set_linger({});
    tcp_options more;
    more.alive = keep_alive(20s, 3s, 2);
    stream.set_options(more);
    now = stream.options();
    EXPECT_TRUE(now.no_delay);
    EXPECT_EQ(now.alive, keep_alive(20s, 3s, 2));
    EXPECT_FALSE(now.linger);
  }());
}

TEST(tcp_options, one_that_the_system_refuses_is_named) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection both = co_await make_connection();
    tcp_options wrong;
    wrong.alive = keep_alive(0s, 1s, 1);
    const auto named = [](const std::exception& e) {
      return std::string_view(e.what()).find("tcp_options::alive") != std::string_view::npos;
    };
    try {
      both.client.set_options(wrong);
      ADD_FAILURE() << "no idle time is none";
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::invalid_argument);
      EXPECT_TRUE(named(e)) << e.what();
    }
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    try {
      (void)co_await tcp_stream::connect(listener.local_endpoint(), wrong);
      ADD_FAILURE() << "no idle time is none";
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), std::errc::invalid_argument);
      EXPECT_TRUE(named(e)) << e.what();
    }
    tandem::io::listen_options listening;
    listening.connections = wrong;
    EXPECT_THROW((void)tcp_listener::bind(endpoint::loopback_v4(0), listening), std::system_error);
    tcp_stream none;
    EXPECT_THROW((void)none.options(), std::system_error);
    EXPECT_THROW(none.set_no_delay(true), std::system_error);
  }());
}

TEST(tcp_half_close, who_has_ended_writing_goes_on_reading) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection both = co_await make_connection();
    const std::vector<std::byte> question = pattern(10'000, 1);
    const std::vector<std::byte> answer = pattern(300'000, 2);
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](tcp_stream& server, const std::vector<std::byte>& asked,
                     const std::vector<std::byte>& told) -> task<void> {
        // The end of the question is the end of the stream, and only of that direction.
        EXPECT_EQ(co_await read_to_end(server), asked);
        co_await server.write_all(told);
        server.shutdown();
      }(both.server, question, answer));
      co_await both.client.write_all(question);
      both.client.shutdown(shutdown_kind::write);
      EXPECT_EQ(co_await read_to_end(both.client), answer);
      const auto late = co_await as_result(both.client.write(question));
      EXPECT_EQ(late.error(), std::errc::broken_pipe);
    });
  }());
}

TEST(tcp_half_close, ending_the_reading_direction_ends_a_read_that_waits) {
  tandem::test::on_every_home([]() -> task<void> {
    connection both = co_await make_connection();
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](tcp_stream& stream) -> task<void> {
        std::byte byte{};
        EXPECT_EQ(co_await stream.read(std::span(&byte, 1)), 0U);
      }(both.client));
      co_await tandem::sleep_for(1ms);  // it mostly waits by now; either order is right
      both.client.shutdown(shutdown_kind::read);
    });
    co_await both.client.write_all(bytes_of("still"));
    std::vector<std::byte> got(5);
    EXPECT_EQ(co_await both.server.read(got), 5U);
    both.client.shutdown(shutdown_kind::both);
    EXPECT_EQ(co_await both.server.read(got), 0U);
  });
}

TEST(tcp_half_close, a_vanished_connection_has_been_shut_down_already) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection both = co_await make_connection();
    both.server.abort();
    std::byte byte{};
    const auto got = co_await as_result(both.client.read(std::span(&byte, 1)));
    EXPECT_EQ(got.error(), std::errc::connection_reset);
    EXPECT_NO_THROW(both.client.shutdown());
  }());
}

TEST(tcp_abort, the_peer_sees_a_reset_and_abort_twice_is_harmless) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection both = co_await make_connection();
    co_await both.server.write_all(bytes_of("never read"));
    both.client.abort();
    EXPECT_FALSE(both.client.is_open());
    both.client.abort();
    std::byte byte{};
    const auto got = co_await as_result(both.server.read(std::span(&byte, 1)));
    EXPECT_EQ(got.error(), std::errc::connection_reset);
  }());
}

TEST(tcp_abort, a_linger_of_zero_makes_every_close_a_reset) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection both = co_await make_connection();
    both.client.set_linger(0s);
    both.client.close();
    std::byte byte{};
    const auto got = co_await as_result(both.server.read(std::span(&byte, 1)));
    EXPECT_EQ(got.error(), std::errc::connection_reset);
  }());
}

}  // namespace
