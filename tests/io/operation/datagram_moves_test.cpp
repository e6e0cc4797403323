// datagram_moves_test.cpp: datagrams while threads come and go, stops at any moment, and peers that are not there.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstring>
#include <span>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/install.hpp>
#include <tandem/run.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "io/support/io_support.hpp"
#include "io/support/udp_socket.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::address_family;
using tandem::io::endpoint;
using tandem::io::received_into;
using tandem::test::bytes_of;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::test_runtime;
using tandem::test::threads_between;
using tandem::test::udp_socket;

using bytes = std::vector<std::byte>;

/// Numbered datagrams, each answered; receives are stopped all the time; none is lost or doubled.
task<void> one_pair(int rounds, std::atomic<int>& done) {
  udp_socket here;
  udp_socket there;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn([](udp_socket& socket, int count) -> task<void> {
      std::array<std::byte, 16> room{};
      for (int i = 0, tries = 0; i < count; ++tries) {
        const auto limit = std::chrono::microseconds(tries % 7 * 40);
        auto got = co_await as_result(tandem::with_timeout(limit, socket.receive(room)));
        if (!got) {
          EXPECT_TRUE(got.is_cancelled()) << got.error().message();
          continue;
        }
        const received_into answer = got.value();
        EXPECT_EQ(answer.bytes, sizeof i);
        int number = -1;
        std::memcpy(&number, room.data(), sizeof number);
        EXPECT_EQ(number, i);
        co_await socket.send(std::span<const std::byte>(room).first(answer.bytes), answer.sender);
        ++i;
      }
    }(there, rounds));
    std::array<std::byte, 16> room{};
    for (int i = 0; i < rounds; ++i) {
      if (i % 5 == 0) co_await tandem::sleep_for(100us);
      co_await here.send(std::as_bytes(std::span(&i, 1)), there.where());
      const received_into got = co_await here.receive(room);
      EXPECT_EQ(got.sender, there.where());
      EXPECT_EQ(std::memcmp(room.data(), &i, sizeof i), 0);
    }
  });
  ++done;
}

TEST(datagram_moves, none_is_lost_while_threads_come_and_go_and_receives_are_stopped) {
  test_runtime rt;
  tandem::io::completion_pool& pool = tandem::io::install(*rt, threads_between(1, 4));
  std::atomic<int> done{0};
  constexpr int pairs = 6;
  std::vector<tandem::join_handle<void>> all;
  for (int i = 0; i < pairs; ++i) {
    tandem::executor& home =
        i % 2 == 0 ? static_cast<tandem::executor&>(rt->workers()) : pool.executor();
    all.push_back(rt->spawn(home, one_pair(200, done)));
  }
  for (unsigned i = 0; done != pairs; ++i) {
    pool.resize(1 + i % 4);
    std::this_thread::sleep_for(2ms);
  }
  rt.run([](auto& handles) -> task<void> {
    for (auto& each : handles) co_await std::move(each);
  }(all));
}

TEST(datagram_moves, a_peer_that_is_not_there_is_an_error_of_a_connected_socket) {
  on_every_home([]() -> task<void> {
    for (const bool waits : {false, true}) {
      udp_socket here;
      // Not on 127.0.0.1, where the port of a socket that was closed is anybody's.
      const endpoint nobody = endpoint::parse("127.1.2.3:9");
      EXPECT_EQ(tandem::test::connect_plain(here.get().descriptor(), 9, 0x7F010203), std::errc{});
      bytes room(10);
      if (waits) {
        co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
          scope.spawn([](udp_socket& of, bytes& into) -> task<void> {
            EXPECT_EQ((co_await as_result(of.receive(into))).error(),
                      std::errc::connection_refused);
          }(here, room));
          co_await tandem::sleep_for(2ms);
          co_await here.send(bytes_of("x"), nobody);
        });
      } else {
        co_await here.send(bytes_of("x"), nobody);
        EXPECT_EQ((co_await as_result(here.receive(room))).error(), std::errc::connection_refused);
      }
    }
  });
}

TEST(datagram_moves, the_longest_one_comes_whole) {
  on_every_home([]() -> task<void> {
    for (const address_family family : {address_family::ipv4, address_family::ipv6}) {
      udp_socket here(family);
      udp_socket there(family);
      const bytes sent = pattern(65'507, 1);
      bytes room(100'000);
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        scope.spawn([](udp_socket& to, bytes& into) -> task<void> {
          const received_into got = co_await to.receive(into);
          EXPECT_EQ(got.bytes, 65'507U);
          EXPECT_FALSE(got.is_cut);
        }(there, room));
        co_await tandem::yield();
        co_await here.send(sent, there.where());
      });
      room.resize(sent.size());
      EXPECT_EQ(room, sent);
    }
  });
}

#if !defined(NDEBUG)
using datagram_moves_death = ::testing::Test;

task<void> close_while_receiving() {
  udp_socket socket;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn([](udp_socket& of) -> task<void> {
      std::array<std::byte, 4> room;
      (void)co_await of.receive(room);
    }(socket));
    co_await tandem::yield();  // one worker: it has begun
    socket.close();
  });
}

TEST(datagram_moves_death, close_while_it_receives_is_a_broken_precondition) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  tandem::runtime_options options;
  options.min_threads = 1;
  options.max_threads = 1;
  EXPECT_DEATH(tandem::run(close_while_receiving(), options), "while an operation was in flight");
}
#endif

}  // namespace
