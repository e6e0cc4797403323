// io_soak.cpp: servers, proxies and clients that fail, cancel, close and reset at random; at the end nothing is left.
// SPDX-License-Identifier: MIT
//
// Episodes, each with a runtime of its own: what an episode leaves behind, of tasks, operations,
// descriptors and memory, is missed at its end. Bytes that come back are compared with what was
// sent.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <random>
#include <stdexcept>
#include <stop_token>
#include <tandem/as_result.hpp>
#include <tandem/io/copy.hpp>
#include <tandem/io/serve.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"
#include "io_homes.hpp"
#include "seeded.hpp"
#include "system.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::microseconds;
using tandem::as_result;
using tandem::join_handle;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::io::endpoint;
using tandem::io::leased_buffer;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::allocated_bytes;
using tandem::test::homes;
using tandem::test::open_descriptors;

using dice = std::mt19937_64;

/// What happened; each has to happen.
class tally {
 public:
  std::atomic<unsigned> whole{0};
  std::atomic<unsigned> cut_short{0};
  std::atomic<unsigned> cancelled{0};
  std::atomic<unsigned> wrong{0};
};

// Servers.

task<void> echo_reads(tcp_stream peer) {
  std::array<std::byte, 2000> room{};
  while (const std::size_t n = co_await peer.read(room)) {
    co_await peer.write_all(std::span(room).first(n));
  }
}
task<void> echo_receives(tcp_stream peer) {
  while (true) {
    const leased_buffer got = co_await peer.receive();
    if (got.empty()) co_return;
    co_await peer.write_all(got.bytes());
  }
}
/// Passes on to another server; the failure of a direction ends the other one.
task<void> proxy(tcp_stream near, endpoint target) {
  tcp_stream far = co_await tcp_stream::connect(target);
  (void)co_await tandem::when_all(tandem::io::copy(near, far), tandem::io::copy(far, near));
}
/// Ends early, in each of the ways there are.
task<void> leaves(tcp_stream peer) {
  std::array<std::byte, 100> room{};
  const std::size_t n = co_await peer.read(room);
  if (n % 3 == 0) throw std::runtime_error("a handler that fails");
  if (n % 3 == 1) peer.abort();
}

// Clients.

/// Sends `size` bytes and compares what comes back. @returns whether all of it came
task<bool> exchange(endpoint server, std::size_t size, std::uint64_t seed, bool receives,
                    tally& seen) {
  dice random(seed);
  const std::vector<std::byte> sent = tandem::test::pattern(size, static_cast<unsigned>(seed));
  tcp_stream stream = co_await tcp_stream::connect(server);
  std::size_t back = 0;
  const auto compare = [&](std::span<const std::byte> got) {
    const bool fits = got.size() <= size - back;
    if (!fits ||
        !std::equal(got.begin(), got.end(), sent.begin() + static_cast<std::ptrdiff_t>(back))) {
      ++seen.wrong;
    }
    back += got.size();
  };
  co_await with_scope([&](task_scope& scope) -> task<void> {
    scope.spawn([](tcp_stream& to, const std::vector<std::byte>& bytes) -> task<void> {
      (void)co_await as_result(to.write_all(bytes));
    }(stream, sent));
    std::vector<std::byte> room(3000);
    std::vector<leased_buffer> kept;  // some are held for a while, so that buffers run out
    while (back < size) {
      if (receives) {
        leased_buffer got = co_await stream.receive();
        if (got.empty()) break;
        compare(got.bytes());
        if (random() % 4 == 0) kept.push_back(std::move(got));
        if (kept.size() > 1) kept.clear();
      } else {
        // A time limit that may well lose the race: then the next read has what came.
        const auto limit = microseconds(random() % 3 == 0 ? random() % 50 : 60'000'000);
        auto got = co_await as_result(tandem::with_timeout(limit, stream.read(room)));
        if (got.is_cancelled() && !tandem::stop_requested()) continue;
        if (!got || got.value() == 0) break;
        compare(std::span(room).first(got.value()));
      }
    }
    scope.request_stop();  // who ended early may have left bytes that nobody takes
  });
  co_return back == size;
}

/// A server of its own, without serve().
task<void> echoes_incoming(tcp_listener listener) {
  co_await with_scope([&](task_scope& scope) -> task<void> {
    while (true) {
      auto came = co_await as_result(listener.incoming());
      if (came.is_cancelled()) (void)std::move(came).value();
      if (!came) continue;
      scope.spawn([](tcp_stream peer) -> task<void> {
        (void)co_await as_result(echo_receives(std::move(peer)));
      }(std::move(came).value()));
    }
  });
}

