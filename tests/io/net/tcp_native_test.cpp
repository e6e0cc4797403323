// tcp_native_test.cpp: descriptors that others have made, and descriptors given to others.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/task_scope.hpp>

#include "io/support/io_support.hpp"
#include "plain_sockets.hpp"

namespace {

using tandem::task;
using tandem::io::endpoint;
using tandem::io::no_descriptor;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::bytes_of;
using tandem::test::connection;
using tandem::test::flags_of_plain;
using tandem::test::is_inherited_plain;
using tandem::test::make_connection;
using tandem::test::open_plain;
using tandem::test::plain_socket;
using tandem::test::set_blocking;
using tandem::test::socket_kind;
using tandem::test::test_runtime;

plain_socket loopback_socket() { return open_plain(socket_kind::stream_v4); }

plain_socket listening_socket() {
  std::uint16_t port = 0;
  return tandem::test::listening_plain(port);
}

task<void> expect_connected(tcp_stream& one, tcp_stream& other) {
  co_await one.write_all(bytes_of("there"));
  std::array<std::byte, 16> buffer;
  EXPECT_EQ(co_await other.read(buffer), 5U);
  co_await other.write_all(bytes_of("back"));
  EXPECT_EQ(co_await one.read(buffer), 4U);
}

TEST(tcp_native, a_foreign_listener_accepts_and_a_foreign_connection_transfers) {
  tandem::test::on_every_home([]() -> task<void> {
    for (const bool blocks : {true, false}) {
      const plain_socket listening = listening_socket();
      set_blocking(listening, blocks);
      tcp_listener listener = tcp_listener::from_native(listening);
      // Waits for a connection, and then for bytes: a non-blocking socket must not answer EAGAIN.
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        scope.spawn([](endpoint peer, bool peer_blocks) -> task<void> {
          const plain_socket made = loopback_socket();
          EXPECT_EQ(tandem::test::connect_plain(made, peer.port()), std::errc{});
          set_blocking(made, peer_blocks);
          tcp_stream stream = tcp_stream::from_native(made);
          EXPECT_EQ(stream.remote_endpoint(), peer);
          std::array<std::byte, 16> buffer;
          EXPECT_EQ(co_await stream.read(buffer), 5U);
          co_await stream.write_all(bytes_of("back"));
        }(listener.local_endpoint(), blocks));
        tcp_stream stream = co_await listener.accept();
        EXPECT_TRUE(stream.options().no_delay);
        co_await stream.write_all(bytes_of("there"));
        std::array<std::byte, 16> buffer;
        EXPECT_EQ(co_await stream.read(buffer), 4U);
      });
    }
  });
}

TEST(tcp_native, a_released_descriptor_stays_open_and_can_come_back) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection both = co_await make_connection();
    const plain_socket released = both.client.release();
    EXPECT_FALSE(both.client.is_open());
    EXPECT_EQ(both.client.release(), no_descriptor);
    EXPECT_FALSE(is_inherited_plain(released));
    tcp_stream again = tcp_stream::from_native(released);
    co_await expect_connected(again, both.server);

    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    const endpoint here = listener.local_endpoint();
    tcp_listener same = tcp_listener::from_native(listener.release());
    EXPECT_EQ(same.local_endpoint(), here);
    EXPECT_EQ(tcp_listener().release(), no_descriptor);
    tcp_stream client = co_await tcp_stream::connect(here);
    tcp_stream server = co_await same.accept();
    co_await expect_connected(client, server);
  }());
}

TEST(tcp_native, what_is_adopted_is_not_inherited_across_exec) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const plain_socket made = listening_socket();
    tandem::test::inherit_plain(made);
    tcp_listener listener = tcp_listener::from_native(made);
    EXPECT_FALSE(is_inherited_plain(made));
    co_return;
  }());
}

template <class Adopt>
void expect_refused(plain_socket descriptor, std::errc code, const char* why, Adopt adopt) {
  const int before = flags_of_plain(descriptor);
  try {
    (void)adopt(descriptor);
    ADD_FAILURE() << "adopted, though it " << why;
  } catch (const std::system_error& e) {
    EXPECT_EQ(e.code(), code) << e.what();
    const std::string text = e.what();
    EXPECT_NE(text.find(why), std::string::npos) << text;
    EXPECT_NE(text.find(std::to_string(descriptor)), std::string::npos) << text;
  }
  // Still the caller's, and as it was.
  EXPECT_EQ(flags_of_plain(descriptor), before);
}

TEST(tcp_native, anything_else_is_refused_by_name_and_stays_the_callers) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto stream = [](plain_socket fd) { return tcp_stream::from_native(fd); };
    const auto listener = [](plain_socket fd) { return tcp_listener::from_native(fd); };
    const auto ends = tandem::test::plain_pipe();
    expect_refused(ends[0], std::errc::not_a_socket, "is no socket", stream);
    expect_refused(ends[1], std::errc::not_a_socket, "is no socket", listener);
    for (const plain_socket each : ends) tandem::test::close_other(each);
    expect_refused(no_descriptor, std::errc::bad_file_descriptor, "is not open", stream);
    const auto refused = [](plain_socket descriptor, std::errc code, const char* why, auto adopt) {
      expect_refused(descriptor, code, why, adopt);
      tandem::test::close_plain(descriptor);
    };
    refused(open_plain(socket_kind::datagram_v4), std::errc::wrong_protocol_type,
            "is no TCP socket", stream);
    refused(open_plain(socket_kind::datagram_v4), std::errc::wrong_protocol_type,
            "is no TCP socket", listener);
    refused(loopback_socket(), std::errc::not_connected, "is not connected", stream);
    refused(loopback_socket(), std::errc::invalid_argument, "does not listen", listener);
    refused(listening_socket(), std::errc::invalid_argument, "listens", stream);
    co_return;
  }());
}

TEST(tcp_native, outside_any_task_a_pool_has_to_be_named) {
  EXPECT_THROW((void)tcp_stream::from_native(4), std::logic_error);
  try {
    (void)tcp_listener::bind(endpoint::loopback_v4(0));
    ADD_FAILURE();
  } catch (const std::logic_error& refused) {
    const std::string text = refused.what();
    EXPECT_NE(text.find("tcp_listener::bind was called outside any task"), std::string::npos);
    EXPECT_NE(text.find("name a pool as its first argument, tandem::io::install(runtime)"),
              std::string::npos);
  }
  try {
    (void)tandem::io::current_completion_pool("process::start");
    ADD_FAILURE();
  } catch (const std::logic_error& refused) {
    EXPECT_EQ(std::string(refused.what()).find("install"), std::string::npos)
        << "what takes no pool is not to be given one: " << refused.what();
  }
  test_runtime rt;
  tandem::io::completion_pool& pool = tandem::io::install(*rt);
  tcp_listener listener = tcp_listener::from_native(pool, listening_socket());
  EXPECT_TRUE(listener.is_open());
}

}  // namespace
