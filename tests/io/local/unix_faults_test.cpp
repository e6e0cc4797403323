// unix_faults_test.cpp: peers that are gone, and descriptors that there are no numbers for.
// SPDX-License-Identifier: MIT
#include <tandem/io/unix_datagram.hpp>
#include <tandem/io/unix_listener.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "no_descriptors.hpp"
#include "refusal_text.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::native_descriptor;
using tandem::io::received_message;
using tandem::io::unix_datagram;
using tandem::io::unix_endpoint;
using tandem::io::unix_listener;
using tandem::io::unix_seqpacket;
using tandem::io::unix_stream;
using tandem::test::bytes_of;
using tandem::test::failure_of;
using tandem::test::no_descriptors;
using tandem::test::on_every_home;
using tandem::test::refusal_code;

TEST(unix_faults, a_peer_that_is_gone_ends_each_call) {
  on_every_home([]() -> task<void> {
    std::array<std::byte, 8> room;
    auto [one, other] = unix_stream::pair();
    other.close();
    EXPECT_EQ(co_await one.read(room), 0U);
    EXPECT_EQ((co_await one.read_with(room)).bytes, 0U);
    EXPECT_EQ((co_await as_result(one.write_all(bytes_of("x")))).error(), std::errc::broken_pipe);
    const std::array<native_descriptor, 1> sent{one.native_handle()};
    EXPECT_EQ((co_await as_result(one.write_with(bytes_of("x"), sent))).error(),
              std::errc::broken_pipe);
    auto [first, second] = unix_seqpacket::pair();
    second.close();
    EXPECT_EQ((co_await first.receive(room)).bytes, 0U);
    EXPECT_EQ((co_await as_result(first.send(bytes_of("x")))).error(), std::errc::broken_pipe);
  });
}

TEST(unix_faults, a_peer_that_leaves_what_was_sent_to_it_resets_the_connection) {
  on_every_home([]() -> task<void> {
    std::array<std::byte, 8> room;
    auto [one, other] = unix_stream::pair();
    co_await one.write_all(bytes_of("never read"));
    other.close();
    EXPECT_EQ((co_await as_result(one.read(room))).error(), std::errc::connection_reset);
    auto [first, second] = unix_seqpacket::pair();
    co_await first.send(bytes_of("never read"));
    second.close();
    EXPECT_EQ((co_await as_result(first.receive(room))).error(), std::errc::connection_reset);
  });
}

TEST(unix_faults, datagrams_to_nobody_are_told_and_do_not_wait) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const auto here = unix_endpoint::path(folder / "here");
    unix_datagram sender = unix_datagram::bind(unix_endpoint());
    const auto absent = co_await as_result(sender.send_to(bytes_of("x"), here));
    EXPECT_EQ(absent.error(), std::errc::no_such_file_or_directory);
    unix_datagram receiver = unix_datagram::bind(here);
    sender.connect_to(here);
    receiver.close();
    const auto refused = co_await as_result(sender.send(bytes_of("x")));
    EXPECT_EQ(refused.error(), std::errc::connection_refused);
  });
}

