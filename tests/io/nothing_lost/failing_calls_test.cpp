// failing_calls_test.cpp: what the system rarely says of connections, closes and names.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/io/resolve.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <utility>

#include "failing_calls.hpp"
#include "io/support/io_support.hpp"
#include "plain_sockets.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::bytes_of;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::test_runtime;

class failing_calls : public ::testing::Test {
 protected:
  failing_calls() {
    tandem::io::completion_options options;
    options.backend = tandem::test::backend_by_calls();
    options.adaptive = false;
    tandem::io::install(*rt_, options);
  }

  test_runtime rt_;
};

TEST_F(failing_calls, a_receive_ends_with_the_failure_and_asks_no_more) {
  rt_.run([]() -> task<void> {
    connection c = co_await make_connection();
    tandem::test::abort_reads_of(c.server.native_handle());
    co_await c.client.write_all(bytes_of("x"));  // so there is something to ask for
    const auto got = co_await as_result(c.server.receive());
    EXPECT_EQ(got.error(), std::errc::connection_aborted);
    tandem::test::abort_reads_of(tandem::io::no_descriptor);
  }());
}

TEST_F(failing_calls, an_accept_goes_on_past_a_connection_that_was_reset_before_it_was_accepted) {
  rt_.run([]() -> task<void> {
    tcp_listener listener = tcp_listener::bind(tandem::io::endpoint::loopback_v4(0));
    const tandem::io::endpoint where = listener.local_endpoint();
    tandem::test::reset_before_accept(3);
    const tcp_stream client = co_await tcp_stream::connect(where);
    const tcp_stream server = co_await listener.accept();
    EXPECT_EQ(server.remote_endpoint(), client.local_endpoint());
    EXPECT_EQ(tandem::test::resets_left(), 0);
  }());
}

TEST_F(failing_calls, incoming_connections_go_on_past_one_that_was_reset) {
  rt_.run([]() -> task<void> {
    tcp_listener listener = tcp_listener::bind(tandem::io::endpoint::loopback_v4(0));
    const tandem::io::endpoint where = listener.local_endpoint();
    tandem::test::reset_before_accept(3);
    const tcp_stream client = co_await tcp_stream::connect(where);
    const tcp_stream server = co_await listener.incoming();
    EXPECT_EQ(server.remote_endpoint(), client.local_endpoint());
    EXPECT_EQ(tandem::test::resets_left(), 0);
  }());
}

TEST_F(failing_calls, a_stream_that_lingers_is_closed_by_its_close) {
  rt_.run([]() -> task<void> {
    connection c = co_await make_connection();
    c.client.set_linger(std::chrono::seconds(1));
    tandem::test::has_more_to_send(c.client.native_handle());
    c.client.close();
    std::array<std::byte, 1> room;
    EXPECT_EQ(co_await c.server.read(room), 0U);
  }());
}

TEST_F(failing_calls, the_machines_own_name_is_found_without_a_network) {
  tandem::test::has_no_network(true);
  const auto found = rt_.run(tandem::io::resolve("localhost", 80));
  tandem::test::has_no_network(false);
  EXPECT_FALSE(found.empty());
}

TEST_F(failing_calls, a_foreign_socket_whose_connect_has_failed_is_writable) {
  std::uint16_t port = 0;
  tandem::test::close_plain(tandem::test::listening_plain(port));
  const auto ours = tandem::test::open_plain(tandem::test::socket_kind::stream_v4, false);
  (void)tandem::test::connect_plain(ours, port);
  tandem::test::hide_failed_connects(true);
  rt_.run([](tandem::io::native_descriptor socket) -> task<void> {
    co_await tandem::io::writable(socket);
  }(ours));
  tandem::test::hide_failed_connects(false);
  tandem::test::close_plain(ours);
}

}  // namespace
