// tcp_native_test.cpp: descriptors that others have made, and descriptors given to others.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/task_scope.hpp>

#include "io/support/io_support.hpp"

namespace {

using tandem::task;
using tandem::io::endpoint;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::bytes_of;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::test_runtime;

int loopback_socket(int flags) { return ::socket(AF_INET, SOCK_STREAM | flags, IPPROTO_TCP); }

sockaddr_in loopback_address(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int listening_socket(int flags) {
  const int made = loopback_socket(flags);
  const sockaddr_in address = loopback_address(0);
  EXPECT_EQ(::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address),
            0);  // NOLINT
  EXPECT_EQ(::listen(made, 16), 0);
  return made;
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
    for (const int flags : {0, static_cast<int>(SOCK_NONBLOCK)}) {
      tcp_listener listener = tcp_listener::from_native(listening_socket(flags));
      // Waits for a connection, and then for bytes: a non-blocking socket must not answer EAGAIN.
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        scope.spawn([](endpoint peer, int how) -> task<void> {
          const int made = loopback_socket(0);
          const sockaddr_in address = loopback_address(peer.port());
          const auto* const raw = reinterpret_cast<const sockaddr*>(&address);  // NOLINT
          EXPECT_EQ(::connect(made, raw, sizeof address), 0);
          if (how != 0) (void)::fcntl(made, F_SETFL, O_NONBLOCK);
          tcp_stream stream = tcp_stream::from_native(made);
          EXPECT_EQ(stream.remote_endpoint(), peer);
          std::array<std::byte, 16> buffer;
          EXPECT_EQ(co_await stream.read(buffer), 5U);
          co_await stream.write_all(bytes_of("back"));
        }(listener.local_endpoint(), flags));
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
    const int released = both.client.release();
    EXPECT_FALSE(both.client.is_open());
    EXPECT_EQ(both.client.release(), -1);
    EXPECT_EQ(::fcntl(released, F_GETFD), FD_CLOEXEC);
    EXPECT_EQ(::fcntl(released, F_GETFL) & O_NONBLOCK, 0);
    tcp_stream again = tcp_stream::from_native(released);
    co_await expect_connected(again, both.server);

    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    const endpoint here = listener.local_endpoint();
    tcp_listener same = tcp_listener::from_native(listener.release());
    EXPECT_EQ(same.local_endpoint(), here);
    EXPECT_EQ(tcp_listener().release(), -1);
    tcp_stream client = co_await tcp_stream::connect(here);
    tcp_stream server = co_await same.accept();
    co_await expect_connected(client, server);
  }());
}

TEST(tcp_native, what_is_adopted_is_not_inherited_across_exec) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const int made = listening_socket(0);
    EXPECT_EQ(::fcntl(made, F_GETFD), 0);
    tcp_listener listener = tcp_listener::from_native(made);
    EXPECT_EQ(::fcntl(made, F_GETFD), FD_CLOEXEC);
    co_return;
  }());
}

template <class Adopt>
void expect_refused(int descriptor, std::errc code, const char* why, Adopt adopt) {
  const int before = ::fcntl(descriptor, F_GETFL);
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
  EXPECT_EQ(::fcntl(descriptor, F_GETFL), before);
  if (before >= 0) ::close(descriptor);
}

TEST(tcp_native, anything_else_is_refused_by_name_and_stays_the_callers) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const auto stream = [](int fd) { return tcp_stream::from_native(fd); };
    const auto listener = [](int fd) { return tcp_listener::from_native(fd); };
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe(ends), 0);
    expect_refused(ends[0], std::errc::not_a_socket, "is no socket", stream);
    expect_refused(ends[1], std::errc::not_a_socket, "is no socket", listener);
    expect_refused(-1, std::errc::bad_file_descriptor, "is not open", stream);
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    expect_refused(ends[0], std::errc::wrong_protocol_type, "is no TCP socket", stream);
    expect_refused(ends[1], std::errc::wrong_protocol_type, "is no TCP socket", listener);
    expect_refused(::socket(AF_INET, SOCK_DGRAM, 0), std::errc::wrong_protocol_type,
                   "is no TCP socket", stream);
    expect_refused(loopback_socket(0), std::errc::not_connected, "is not connected", stream);
    expect_refused(loopback_socket(0), std::errc::invalid_argument, "does not listen", listener);
    expect_refused(listening_socket(SOCK_NONBLOCK), std::errc::invalid_argument, "listens", stream);
    co_return;
  }());
}

TEST(tcp_native, outside_any_task_a_pool_has_to_be_named) {
  EXPECT_THROW((void)tcp_stream::from_native(0), std::logic_error);
  try {
    (void)tcp_listener::bind(endpoint::loopback_v4(0));
    ADD_FAILURE();
  } catch (const std::logic_error& refused) {
    const std::string text = refused.what();
    EXPECT_NE(text.find("tcp_listener::bind was called outside any task"), std::string::npos);
    EXPECT_NE(text.find("tcp_listener::bind(tandem::io::install(runtime), address)"),
              std::string::npos);
  }
  test_runtime rt;
  tandem::io::completion_pool& pool = tandem::io::install(*rt);
  tcp_listener listener = tcp_listener::from_native(pool, listening_socket(0));
  EXPECT_TRUE(listener.is_open());
}

}  // namespace
