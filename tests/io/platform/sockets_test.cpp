// sockets_test.cpp: what the contract of sockets promises.
// SPDX-License-Identifier: MIT
#include "platform/sockets.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "platform/descriptor.hpp"

namespace {

using namespace std::chrono_literals;
using std::errc;
using tandem::io::address_family;
using tandem::io::endpoint;
using tandem::io::native_descriptor;
using tandem::io::no_descriptor;
using tandem::io::tcp_options;
using tandem::io::platform::adopted_kind;
namespace platform = tandem::io::platform;

constexpr errc none{};

/// One that is closed at its end.
class owned {
 public:
  explicit owned(native_descriptor number) noexcept : number_(number) {}
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  ~owned() {
    if (number_ >= 0) platform::close(number_);
  }
  native_descriptor get() const noexcept { return number_; }

 private:
  native_descriptor number_;
};

native_descriptor open_v4() { return platform::open_tcp_socket(address_family::ipv4).value(); }

native_descriptor open_listener() {
  const native_descriptor made = open_v4();
  EXPECT_EQ(platform::bind(made, endpoint::loopback_v4(0)), none);
  EXPECT_EQ(platform::listen(made, 4), none);
  return made;
}

/// Both ends, the first one non-blocking and inherited across exec if asked for.
std::pair<native_descriptor, native_descriptor> connected(bool foreign = false) {
  const owned listener(open_listener());
  const native_descriptor client = open_v4();
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  auto* const plain = reinterpret_cast<sockaddr*>(&address);  // NOLINT
  EXPECT_EQ(::getsockname(listener.get(), plain, &size), 0);
  EXPECT_EQ(::connect(client, plain, size), 0);  // before anybody accepts
  const int flags = foreign ? SOCK_NONBLOCK : SOCK_CLOEXEC;
  const native_descriptor server = ::accept4(listener.get(), nullptr, nullptr, flags);
  EXPECT_GE(server, 0);
  return {server, client};
}

bool is_closed_at_exec(native_descriptor number) {
  return (::fcntl(number, F_GETFD) & FD_CLOEXEC) != 0;
}
bool blocks(native_descriptor number) { return (::fcntl(number, F_GETFL) & O_NONBLOCK) == 0; }

TEST(sockets, a_new_one_blocks_and_is_not_inherited) {
  for (const address_family family : {address_family::ipv4, address_family::ipv6}) {
    auto opened = platform::open_tcp_socket(family);
    if (opened.error() == errc::address_family_not_supported) continue;  // a host without IPv6
    const owned socket(opened.value());
    EXPECT_TRUE(is_closed_at_exec(socket.get()));
    EXPECT_TRUE(blocks(socket.get()));
  }
}

TEST(sockets, a_failure_is_what_comes_back_whatever_errno_says) {
  errno = ENOENT;
  EXPECT_EQ(platform::bind(no_descriptor, endpoint::loopback_v4(0)), errc::bad_file_descriptor);
  EXPECT_EQ(platform::listen(no_descriptor, 1), errc::bad_file_descriptor);
  EXPECT_EQ(platform::shut_down(no_descriptor, true, true), errc::bad_file_descriptor);
  EXPECT_EQ(platform::set_no_delay(no_descriptor, true), errc::bad_file_descriptor);
  EXPECT_EQ(platform::local_endpoint_of(no_descriptor).error(), errc::bad_file_descriptor);
  EXPECT_EQ(platform::options_of(no_descriptor).error(), errc::bad_file_descriptor);
  const owned listener(open_listener());
  const owned second(open_v4());
  const endpoint taken = platform::local_endpoint_of(listener.get()).value();
  EXPECT_EQ(platform::bind(second.get(), taken), errc::address_in_use);
  errno = ENOENT;
  EXPECT_EQ(platform::set_no_delay(second.get(), true), none);
}

TEST(sockets, one_that_is_bound_knows_where_and_one_that_is_not_connected_no_peer) {
  const owned listener(open_listener());
  const endpoint where = platform::local_endpoint_of(listener.get()).value();
  EXPECT_NE(where.port(), 0);
  EXPECT_EQ(platform::remote_endpoint_of(listener.get()).error(), errc::not_connected);
  const auto [server, client] = connected();
  const owned one(server);
  const owned other(client);
  EXPECT_EQ(platform::remote_endpoint_of(server).value(),
            platform::local_endpoint_of(client).value());
}

TEST(sockets, to_end_what_has_ended_is_no_failure) {
  const auto [server, client] = connected();
  const owned one(server);
  const owned other(client);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(platform::shut_down(server, true, true), none);
    EXPECT_EQ(platform::shut_down(client, true, true), none);
  }
}

