// tls_stop_stress.cpp: stops at every await of TLS: each side ends, nothing is left, no byte is lost.
// SPDX-License-Identifier: MIT
//
// By a virtual clock, so a seed repeats everything: the stop comes after the first step of the
// program, after the second one, and so on (late ones are taken by chance, which a seed is) until the
// program is over before it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <random>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/runtime.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <tandem/virtual_time.hpp>
#include <tandem/when_all.hpp>
#include <utility>
#include <vector>

#include "fuzz/fuzz_stream.hpp"
#include "io/tls/counted_sessions.hpp"
#include "io/tls/tls_support.hpp"
#include "seeded.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::any_stream;
using tandem::io::tls_stream;
using tandem::test::fuzz_pipe;
using tandem::test::fuzz_stream;
using tandem::test::fuzz_wire;
using tandem::test::trying_fuzz_stream;

namespace tls = tandem::io::tls;

/// Contexts of each home of handshakes and each version.
class contexts {
 public:
  explicit contexts(tls::handshake_home home, tls::version most)
      : client(with(tandem::test::trusting(), home, most)),
        server(with(tandem::test::served_by(), home, most)) {}
  tls::client_context client;
  tls::server_context server;

 private:
  template <class Options>
  static Options with(Options options, tls::handshake_home home, tls::version most) {
    options.handshake_on = home;
    options.maximum_version = most;
    return options;
  }
};
const contexts& some_contexts(std::uint64_t dice) {
  using tls::handshake_home;
  using tls::version;
  static const std::array<contexts, 4> all{
      contexts(handshake_home::workers, version::tls1_3),
      contexts(handshake_home::caller, version::tls1_3),
      contexts(handshake_home::workers, version::tls1_2),
      contexts(handshake_home::caller, version::tls1_2),
  };
  return all.at(dice % all.size());
}

/// Passes what is written on a little later.
class slow_wire : public fuzz_wire {
 public:
  slow_wire(std::shared_ptr<fuzz_pipe> to, std::uint64_t seed)
      : fuzz_wire(std::move(to)), dice_(seed) {}
  task<void> pass(std::vector<std::byte> flight) override {
    if (dice_() % 2 == 0) co_await tandem::sleep_for(std::chrono::microseconds(dice_() % 300));
    co_await to().give(std::move(flight));
  }

 private:
  std::mt19937_64 dice_;
};

/// Streams with little room and short writes, by `dice`.
tandem::test::any_pair narrow_connection(std::mt19937_64& dice) {
  const auto there = std::make_shared<fuzz_pipe>(1 + dice() % 8);
  const auto back = std::make_shared<fuzz_pipe>(1 + dice() % 8);
  const auto up = std::make_shared<slow_wire>(there, dice());
  const auto down = std::make_shared<slow_wire>(back, dice());
  const std::size_t most = dice() % 2 == 0 ? 100 + dice() % 2000 : std::size_t{1} << 20;
  if (dice() % 2 == 0) {
    return {trying_fuzz_stream(back, up, most), trying_fuzz_stream(there, down, most)};
  }
  return {fuzz_stream(back, up, most), fuzz_stream(there, down, most)};
}

tandem::runtime_options virtual_options(std::uint64_t seed) {
  tandem::runtime_options options;
  options.clock = tandem::virtual_time(seed, 1 + static_cast<unsigned>(seed % 3));
  options.on_suppressed_exception = [](const std::exception_ptr&) {};
  return options;
}

enum class stage : std::uint8_t { shakes, talks, finishes, is_over };
constexpr std::size_t stages = 4;

/// How far one side has come, and how it has ended.
class side {
 public:
  stage at = stage::shakes;
  bool farewell = false;
  bool stopped = false;
  std::string failure;  // empty: none
};

constexpr std::size_t said = 5000;

task<void> hear(tls_stream& stream, std::span<const std::byte> expected) {
  std::vector<std::byte> in(expected.size());
  for (std::size_t have = 0; have < in.size();) {
    const std::size_t n = co_await stream.read(std::span(in).subspan(have));
    if (n == 0) throw std::runtime_error("the peer has ended in order, and too early");
    have += n;
  }
  EXPECT_TRUE(std::ranges::equal(in, expected));
}

