// tls_duplex_stress.cpp: both directions of TLS at once, with new keys from both sides, on every home: no deadlock.
// SPDX-License-Identifier: MIT
//
// A read of TLS may owe the peer an answer, and a write may find the socket full: a library in which
// one waits for the other stands still when both sides' buffers are full. 1 GiB each way in the
// nightly run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <utility>
#include <vector>

#include "io/tls/counted_sessions.hpp"
#include "io/tls/tls_support.hpp"
#include "io_homes.hpp"
#include "sanitized.hpp"
#include "seeded.hpp"

namespace {

using tandem::task;
using tandem::io::tls_stream;
using tandem::test::homes;
using tandem::test::tls_pair;

namespace tls = tandem::io::tls;

constexpr std::size_t mebibyte = std::size_t{1} << 20;

/// What is sent: a row of bytes again and again, whose length is no power of two.
class endless_bytes {
 public:
  static std::span<const std::byte> at(std::uint64_t position, std::size_t count) {
    return std::span<const std::byte>(twice()).subspan(position % period, count);
  }
  static constexpr std::size_t most = 300'000;

 private:
  static constexpr std::size_t period = 1'000'003;
  static const std::vector<std::byte>& twice() {
    static const std::vector<std::byte> made = [] {
      std::vector<std::byte> row = tandem::test::pattern(period, 11);
      row.resize(period + most);
      std::copy_n(row.begin(), most, row.begin() + static_cast<std::ptrdiff_t>(period));
      return row;
    }();
    return made;
  }
};

/// What one test sends each way, and how.
class load {
 public:
  std::uint64_t bytes = 0;
  std::size_t largest = 0;  // of a write
  bool updates_keys = true;
};

task<void> send(tls_stream& to, load what, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  for (std::uint64_t at = 0; at < what.bytes;) {
    const auto most = std::min<std::uint64_t>(what.largest, what.bytes - at);
    const auto part = endless_bytes::at(at, static_cast<std::size_t>(1 + dice() % most));
    co_await to.write_all(part);
    at += part.size();
    if (what.updates_keys && dice() % 16 == 0) to.update_keys(dice() % 2 == 0);
  }
  to.shutdown();
}

task<void> receive(tls_stream& from, load what, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  std::vector<std::byte> room(endless_bytes::most);
  std::uint64_t at = 0;
  while (true) {
    const auto part = std::span(room).first(1 + dice() % what.largest);
    const std::size_t n = co_await from.read(part);
    if (n == 0) break;
    const bool same = std::memcmp(room.data(), endless_bytes::at(at, n).data(), n) == 0;
    EXPECT_TRUE(same) << "after " << at << " bytes";
    at += n;
    if (!same) co_return;
  }
  EXPECT_EQ(at, what.bytes);
}

task<void> both_ways(homes& at, std::uint64_t seed, load what, tandem::io::tcp_options options,
                     tls::client_options client) {
  std::mt19937_64 dice(seed);
  tandem::test::connection plain = co_await tandem::test::make_connection(options);
  auto ends = co_await tandem::test::shake_hands(
      tandem::test::any_pair(std::move(plain.client), std::move(plain.server)),
      tls::client_context(client), tls::server_context(tandem::test::served_by()));
  EXPECT_TRUE(ends.client.stream.is_open() && ends.server.stream.is_open());
  tls_stream& one = ends.client.stream;
  tls_stream& other = ends.server.stream;
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(at.any(dice), send(one, what, dice()));
    scope.spawn(at.any(dice), send(other, what, dice()));
    scope.spawn(at.any(dice), receive(one, what, dice()));
    scope.spawn(at.any(dice), receive(other, what, dice()));
    co_return;
  });
  EXPECT_TRUE(co_await one.finish(std::chrono::seconds(60)));
  EXPECT_TRUE(co_await other.finish(std::chrono::seconds(60)));
}

/// Rounds of `what`.
void exchange(load what, tandem::io::tcp_options options = {},
              tls::client_options client = tandem::test::trusting()) {
  homes at;
  int rounds = 0;
  tandem::test::stress_for(std::chrono::milliseconds(500), [&](std::mt19937_64& random) {
    at.rt.run(both_ways(at, random(), what, options, client));
    EXPECT_TRUE(at.rt->drain(std::chrono::seconds(60)));
    EXPECT_EQ(tandem::test::live_ssl_objects(), 0);
    ++rounds;
  });
  std::printf("%d times %llu KiB each way\n", rounds,
              static_cast<unsigned long long>(what.bytes / 1024));
}

std::uint64_t amount(std::uint64_t of_a_night) {
  return tandem::test::is_nightly() ? of_a_night : 8 * mebibyte;
}

TEST(tls_duplex, a_gibibyte_each_way_with_new_keys_comes_through) {
  load what;
  what.bytes = amount(1024 * mebibyte);
  what.largest = endless_bytes::most;
  exchange(what);
}

TEST(tls_duplex, both_directions_may_be_full_again_and_again) {
  tandem::io::tcp_options tiny;
  tiny.send_buffer_bytes = 4096;
  tiny.receive_buffer_bytes = 4096;
  load what;
  what.bytes = amount(64 * mebibyte) / 4;
  what.largest = 50'000;
  exchange(what, tiny);
}

TEST(tls_duplex, small_writes_and_reads_meet_many_new_keys) {
  load what;
  what.bytes = mebibyte / (tandem::test::sanitized ? 8 : 2);
  what.largest = 900;
  exchange(what);
}

TEST(tls_duplex, the_older_version_goes_both_ways_too) {
  tls::client_options client = tandem::test::trusting();
  client.maximum_version = tls::version::tls1_2;
  load what;
  what.bytes = amount(128 * mebibyte);
  what.largest = endless_bytes::most;
  what.updates_keys = false;
  exchange(what, {}, client);
}

}  // namespace