TEST(unix_faults, what_was_not_sent_is_told_with_the_call_and_the_reason) {
  on_every_home([]() -> task<void> {
    constexpr native_descriptor closed = 1 << 20;
    std::array<std::byte, 8> room;
    auto [one, other] = unix_stream::pair();
    const std::array<native_descriptor, 2> sent{one.native_handle(), closed};
    EXPECT_EQ(
        co_await failure_of(one.write_with(bytes_of("x"), sent)),
        "unix_stream::write_with: descriptor 1048576 (no. 1 of the list) is not open: Bad file "
        "descriptor");
    one.close();
    EXPECT_EQ(co_await failure_of(one.write_with(bytes_of("x"), other.native_handle())),
              "unix_stream::write_with: the socket is not open: Bad file descriptor");
    EXPECT_EQ(co_await failure_of(one.read_with(room)),
              "unix_stream::read_with: the socket is not open: Bad file descriptor");

    const std::vector<std::byte> huge(std::size_t{8} << 20);
    auto [first, second] = unix_seqpacket::pair();
    EXPECT_EQ(co_await failure_of(first.send(huge)),
              "unix_seqpacket::send: 8388608 bytes; a message has to fit the send buffer of its "
              "socket (SO_SNDBUF): Message too long");
    second = unix_seqpacket();
    EXPECT_EQ(co_await failure_of(first.send(bytes_of("x"))), "unix_seqpacket::send: Broken pipe");
    EXPECT_EQ(co_await failure_of(second.receive(room)),
              "unix_seqpacket::receive: the socket is not open: Bad file descriptor");

    const tandem::test::temporary_folder folder;
    const auto here = unix_endpoint::path(folder / "here");
    const unix_datagram receiver = unix_datagram::bind(here);
    unix_datagram sender = unix_datagram::bind(unix_endpoint());
    const std::string call = "unix_datagram::send_to " + folder / "here";
    EXPECT_EQ(co_await failure_of(sender.send_to(huge, here)),
              call +
                  ": 8388608 bytes; a message has to fit the send buffer of its socket "
                  "(SO_SNDBUF): Message too long");
    EXPECT_EQ(co_await failure_of(sender.send_to(bytes_of("x"), here, closed)),
              call + ": descriptor 1048576 (no. 0 of the list) is not open: Bad file descriptor");
    sender.close();
    EXPECT_EQ(co_await failure_of(sender.send_to(bytes_of("x"), here)),
              call + ": the socket is not open: Bad file descriptor");
    EXPECT_EQ(co_await failure_of(sender.send(bytes_of("x"))),
              "unix_datagram::send: the socket is not open: Bad file descriptor");
  });
}

TEST(unix_faults, without_descriptors_each_way_to_open_one_says_so) {
  on_every_home([]() -> task<void> {
    const tandem::test::temporary_folder folder;
    const auto name = unix_endpoint::path(folder / "socket");
    const auto expected = std::errc::too_many_files_open;
    unix_listener listener = unix_listener::bind(name);
    unix_stream waiting = co_await unix_stream::connect(name);
    std::error_code accepting, connecting, pairing, binding;
    {
      const no_descriptors none;
      accepting = (co_await as_result(listener.accept())).error();
      connecting = (co_await as_result(unix_stream::connect(name))).error();
      pairing = refusal_code([] { (void)unix_stream::pair(); });
      binding = refusal_code([&] { (void)unix_datagram::bind(name); });
    }
    EXPECT_EQ(accepting, expected);
    EXPECT_EQ(connecting, expected);
    EXPECT_EQ(pairing, expected);
    EXPECT_EQ(binding, expected);
    unix_stream accepted = co_await listener.accept();
    EXPECT_TRUE(accepted.is_open()) << "the connection has waited";
  });
}

TEST(unix_faults, descriptors_that_find_no_number_here_are_told_and_the_bytes_come) {
  on_every_home([]() -> task<void> {
    auto [one, other] = unix_seqpacket::pair();
    const std::array<native_descriptor, 2> sent{one.native_handle(), one.native_handle()};
    co_await one.send(bytes_of("two"), sent);
    co_await one.send(bytes_of("two"), sent);
    std::array<std::byte, 8> room;
    {
      const no_descriptors few(1);
      const received_message got = co_await other.receive(room);
      EXPECT_EQ(got.bytes, 3U);
      EXPECT_LE(got.descriptors.size(), 1U);  // the pool itself may need the number for a moment
      EXPECT_TRUE(got.lacks_descriptors);
    }
    const received_message got = co_await other.receive(room);
    EXPECT_EQ(got.descriptors.size(), 2U);
    EXPECT_FALSE(got.lacks_descriptors);
  });
}

}  // namespace