task<void> converse(task<tls_stream> handshake, side& me) {
  try {
    tls_stream stream = co_await std::move(handshake);
    me.at = stage::talks;
    const std::vector<std::byte> said_by_both = tandem::test::pattern(said, 1);
    co_await tandem::when_all(stream.write_all(said_by_both), hear(stream, said_by_both));
    me.at = stage::finishes;
    me.farewell = co_await stream.finish(1h);
    me.at = stage::is_over;
  } catch (const tandem::operation_cancelled&) {
    me.stopped = true;
    throw;
  } catch (const std::exception& failure) {
    me.failure = failure.what();
  }
}

/// What must be true of the side that was not stopped: it has ended well, or by an error.
void expect_an_end(const side& other, const side& stopped) {
  EXPECT_FALSE(other.stopped);
  EXPECT_EQ(other.failure.find("too early"), std::string::npos)
      << "a stop of the peer looks like an end in order: " << other.failure;
  if (!stopped.stopped) {
    EXPECT_EQ(other.at, stage::is_over) << other.failure;
    EXPECT_EQ(stopped.at, stage::is_over) << stopped.failure;
    EXPECT_TRUE(other.farewell && stopped.farewell);
  }
}

/// One connection; the stop comes after `steps` steps. @returns where it was then
stage stop_after(std::size_t steps, bool stops_client, std::uint64_t seed) {
  std::mt19937_64 dice(seed);
  const contexts& with = some_contexts(dice());
  side client;
  side server;
  tandem::runtime rt(virtual_options(seed));
  {
    tandem::test::any_pair below = narrow_connection(dice);
    auto one =
        rt.spawn(converse(tls::connect(std::move(below.client), "localhost", with.client), client));
    auto other = rt.spawn(converse(tls::accept(std::move(below.server), with.server), server));
    for (std::size_t i = 0; i < steps; ++i) {
      if (rt.poll(1) == 0) rt.run_for(50us);  // all wait for the time that a wire takes
    }
    if (!stops_client) std::swap(one, other);
    one.cancel();
    for (auto* each : {&one, &other}) {
      try {
        auto handle = std::move(*each);  // of one that never began it holds the connection
        handle.wait();
      } catch (const tandem::operation_cancelled&) {
      } catch (const tandem::stalled&) {
        ADD_FAILURE() << "somebody waits for ever: client at stage " << static_cast<int>(client.at)
                      << ", server at " << static_cast<int>(server.at);
      }
    }
  }
  side& stopped = stops_client ? client : server;
  const bool began = stopped.stopped || stopped.at == stage::is_over || !stopped.failure.empty();
  stopped.stopped = stopped.stopped || !began;  // its task was taken away before it began
  expect_an_end(stops_client ? server : client, stopped);
  EXPECT_TRUE(rt.drain(24h));
  EXPECT_EQ(rt.live_tasks(), 0U);
  return stopped.stopped ? stopped.at : stage::is_over;
}

TEST(tls_stops, after_a_stop_at_any_await_both_sides_end_and_nothing_is_left) {
  const long before = tandem::test::live_ssl_objects();
  std::array<int, stages> at{};
  const auto has_seen_all = [&at] { return std::ranges::count(at, 0) == 0; };
  tandem::test::stress_until(2s, has_seen_all, [&](std::mt19937_64& random) {
    const std::uint64_t seed = random();
    const bool stops_client = random() % 2 == 0;
    SCOPED_TRACE("seed " + std::to_string(seed) + (stops_client ? ", client" : ", server"));
    for (std::size_t steps = 0; !::testing::Test::HasFailure(); steps += 1 + steps / 64) {
      SCOPED_TRACE("after " + std::to_string(steps) + " steps");
      const stage where = stop_after(steps, stops_client, seed);
      ++at.at(static_cast<std::size_t>(where));
      EXPECT_EQ(tandem::test::live_ssl_objects(), before);
      if (where == stage::is_over) break;
    }
  });
  std::printf("stops in handshakes %d, in transfers %d, in finish() %d, too late %d\n", at[0],
              at[1], at[2], at[3]);
  EXPECT_TRUE(has_seen_all());
}