TEST(sockets, an_adopted_one_is_like_ours) {
  const auto [server, client] = connected(true);
  const owned one(server);
  const owned other(client);
  EXPECT_FALSE(is_closed_at_exec(server));
  EXPECT_FALSE(blocks(server));
  EXPECT_FALSE(platform::adopt_socket(server, adopted_kind::stream));
  EXPECT_TRUE(is_closed_at_exec(server));
  EXPECT_TRUE(blocks(server));
  const owned listener(open_listener());
  EXPECT_FALSE(platform::adopt_socket(listener.get(), adopted_kind::listener));
}

TEST(sockets, what_is_refused_is_told_what_it_is_and_stays_as_it_was) {
  const auto [server, client] = connected(true);
  const owned one(server);
  const owned other(client);
  const owned listener(open_listener());
  const owned unbound(open_v4());
  const owned file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const owned datagrams(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto expect = [](native_descriptor number, adopted_kind wanted, errc error,
                         const char* why) {
    const platform::refusal refused = platform::adopt_socket(number, wanted);
    EXPECT_EQ(refused.error, error) << why;
    EXPECT_STREQ(refused.why, why);
  };
  expect(no_descriptor, adopted_kind::stream, errc::bad_file_descriptor, "is not open");
  expect(file.get(), adopted_kind::stream, errc::not_a_socket, "is no socket");
  expect(datagrams.get(), adopted_kind::stream, errc::wrong_protocol_type, "is no TCP socket");
  expect(unbound.get(), adopted_kind::stream, errc::not_connected, "is not connected");
  expect(listener.get(), adopted_kind::stream, errc::invalid_argument,
         "listens: make it a tcp_listener");
  expect(server, adopted_kind::listener, errc::invalid_argument,
         "does not listen: call listen() on it first");
  EXPECT_FALSE(is_closed_at_exec(server));
  EXPECT_FALSE(blocks(server));
}

TEST(sockets, options_come_back_as_they_were_set) {
  const owned socket(open_v4());
  const tandem::io::keep_alive alive(30s, 5s, 3);
  EXPECT_EQ(platform::set_no_delay(socket.get(), true), none);
  EXPECT_EQ(platform::set_keep_alive(socket.get(), alive), none);
  EXPECT_EQ(platform::set_linger(socket.get(), 2s), none);
  EXPECT_EQ(platform::set_user_timeout(socket.get(), 1500ms), none);
  const tcp_options now = platform::options_of(socket.get()).value();
  EXPECT_TRUE(now.no_delay);
  EXPECT_EQ(now.alive, alive);
  EXPECT_EQ(now.linger, 2s);
  EXPECT_EQ(now.user_timeout, 1500ms);
  EXPECT_EQ(platform::set_keep_alive(socket.get(), std::nullopt), none);
  EXPECT_FALSE(platform::options_of(socket.get()).value().alive.has_value());
  // The first time that is refused ends it: no probe goes by the others.
  const tandem::io::keep_alive wrong(-1s, 5s, 3);
  EXPECT_EQ(platform::set_keep_alive(socket.get(), wrong), errc::invalid_argument);
  EXPECT_FALSE(platform::options_of(socket.get()).value().alive.has_value());
}

}  // namespace