task<void> act(homes& at, std::span<const endpoint> servers, dice& random, tally& seen) {
  const endpoint server = servers[random() % servers.size()];
  const std::size_t size = 1 + random() % 60'000;
  join_handle<bool> running =
      tandem::spawn(at.any(random), exchange(server, size, random(), random() % 2 == 0, seen));
  if (random() % 3 == 0) {
    co_await tandem::sleep_for(microseconds(random() % 2000));
    running.cancel();
  }
  auto ended = co_await as_result(running);
  if (ended.is_cancelled()) {
    ++seen.cancelled;
  } else if (ended && ended.value()) {
    ++seen.whole;
  } else {
    ++seen.cut_short;
  }
}

tandem::io::serve_options quiet(dice& random) {
  tandem::io::serve_options options;
  options.home = static_cast<tandem::io::handler_home>(random() % 3);
  options.max_connections = random() % 2 == 0 ? 0 : 3;
  options.drain_timeout = random() % 2 == 0 ? 0ms : 50ms;
  options.on_handler_error = [](const std::exception_ptr&) {};
  return options;
}

task<void> episode(homes& at, std::uint64_t seed, std::chrono::milliseconds span, tally& seen) {
  dice random(seed);
  std::vector<endpoint> servers;
  std::vector<join_handle<void>> serving;
  const auto start = [&](auto handler) {
    tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
    servers.push_back(listener.local_endpoint());
    serving.push_back(tandem::spawn(
        at.any(random), tandem::io::serve(std::move(listener), handler, quiet(random))));
  };
  start(echo_reads);
  start(echo_receives);
  const endpoint behind = servers[random() % 2];
  start([behind](tcp_stream near) { return proxy(std::move(near), behind); });
  start(leaves);
  tcp_listener other = tcp_listener::bind(endpoint::loopback_v4(0));
  servers.push_back(other.local_endpoint());
  serving.push_back(tandem::spawn(at.any(random), echoes_incoming(std::move(other))));
  servers.push_back(endpoint::loopback_v4(1));  // refuses
  std::atomic<bool> over{false};
  co_await with_scope([&](task_scope& scope) -> task<void> {
    for (int i = 0; i < 16; ++i) {
      scope.spawn([](homes& h, std::span<const endpoint> to, std::uint64_t own, tally& t,
                     std::atomic<bool>& ends) -> task<void> {
        dice mine(own);
        while (!ends.load(std::memory_order_relaxed)) co_await act(h, to, mine, t);
      }(at, servers, random(), seen, over));
    }
    co_await tandem::sleep_for(span);
    over.store(true, std::memory_order_relaxed);  // a flag, nothing else
  });
  for (join_handle<void>& each : serving) {
    each.cancel();
    (void)co_await as_result(each);
  }
}

/// Threads of the pool come and go, and with them the rings under everybody's operations.
void keep_resizing(std::stop_token stop, tandem::io::completion_pool& pool, std::uint64_t seed) {
  dice random(seed);
  while (!stop.stop_requested()) {
    pool.resize(1 + static_cast<unsigned>(random() % 3));
    std::this_thread::sleep_for(microseconds(random() % 10'000));
  }
}

TEST(io_soak, servers_and_clients_that_fail_at_random_leave_nothing_behind) {
  dice random(tandem::test::stress_seed());
  const std::size_t descriptors = open_descriptors();
  constexpr int episodes = 4;
  const auto span = tandem::test::stress_time(2000ms) / episodes;
  std::size_t memory = 0;
  tally seen;
  for (int i = 0; i < episodes; ++i) {
    {
      tandem::io::completion_options options;
      options.receive_buffers = 16;
      options.max_receive_buffers =
          64;  // over all that are held at once: whoever holds one waits for more
      options.receive_buffer_bytes = 8192;
      options.ring_entries = 16;
      options.on_stall = [](const tandem::io::stall_report&) {};
      homes at(options);
      const std::jthread resizes(&keep_resizing, std::ref(*at.pool), random());
      at.rt.run(episode(at, random(), span, seen));
      // A task is counted as ended a moment after its waiter was told; one that is left hangs here.
      while (at.rt->live_tasks() != 0) std::this_thread::yield();
      EXPECT_EQ(at.pool->stats().in_flight, 0U);
    }
    EXPECT_EQ(open_descriptors(), descriptors);
    if (i == 0) {
      memory = allocated_bytes();  // what the first one leaves is kept for good
    } else {
      EXPECT_LE(allocated_bytes(), memory + 64 * 1024) << "after episode " << i;
    }
  }
  std::printf("%u whole, %u cut short, %u cancelled\n", seen.whole.load(), seen.cut_short.load(),
              seen.cancelled.load());
  EXPECT_EQ(seen.wrong.load(), 0U);
  EXPECT_GT(seen.whole.load(), 0U);
  EXPECT_GT(seen.cut_short.load(), 0U);
  EXPECT_GT(seen.cancelled.load(), 0U);
}

}  // namespace
