// fault_test.cpp: every way to transfer, through a proxy that cuts, delays, fragments, stalls and resets by seed.
// SPDX-License-Identifier: MIT
//
// Laws: what arrives is a prefix of what was sent, and all of it if nothing was broken; both ends
// end; no descriptor, no receive buffer and no task is left.
#include "fault_proxy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <random>
#include <tandem/as_result.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/buffered_writer.hpp>
#include <tandem/io/copy.hpp>
#include <tandem/io/framing.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"
#include "seeded.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::io::endpoint;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::fault_plan;
using tandem::test::fault_proxy;
using tandem::test::open_descriptors;
using tandem::test::pattern;

using bytes = std::vector<std::byte>;

enum class style : unsigned char { read, receive, vectored, copied, framed };
constexpr std::array styles{style::read, style::receive, style::vectored, style::copied,
                            style::framed};

// Servers: what comes is sent back, in their own way.

task<void> echo_reads(tcp_stream& peer) {
  std::array<std::byte, 700> room{};
  while (const std::size_t n = co_await peer.read(room)) {
    co_await peer.write_all(std::span(room).first(n));
  }
  peer.shutdown();
}
task<void> echo_receives(tcp_stream& peer) {
  while (true) {
    const tandem::io::leased_buffer got = co_await peer.receive();
    if (got.empty()) break;
    co_await peer.write_all(got.bytes());
  }
  peer.shutdown();
}
task<void> echo_parts(tcp_stream& peer) {
  std::array<std::byte, 900> room{};
  const std::array<std::span<std::byte>, 3> parts{
      std::span(room).first(1), std::span(room).subspan(1, 99), std::span(room).subspan(100)};
  while (const std::size_t n = co_await peer.read(parts)) {
    const std::span<const std::byte> got = std::span(room).first(n);
    const std::array<std::span<const std::byte>, 2> back{got.first(n / 2), got.subspan(n / 2)};
    co_await peer.write_all(back);
  }
  peer.shutdown();
}
task<void> echo_frames(tcp_stream& peer) {
  tandem::io::buffered_reader reader(peer, 512);
  tandem::io::buffered_writer writer(peer, 512);
  while (const auto message = co_await tandem::io::read_frame(reader)) {
    co_await tandem::io::write_frame(writer, *message);
    if (reader.buffered().empty()) co_await writer.flush();
  }
  co_await writer.flush();
  peer.shutdown();
}
task<void> echo(tcp_stream& peer, style how) {
  switch (how) {
    case style::read: co_await echo_reads(peer); break;
    case style::receive: co_await echo_receives(peer); break;
    case style::vectored: co_await echo_parts(peer); break;
    case style::copied: (void)co_await tandem::io::copy(peer, peer); break;
    case style::framed: co_await echo_frames(peer); break;
  }
}

/// What a client sends: a pattern, as frames of 1 to 3000 bytes where the server wants frames.
bytes message_of(std::size_t size, unsigned seed, style how) {
  bytes all = pattern(size, seed);
  if (how != style::framed) return all;
  std::mt19937_64 random(seed);
  for (std::size_t at = 0; at + 4 < size;) {
    const std::size_t room = size - at - 4;
    // The last one fills what is left.
    const std::size_t length = room < 3000 ? room : random() % 3000;
    for (std::size_t i = 0; i < 4; ++i) {
      all[at + i] = static_cast<std::byte>(length >> (8 * (3 - i)));
    }
    at += 4 + length;
  }
  return all;
}

