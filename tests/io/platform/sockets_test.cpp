// sockets_test.cpp: what the contract of sockets promises.
// SPDX-License-Identifier: MIT
#include "platform/sockets.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <string>
#include <system_error>
#include <utility>

#include "plain_sockets.hpp"
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
using tandem::test::is_inherited_plain;
namespace platform = tandem::io::platform;

constexpr errc none{};

/// One that is closed at its end.
class owned {
 public:
  explicit owned(native_descriptor number) noexcept : number_(number) {}
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
  ~owned() {
    if (tandem::io::detail::is_descriptor(number_)) platform::close(number_);
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

/// Both ends, the first one as a foreign one may be: inherited, and not blocking.
std::pair<native_descriptor, native_descriptor> connected(bool foreign = false) {
  std::uint16_t port = 0;
  const owned listener(tandem::test::listening_plain(port));
  const native_descriptor client = tandem::test::open_plain(tandem::test::socket_kind::stream_v4);
  EXPECT_EQ(tandem::test::connect_plain(client, port), none);  // before anybody accepts
  const native_descriptor server = tandem::test::accept_plain(listener.get());
  EXPECT_NE(server, no_descriptor);
  if (foreign) {
    tandem::test::inherit_plain(server);
    tandem::test::set_blocking(server, false);
  }
  return {server, client};
}

TEST(sockets, a_new_one_is_not_inherited) {
  for (const address_family family : {address_family::ipv4, address_family::ipv6}) {
    auto opened = platform::open_tcp_socket(family);
    if (opened.error() == errc::address_family_not_supported) continue;  // a host without IPv6
    const owned socket(opened.value());
    EXPECT_FALSE(is_inherited_plain(socket.get()));
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
  EXPECT_TRUE(is_inherited_plain(server));
  EXPECT_FALSE(platform::adopt_socket(server, adopted_kind::stream));
  EXPECT_FALSE(is_inherited_plain(server));
  const owned listener(open_listener());
  EXPECT_FALSE(platform::adopt_socket(listener.get(), adopted_kind::listener));
}

TEST(sockets, what_is_refused_is_told_what_it_is_and_stays_as_it_was) {
  const auto [server, client] = connected(true);
  const owned one(server);
  const owned other(client);
  const int before = tandem::test::flags_of_plain(server);
  const owned listener(open_listener());
  const owned unbound(open_v4());
  const owned file(tandem::test::open_nothing());
  const owned datagrams(tandem::test::open_plain(tandem::test::socket_kind::datagram_v4));
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
  EXPECT_EQ(tandem::test::flags_of_plain(server), before);
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
