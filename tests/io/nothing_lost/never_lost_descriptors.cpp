// never_lost_descriptors.cpp: descriptors whose mode others set.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <vector>

#include "io/support/io_support.hpp"
#include "plain_sockets.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::endpoint;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::pattern;
using tandem::test::read_to_end;

// Somebody who shares the socket may set its mode; we wait all the same.
TEST(never_lost, a_socket_that_somebody_made_non_blocking_is_waited_for) {
  tandem::test::on_every_home([]() -> task<void> {
    std::uint16_t port = 0;
    const auto listening = tandem::test::listening_plain(port);
    tcp_listener listener = tcp_listener::from_native(tandem::test::duplicate_plain(listening));
    tandem::test::set_blocking(listening, false);
    const auto accepts = [](tcp_listener& l) -> task<tcp_stream> { co_return co_await l.accept(); };
    const auto reads = [](tcp_stream& from) -> task<std::size_t> {
      std::array<std::byte, 8> room{};
      co_return co_await from.read(room);
    };
    {
      tandem::join_handle<tcp_stream> accepting = tandem::spawn(accepts(listener));
      co_await tandem::sleep_for(2ms);
      tcp_stream client = co_await tcp_stream::connect(endpoint::loopback_v4(port));
      tcp_stream accepted = co_await accepting;
      const tandem::io::native_descriptor shared = accepted.release();
      tcp_stream server = tcp_stream::from_native(shared);
      tandem::test::set_blocking(shared, false);
      tandem::join_handle<std::size_t> reading = tandem::spawn(reads(server));
      co_await tandem::sleep_for(2ms);
      co_await client.write_all(pattern(3, 1));
      EXPECT_EQ(co_await reading, 3U);
      // As much as makes a writer wait.
      const std::vector<std::byte> much = pattern(8'000'000, 2);
      tandem::join_handle<void> writing =
          tandem::spawn([](tcp_stream& to, const std::vector<std::byte>& bytes) -> task<void> {
            co_await to.write_all(bytes);
            to.shutdown();
          }(server, much));
      EXPECT_TRUE((co_await read_to_end(client)) == much);
      co_await writing;
    }
    tandem::test::close_plain(listening);
  });
}

}  // namespace
