// tls_half_message_stress.cpp: writes in the midst of a message of the peer's TLS, beside reads, on every home.
// SPDX-License-Identifier: MIT
//
// OpenSSL writes nothing before the rest of the message has come: a write that nobody tells of it hangs.
// Protocol tls_sending, half_message and go_on: io/src/tls/README.md.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <utility>
#include <vector>

#include "io/tls/raw_peer.hpp"
#include "io_homes.hpp"
#include "seeded.hpp"
#include "spin.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::tls_stream;
using tandem::test::any_pair;
using tandem::test::homes;
using tandem::test::raw_context;
using tandem::test::raw_peer;
using tandem::test::raw_side;
using tandem::test::spin;

/// Reads until the end; gives up now and then, and goes on.
task<std::size_t> read_all(tls_stream& from, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  std::size_t all = 0;
  while (true) {
    std::array<std::byte, 16> room;
    if (dice() % 4 != 0) {  // without a limit, which would take time
      const std::size_t count = co_await from.read(room);
      if (count == 0) co_return all;
      all += count;
      continue;
    }
    const auto limit = std::chrono::microseconds(dice() % 300);
    const auto got = co_await as_result(tandem::with_timeout(limit, from.read(room)));
    if (got.is_cancelled()) continue;
    if (got.value() == 0) co_return all;
    all += got.value();
  }
}

task<void> write_later(tls_stream& to, std::uint64_t turns) {
  spin(turns);
  co_await to.write_all(tandem::test::bytes_of("hello"));
}

/// A ticket in two parts, with a write in their midst. @returns how many bytes of data were sent
task<std::size_t> interrupt_once(homes& at, tls_stream& client, raw_peer& server,
                                 std::mt19937_64& dice) {
  const std::string ticket = server.ticket();
  const std::size_t first = 1 + dice() % (ticket.size() - 1);
  const std::string data = dice() % 4 == 0 ? server.encrypted("data") : std::string();
  co_await server.send(ticket.substr(0, first));
  spin(dice() % 2 * (dice() % 20'000));
  auto writing = tandem::spawn(at.any(dice), write_later(client, dice() % 20'000));
  spin(dice() % 20'000);
  co_await server.send(ticket.substr(first) + data);
  co_await std::move(writing);
  EXPECT_EQ(co_await server.read(5), "hello");
  co_return data.empty() ? 0 : 4;
}

task<void> interrupt(homes& at, std::mt19937_64& dice, const raw_context& context, bool is_tcp) {
  any_pair below = tandem::test::over_memory();
  if (is_tcp) {
    tandem::test::connection plain = co_await tandem::test::make_connection();
    plain.server.set_no_delay(true);
    below = any_pair(std::move(plain.client), std::move(plain.server));
  }
  raw_peer server(context, std::move(below.server));
  auto connecting = tandem::spawn(
      tandem::io::tls::connect(std::move(below.client), "localhost", tandem::test::trusting()));
  co_await server.shake_hands();
  tls_stream client = co_await std::move(connecting);
  std::size_t sent = 0;
  auto reading = tandem::spawn(at.any(dice), read_all(client, dice()));
  for (int i = 0; i < 40; ++i) sent += co_await interrupt_once(at, client, server, dice);
  client.shutdown();
  EXPECT_EQ(co_await server.read(1), "");
  EXPECT_TRUE(server.has_ended_well());
  co_await server.send(server.goodbye());
  EXPECT_EQ(co_await std::move(reading), sent);
}

void interrupt_over(bool is_tcp) {
  const raw_context context(raw_side::server);
  context.make_tickets_large();
  homes at;
  int connections = 0;
  tandem::test::stress_for(std::chrono::seconds(1), [&](std::mt19937_64& random) {
    at.rt.run(interrupt(at, random, context, is_tcp));
    ++connections;
  });
  std::printf("%d connections\n", connections);
}

TEST(tls_half_message, over_a_stream_that_can_be_tried_a_write_goes_on_when_its_rest_has_come) {
  interrupt_over(true);
}
TEST(tls_half_message, over_any_stream_a_write_goes_on_when_its_rest_has_come) {
  interrupt_over(false);
}

}  // namespace