task<void> send(tcp_stream& to, const bytes& all, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (std::span<const std::byte> left = all; !left.empty();) {
    const std::size_t n = std::min<std::size_t>(left.size(), 1 + random() % 20'000);
    if ((co_await as_result(to.write_all(left.first(n)))).error()) co_return;
    left = left.subspan(n);
  }
  // A stream that was reset meanwhile cannot be shut down.
  try {
    to.shutdown();
  } catch (const std::system_error&) {}
}

class tally {
 public:
  std::atomic<int> whole{0};
  std::atomic<int> ended_early{0};
  std::atomic<int> wrong{0};
  std::atomic<int> served{0};
};

/// Sends and reads at once; then what came back is compared.
task<void> client(endpoint proxy, std::size_t size, std::uint64_t seed, style how, tally& out) {
  const bytes sent = message_of(size, static_cast<unsigned>(seed), how);
  auto connected = co_await as_result(tcp_stream::connect(proxy));
  if (!connected) {
    ++out.ended_early;
    co_return;
  }
  tcp_stream stream = std::move(connected).value();
  bytes got;
  co_await with_scope([&](task_scope& scope) -> task<void> {
    scope.spawn(send(stream, sent, seed));
    bytes room(5000);
    while (true) {
      auto came = co_await as_result(stream.read(room));
      if (!came || came.value() == 0) break;
      got.insert(got.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(came.value()));
    }
    // The other direction may have ended first: nobody waits for its reader.
    try {
      stream.shutdown(tandem::io::shutdown_kind::both);
    } catch (const std::system_error&) {}
  });
  if (got.size() > sent.size() || !std::equal(got.begin(), got.end(), sent.begin())) ++out.wrong;
  (got.size() == sent.size() ? out.whole : out.ended_early) += 1;
}

task<void> server(tcp_listener& listener, int connections, style how, tally& out) {
  co_await with_scope([&](task_scope& scope) -> task<void> {
    for (int i = 0; i < connections; ++i) {
      scope.spawn([](tcp_stream peer, style s, tally& t) -> task<void> {
        (void)co_await as_result(echo(peer, s));  // what was broken ends as it may
        ++t.served;
      }(co_await listener.accept(), how, out));
    }
  });
}

/// So many clients at once, through one proxy. Few buffers, so that one that is lost is missed.
void transfer(const fault_plan& plan, std::uint64_t seed, style how, int connections, tally& out) {
  const std::size_t before = open_descriptors();
  {
    tandem::test::test_runtime rt;
    tandem::io::completion_options options;
    options.receive_buffers = 8;
    options.max_receive_buffers = 8;
    options.receive_buffer_bytes = 1024;
    tandem::io::install(*rt, options);
    rt.run([](const fault_plan& faults, std::uint64_t dice, style s, int count,
              tally& t) -> task<void> {
      tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
      fault_proxy proxy(listener.local_endpoint().port(), dice, faults);
      const endpoint through = endpoint::loopback_v4(proxy.port());
      co_await with_scope([&](task_scope& scope) -> task<void> {
        scope.spawn(server(listener, count, s, t));
        for (int i = 0; i < count; ++i) {
          const std::uint64_t own = dice + static_cast<std::uint64_t>(i);
          scope.spawn(client(through, 1 + own % 60'000, own, s, t));
        }
        co_return;
      });
      if (proxy.broken() == 0) {
        EXPECT_EQ(t.ended_early.load(), 0);
      }
    }(plan, seed, how, connections, out));
    // A task is counted as ended a moment after its waiter was told; one that is left hangs here.
    while (rt->live_tasks() != 0) std::this_thread::yield();
  }
  EXPECT_EQ(open_descriptors(), before);
  EXPECT_EQ(out.wrong.load(), 0) << "in style " << static_cast<int>(how) << ", seed " << seed;
  EXPECT_EQ(out.served.load(), connections);
  EXPECT_EQ(out.whole.load() + out.ended_early.load(), connections);
}

TEST(faults, streams_in_tiny_and_late_pieces_arrive_whole) {
  const std::uint64_t seed = tandem::test::stress_seed();
  fault_plan plan;
  plan.most_piece_bytes = 900;
  plan.most_pause_us = 200;
  plan.stalls = 40;
  plan.within_bytes = 20'000;
  for (const style how : styles) {
    tally out;
    transfer(plan, seed % 1'000'000, how, 6, out);
    EXPECT_EQ(out.whole.load(), 6);
  }
}

TEST(faults, of_streams_that_are_cut_and_reset_a_prefix_arrives_and_both_ends_end) {
  std::mt19937_64 random(tandem::test::stress_seed());
  fault_plan plan;
  plan.half_cuts = 25;
  plan.cuts = 25;
  plan.resets = 25;
  plan.stalls = 10;
  plan.stall_ms = 5;
  plan.within_bytes = 50'000;
  int broken = 0;
  for (const style how : styles) {
    tally out;
    plan.most_piece_bytes = 1 + random() % 8000;
    transfer(plan, random() % 1'000'000, how, 16, out);
    broken += out.ended_early.load();
  }
  EXPECT_GT(broken, 0);
}

TEST(faults, the_same_seed_breaks_the_same_streams_at_the_same_bytes) {
  fault_plan plan;
  plan.cuts = 50;
  plan.within_bytes = 5000;
  std::vector<std::vector<std::size_t>> runs;
  for (int run = 0; run < 2; ++run) {
    runs.emplace_back();
    tandem::test::test_runtime rt;
    rt.run([](const fault_plan& faults, std::vector<std::size_t>& arrived) -> task<void> {
      tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
      fault_proxy proxy(listener.local_endpoint().port(), 77, faults);
      for (int i = 0; i < 20; ++i) {
        tcp_stream near = co_await tcp_stream::connect(endpoint::loopback_v4(proxy.port()));
        tcp_stream far = co_await listener.accept();
        tandem::join_handle<void> sending = tandem::spawn([](tcp_stream& to) -> task<void> {
          (void)co_await as_result(to.write_all(pattern(6000, 1)));
          to.close();
        }(near));
        std::size_t count = 0;
        std::array<std::byte, 512> room{};
        while (true) {
          auto came = co_await as_result(far.read(room));
          if (!came || came.value() == 0) break;
          count += came.value();
        }
        arrived.push_back(count);
        co_await sending;
      }
    }(plan, runs.back()));
  }
  EXPECT_EQ(runs[0], runs[1]);
  EXPECT_GT(std::count_if(runs[0].begin(), runs[0].end(), [](std::size_t n) { return n < 6000; }),
            0);
}

}  // namespace
