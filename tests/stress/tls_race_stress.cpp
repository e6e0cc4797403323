// tls_race_stress.cpp: stops, drops and closes of TLS over TCP at any time, on every home: each side sees an end.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <random>
#include <tandem/as_result.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <utility>
#include <vector>

#include "counted_stops.hpp"
#include "io/tls/counted_sessions.hpp"
#include "io/tls/tls_support.hpp"
#include "io_homes.hpp"
#include "seeded.hpp"
#include "spin.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::tls_stream;
using tandem::test::homes;
using tandem::test::open_descriptors;
using tandem::test::spin;
using tandem::test::stop_ends;
using tandem::test::tls_pair;

namespace tls = tandem::io::tls;

const tls::client_context& client() {
  static const tls::client_context made(tandem::test::trusting());
  return made;
}
const tls::server_context& server() {
  static const tls::server_context made(tandem::test::served_by());
  return made;
}

/// What sends for a stream that was dropped may go on for a moment.
void expect_nothing_left(homes& at, std::size_t descriptors) {
  EXPECT_TRUE(at.rt->drain(60s));
  EXPECT_EQ(open_descriptors(), descriptors);
  EXPECT_EQ(tandem::test::live_ssl_objects(), 0);
}

/// Connections whose closes leave nothing behind: thousands a second would use up the ports.
task<tandem::test::connection> connection_without_trace() {
  tandem::test::connection plain = co_await tandem::test::make_connection();
  plain.client.set_linger(0s);
  plain.server.set_linger(0s);
  co_return plain;
}

/// Some bytes and their echo, and a farewell. @returns false if the peer has gone
task<bool> talk(task<tls_stream> handshake) {
  auto shaken = co_await as_result(std::move(handshake));
  if (!shaken) {
    if (shaken.is_cancelled()) shaken.value();  // throws
    co_return false;
  }
  tls_stream stream = std::move(shaken).value();
  std::array<std::byte, 200> room{};
  try {
    co_await stream.write_all(room);
    for (std::size_t have = 0; have < room.size();) {
      const std::size_t n = co_await stream.read(room);
      if (n == 0) co_return false;
      have += n;
    }
    co_return co_await stream.finish(10s);
  } catch (const tandem::operation_cancelled&) {
    throw;
  } catch (const std::system_error&) {
    co_return false;
  }
}

template <class T>
task<T> note_begin(task<T> body, std::atomic<bool>& has_begun) {
  has_begun = true;
  co_return co_await std::move(body);
}

/// The handle is gone afterwards, and with it the connection of a task that never began.
task<tandem::result<bool>> stop_now(tandem::join_handle<bool> running) {
  running.cancel();
  co_return co_await as_result(std::move(running));
}

/// One connection, of which one side is stopped at any time.
task<void> stop_one_side(homes& at, std::uint64_t seed, stop_ends& all) {
  std::mt19937_64 dice(seed);
  tandem::test::connection plain = co_await connection_without_trace();
  std::atomic<bool> has_begun{false};
  auto one = talk(tls::connect(std::move(plain.client), "localhost", client()));
  auto other = talk(tls::accept(std::move(plain.server), server()));
  if (dice() % 2 == 0) std::swap(one, other);
  auto stopped = tandem::spawn(at.any(dice), note_begin(std::move(one), has_begun));
  auto peer = tandem::spawn(at.any(dice), std::move(other));
  if (dice() % 3 != 0) {
    co_await tandem::sleep_for(std::chrono::microseconds(dice() % 4000));
  } else {
    spin(dice() % 40'000);
  }
  ++all.made;
  const auto end = co_await stop_now(std::move(stopped));
  if (!has_begun) {
    ++all.before;
  } else if (end) {
    ++all.done;
  } else {
    EXPECT_TRUE(end.is_cancelled());
    ++all.stopped;
  }
  const bool peer_well = co_await std::move(peer);  // it ends
  EXPECT_TRUE(peer_well || !end || !end.value());
}

TEST(tls_race, a_stop_at_any_time_ends_both_sides_and_leaves_nothing) {
  homes at;
  const std::size_t before = open_descriptors();
  stop_ends all;
  const int wanted = tandem::test::quota(10'000);
  tandem::test::in_counted_rounds(
      [&] { return tandem::test::is_enough(all, wanted); },
      [&](std::mt19937_64& random) {
        at.rt.run([](homes& h, std::mt19937_64& dice, stop_ends& count) -> task<void> {
          co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
            for (int i = 0; i < 8; ++i) scope.spawn(stop_one_side(h, dice(), count));
            co_return;
          });
        }(at, random, all));
        expect_nothing_left(at, before);
      });
  tandem::test::expect_one_end_each(all, "tls");
  tandem::test::expect_all_ends(all, wanted, "tls");
}

/// Sends until it cannot any more, and reads what comes.
task<void> flood(tls_stream stream, homes& at, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  auto reading = tandem::spawn(at.any(dice), [](tls_stream& from) -> task<void> {
    std::vector<std::byte> room(4000);
    try {
      while (co_await from.read(room) != 0) {}
    } catch (const std::system_error&) {
      // it was dropped there: that is an end, too
    }
  }(stream));
  const std::vector<std::byte> much(20'000);
  try {
    for (int i = 0; i < 400; ++i) co_await stream.write_all(much);
  } catch (const std::system_error&) {
    // likewise
  }
  co_await std::move(reading);
}

/// Some steps of a life that may be over after each of them.
task<void> live_and_go(tls_stream stream, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  std::vector<std::byte> room(1 + dice() % 30'000);
  for (std::uint64_t left = dice() % 6; left > 0; --left) {
    const auto limit = std::chrono::microseconds(dice() % 500);
    switch (dice() % 6) {
      case 0:
      case 1: (void)co_await as_result(stream.read(room)); break;
      case 2: (void)co_await as_result(tandem::with_timeout(limit, stream.write(room))); break;
      case 3: (void)co_await as_result(tandem::with_timeout(limit, stream.read(room))); break;
      case 4: stream.update_keys(dice() % 2 == 0); break;
      default: (void)co_await as_result(tandem::with_timeout(limit, stream.write_all(room)));
    }
  }
  switch (dice() % 5) {
    case 0: break;  // dropped as it is
    case 1: stream.close(); break;
    case 2: stream = tls_stream(); break;
    case 3: stream.shutdown(); break;
    default: (void)co_await stream.finish(std::chrono::microseconds(dice() % 3000));
  }
}

TEST(tls_race, a_stream_may_be_dropped_in_any_state_while_its_peer_sends) {
  homes at;
  const std::size_t before = open_descriptors();
  tandem::test::stress([&](std::mt19937_64& random) {
    at.rt.run([](homes& h, std::mt19937_64& dice) -> task<void> {
      tandem::test::connection plain = co_await connection_without_trace();
      tls_pair both = co_await tandem::test::make_tls_pair_over(
          tandem::test::any_pair(std::move(plain.client), std::move(plain.server)));
      if (dice() % 2 == 0) std::swap(both.client, both.server);
      auto sends = tandem::spawn(h.any(dice), flood(std::move(both.client), h, dice()));
      co_await tandem::spawn(h.any(dice), live_and_go(std::move(both.server), dice()));
      co_await std::move(sends);
    }(at, random));
    expect_nothing_left(at, before);
  });
}

}  // namespace