/// Writes all of `out`, however often a time limit ends a write.
task<void> write_under_limits(tls_stream& to, const std::vector<std::byte>& out, std::uint64_t seed,
                              int& stopped) {
  std::mt19937_64 dice(seed);
  for (std::size_t at = 0; at < out.size();) {
    const auto part = std::span<const std::byte>(out).subspan(
        at, std::min<std::size_t>(out.size() - at, 1 + dice() % 9000));
    const auto limit = std::chrono::microseconds(1 + dice() % 400);
    auto took = co_await as_result(tandem::with_timeout(limit, to.write(part)));
    if (took) {
      at += took.value();
    } else if (took.is_cancelled()) {
      ++stopped;
    } else {
      took.value();  // throws
    }
  }
  to.shutdown();
}

task<std::vector<std::byte>> read_under_limits(tls_stream& from, std::uint64_t seed, int& stopped) {
  std::mt19937_64 dice(seed);
  std::vector<std::byte> all;
  std::vector<std::byte> room(5000);
  while (true) {
    const auto limit = std::chrono::microseconds(1 + dice() % 400);
    const auto part = std::span(room).first(1 + dice() % room.size());
    auto came = co_await as_result(tandem::with_timeout(limit, from.read(part)));
    if (!came && came.is_cancelled()) {
      ++stopped;
      continue;
    }
    const std::size_t n = came.value();
    if (n == 0) co_return all;
    all.insert(all.end(), part.begin(), part.begin() + static_cast<std::ptrdiff_t>(n));
  }
}

/// What one side does from its handshake to its farewell. Neither waits for the other one's handshake:
/// with so little room the tickets that follow it are taken only by who reads.
class limited_side {
 public:
  std::vector<std::byte> out;
  std::vector<std::byte> in;
  int reads_stopped = 0;
  int writes_stopped = 0;
};

task<void> exchange_under_limits(task<tls_stream> handshake, limited_side& me, std::uint64_t seed) {
  tls_stream stream = co_await std::move(handshake);
  auto [written, came] = co_await tandem::when_all(
      as_result(write_under_limits(stream, me.out, seed, me.writes_stopped)),
      read_under_limits(stream, seed + 1, me.reads_stopped));
  EXPECT_TRUE(written.has_value());
  me.in = std::move(came);
  EXPECT_TRUE(co_await stream.finish(1h));
}

TEST(tls_stops, reads_and_writes_that_run_out_of_time_lose_no_byte_and_count_right) {
  int reads = 0;
  int writes = 0;
  const auto has_seen_both = [&] { return reads > 0 && writes > 0; };
  tandem::test::stress_until(2s, has_seen_both, [&](std::mt19937_64& random) {
    const std::uint64_t seed = random();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 dice(seed);
    const contexts& with = some_contexts(dice());
    limited_side client;
    limited_side server;
    client.out = tandem::test::pattern(dice() % 60'000, 3);
    server.out = tandem::test::pattern(dice() % 60'000, 5);
    tandem::runtime rt(virtual_options(seed));
    try {
      tandem::test::any_pair below = narrow_connection(dice);
      auto one = rt.spawn(exchange_under_limits(
          tls::connect(std::move(below.client), "localhost", with.client), client, dice()));
      auto other = rt.spawn(
          exchange_under_limits(tls::accept(std::move(below.server), with.server), server, dice()));
      one.wait();
      other.wait();
    } catch (const std::exception& failure) {
      ADD_FAILURE() << failure.what();
    }
    EXPECT_EQ(server.in, client.out);
    EXPECT_EQ(client.in, server.out);
    reads += client.reads_stopped + server.reads_stopped;
    writes += client.writes_stopped + server.writes_stopped;
    EXPECT_TRUE(rt.drain(24h));
    EXPECT_EQ(rt.live_tasks(), 0U);
  });
  std::printf("%d reads and %d writes were stopped\n", reads, writes);
  EXPECT_TRUE(has_seen_both());
}

}  // namespace
