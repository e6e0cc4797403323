// never_lost_peers.cpp: peers that vanish.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <tandem/as_result.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <thread>
#include <vector>

#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::endpoint;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::on_every_home;
using tandem::test::open_descriptors;
using tandem::test::pattern;
using tandem::test::read_to_end;

enum class waiting_for : unsigned char { read, receive, write, readable };

/// Waits so at the near end; what ended it.
task<std::error_code> waits(tcp_stream& near, waiting_for what) {
  std::array<std::byte, 16> room{};
  switch (what) {
    case waiting_for::read: co_return (co_await as_result(near.read(room))).error();
    case waiting_for::receive: co_return (co_await as_result(near.receive())).error();
    case waiting_for::write: {
      const std::vector<std::byte> much(20'000'000);
      co_return (co_await as_result(near.write_all(much))).error();
    }
    case waiting_for::readable: {
      const std::error_code readiness =
          (co_await as_result(tandem::io::readable(near.native_handle()))).error();
      EXPECT_FALSE(readiness) << readiness.message();
      co_return (co_await as_result(near.read(room))).error();
    }
  }
  co_return std::error_code();
}

TEST(never_lost, a_peer_that_resets_ends_whatever_waits_for_it) {
  const std::size_t before = open_descriptors();
  on_every_home([]() -> task<void> {
    for (const waiting_for what :
         {waiting_for::read, waiting_for::receive, waiting_for::write, waiting_for::readable}) {
      connection c = co_await make_connection();
      tandem::join_handle<std::error_code> here =
          tandem::spawn(c.client.thread_executor(), waits(c.client, what));
      co_await tandem::sleep_for(3ms);
      EXPECT_FALSE(here.is_done());
      c.server.abort();
      const std::error_code failed = co_await here;
      EXPECT_TRUE(failed == std::errc::connection_reset || failed == std::errc::broken_pipe)
          << static_cast<int>(what) << ": " << failed.message();
    }
  });
  for (int i = 0; i < 2000 && open_descriptors() != before; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(open_descriptors(), before);
}

TEST(never_lost, a_peer_that_leaves_ends_reads_and_leaves_what_it_sent) {
  on_every_home([]() -> task<void> {
    for (const waiting_for what : {waiting_for::read, waiting_for::receive}) {
      connection c = co_await make_connection();
      tandem::join_handle<std::error_code> here = tandem::spawn(waits(c.client, what));
      co_await tandem::sleep_for(2ms);
      co_await c.server.write_all(pattern(3, 1));
      c.server.close();
      EXPECT_FALSE(co_await here);
      if (what == waiting_for::read) {
        EXPECT_TRUE((co_await read_to_end(c.client)).empty());
      } else {
        EXPECT_TRUE((co_await c.client.receive()).empty());
      }
    }
  });
}

TEST(never_lost, peers_that_leave_before_they_are_accepted_harm_nobody) {
  on_every_home([]() -> task<void> {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    const endpoint here = listener.local_endpoint();
    for (int i = 0; i < 20; ++i) {
      tcp_stream gone = co_await tcp_stream::connect(here);
      if (i % 2 == 0) {
        gone.abort();
      } else {
        gone.close();
      }
    }
    tcp_stream last = co_await tcp_stream::connect(here);
    co_await last.write_all(pattern(7, 1));
    last.shutdown();
    // Accepted or not, the dead ones say so; then comes the living one.
    std::size_t seen = 0;
    for (int i = 0; i < 21 && seen == 0; ++i) {
      tcp_stream accepted = co_await listener.accept();
      std::array<std::byte, 16> room{};
      auto got = co_await as_result(accepted.read(room));
      if (got.has_value()) seen = got.value();
    }
    EXPECT_EQ(seen, 7U);
  });
}

}  // namespace
