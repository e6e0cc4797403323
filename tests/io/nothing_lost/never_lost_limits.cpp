// never_lost_limits.cpp: rings that are full, buffers that run out, transfers cut short.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <tandem/as_result.hpp>
#include <tandem/event.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/latch.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <thread>
#include <vector>

#include "io/support/foreign_pair.hpp"
#include "io/support/io_support.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::io::completion_pool;
using tandem::io::leased_buffer;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::open_descriptors;
using tandem::test::pattern;
using tandem::test::test_runtime;

constexpr std::size_t many = 500;

/// A runtime with one ring of few entries; it has room for 16 times as many completions.
class small_ring {
 public:
  explicit small_ring(unsigned entries = 8) {
    tandem::io::completion_options options;
    options.ring_entries = entries;
    options.min_threads = 1;
    options.adaptive = false;
    pool = &tandem::io::install(*rt, options);
  }
  test_runtime rt;
  completion_pool* pool = nullptr;
};

/// A descriptor that becomes readable, for everybody, when somebody says so.
class signal_post {
 public:
  tandem::io::native_descriptor descriptor() const noexcept { return pair_.ours(); }
  void set() const { pair_.peer_writes("x"); }

 private:
  tandem::test::foreign_pair pair_;
};

TEST(never_lost, a_full_ring_takes_five_hundred_operations_at_once) {
  small_ring ring;
  ring.rt.run([](completion_pool& pool) -> task<void> {
    std::vector<connection> all;
    for (std::size_t i = 0; i < many / 2; ++i) all.push_back(co_await make_connection());
    std::atomic<std::size_t> right{0};
    co_await with_scope([&](task_scope& scope) -> task<void> {
      tandem::latch begun(2 * all.size());
      const auto reads = [](tcp_stream& from, std::byte expected, std::atomic<std::size_t>& count,
                            tandem::latch& here) -> task<void> {
        std::array<std::byte, 8> room{};
        here.count_down();
        EXPECT_EQ(co_await from.read(room), 1U);
        if (room[0] == expected) ++count;
      };
      // One half of them from the ring's own thread, the other by its inbox.
      for (std::size_t i = 0; i < all.size(); ++i) {
        const auto byte = static_cast<std::byte>(i);
        scope.spawn(pool.thread(0).executor(), reads(all[i].server, byte, right, begun));
        scope.spawn(reads(all[i].client, byte, right, begun));
      }
      co_await begun.wait();
      for (std::size_t i = 0; i < all.size(); ++i) {
        const auto byte = static_cast<std::byte>(i);
        co_await all[i].client.write_all(std::span(&byte, 1));
        co_await all[i].server.write_all(std::span(&byte, 1));
      }
    });
    EXPECT_EQ(right.load(), many);
  }(*ring.pool));
}

TEST(never_lost, a_full_ring_takes_five_hundred_cancels_at_once) {
  small_ring ring;
  ring.rt.run([](completion_pool& pool) -> task<void> {
    const signal_post post;
    std::atomic<std::size_t> cancelled{0};
    for (int round = 0; round < 4; ++round) {
      co_await with_scope([&](task_scope& scope) -> task<void> {
        tandem::latch begun(many);
        for (std::size_t i = 0; i < many; ++i) {
          const auto waits = [](tandem::io::native_descriptor descriptor,
                                std::atomic<std::size_t>& count,
                                tandem::latch& here) -> task<void> {
            here.count_down();
            if ((co_await as_result(tandem::io::readable(descriptor))).is_cancelled()) ++count;
          };
          scope.spawn(i % 2 == 0 ? pool.thread(0).executor() : pool.executor(),
                      waits(post.descriptor(), cancelled, begun));
        }
        co_await begun.wait();
        scope.request_stop();
      });
    }
    EXPECT_EQ(cancelled.load(), 4 * many);
  }(*ring.pool));
  EXPECT_EQ(ring.pool->stats().in_flight, 0U);
}

/// Sends `size` bytes of a pattern, some at a time.
task<void> stream_out(tcp_stream& to, std::size_t size) {
  const std::vector<std::byte> bytes = pattern(size, 5);
  for (std::size_t at = 0; at < size; at += 1000) {
    co_await to.write_all(std::span(bytes).subspan(at, std::min<std::size_t>(1000, size - at)));
  }
  to.shutdown();
}
task<void> stream_in(tcp_stream& from, std::vector<std::byte>& got) {
  while (true) {
    const leased_buffer some = co_await from.receive();
    if (some.empty()) co_return;
    got.insert(got.end(), some.bytes().begin(), some.bytes().end());
  }
}

// What is ready when it is submitted completes there and then: 64 of them before the thread looks,
// and room for 16. The kernel keeps the rest for us, and ends every multishot that it could not
// write down, the wake's as well as a stream's.
TEST(never_lost, more_completions_than_the_ring_has_room_for_all_come) {
  small_ring ring(1);
  ring.rt.run([](completion_pool& pool) -> task<void> {
    connection beside = co_await make_connection();
    std::vector<std::byte> got;
    constexpr std::size_t size = 1'000'000;
    constexpr int each = 40;
    std::atomic<std::size_t> ended{0};
    const signal_post post;
    post.set();
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(stream_out(beside.client, size));
      scope.spawn(stream_in(beside.server, got));
      for (std::size_t i = 0; i < many; ++i) {
        scope.spawn(pool.thread(0).executor(),
                    [](tandem::io::native_descriptor descriptor,
                       std::atomic<std::size_t>& count) -> task<void> {
                      for (int turn = 0; turn < each; ++turn) {
                        co_await tandem::io::readable(descriptor);
                        ++count;
                      }
                    }(post.descriptor(), ended));
      }
      co_return;
    });
    EXPECT_EQ(ended.load(), each * many);
    EXPECT_TRUE(got == pattern(size, 5));
    // Whoever wakes the thread later is heard.
    EXPECT_EQ(
        co_await tandem::spawn(pool.thread(0).executor(), []() -> task<int> { co_return 1; }()), 1);
  }(*ring.pool));
}

/// Four buffers of 256 bytes, and never more.
tandem::io::completion_options four_buffers() {
  tandem::io::completion_options options;
  options.min_threads = 1;
  options.adaptive = false;
  options.receive_buffers = 4;
  options.max_receive_buffers = 4;
  options.receive_buffer_bytes = 256;
  return options;
}

/// Fills all buffers with bytes that nobody takes.
task<void> starve(connection& c) {
  co_await c.client.write_all(pattern(4096, 1));
  EXPECT_FALSE((co_await c.server.receive()).empty());  // arms it; its lease goes back at once
  co_await tandem::sleep_for(5ms);                      // what comes meanwhile fills the rest
}

TEST(never_lost,
     a_stream_that_is_closed_while_no_buffer_is_left_gives_descriptor_and_buffers_back) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, four_buffers());
  std::size_t before = 0;
  rt.run([](std::size_t& descriptors) -> task<void> {
    (void)co_await make_connection();
    descriptors = open_descriptors();
    connection full = co_await make_connection();
    co_await starve(full);
    full.server.close();
    full.client.close();
    // The next one finds all of them again.
    connection next = co_await make_connection();
    std::vector<std::byte> got;
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(stream_out(next.client, 5000));
      scope.spawn(stream_in(next.server, got));
      co_return;
    });
    EXPECT_EQ(got, pattern(5000, 5));
  }(before));
  EXPECT_EQ(pool.stats().in_flight, 0U);
  for (int i = 0; i < 2000 && open_descriptors() != before; ++i) std::this_thread::sleep_for(1ms);
  EXPECT_EQ(open_descriptors(), before);
}

/// Receives once: the bytes that it got.
task<std::size_t> receives(tcp_stream& from) { co_return (co_await from.receive()).bytes().size(); }

// What comes back on the completion thread itself, between its looks, wakes nobody: it must not
// sleep then.
TEST(never_lost, who_starves_gets_a_buffer_that_was_given_back_on_the_completion_thread) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, four_buffers());
  rt.run([](completion_pool& io) -> task<void> {
    for (int round = 0; round < 20; ++round) {
      connection full = co_await make_connection();
      tandem::event enough;
      tandem::join_handle<void> holding;
      if (round % 2 == 0) {
        co_await starve(full);
      } else {
        tandem::event holds;
        // All four, and no more: it must not be hungry itself, since it would take what comes back.
        co_await full.client.write_all(pattern(4 * 256, 1));
        holding = tandem::spawn(
            io.thread(0).executor(),
            [](tcp_stream& from, tandem::event& begun, tandem::event& ends) -> task<void> {
              const leased_buffer held = co_await from.receive();
              begun.set();
              co_await ends.wait();
            }(full.server, holds, enough));
        co_await holds.wait();
        co_await tandem::sleep_for(5ms);  // what comes meanwhile fills the rest
      }
      connection hungry = co_await make_connection();
      co_await hungry.client.write_all(pattern(100, 2));
      tandem::join_handle<std::size_t> waiting = tandem::spawn(receives(hungry.server));
      co_await tandem::sleep_for(
          5ms);  // it starves by now, or finds a buffer later: either is right
      if (round % 2 == 0) {
        full.server.close();  // by the completion thread
      } else {
        enough.set();  // the lease ends there
      }
      EXPECT_EQ(co_await waiting, 100U);
      if (round % 2 != 0) co_await holding;
    }
  }(pool));
}

TEST(never_lost, a_stream_that_starves_for_buffers_of_others_can_be_closed_and_its_peer_sees_that) {
  test_runtime rt;
  tandem::io::install(*rt, four_buffers());
  rt.run([]() -> task<void> {
    connection greedy = co_await make_connection();
    connection poor = co_await make_connection();
    co_await greedy.client.write_all(pattern(2048, 1));
    std::vector<leased_buffer> kept;
    while (kept.size() < 4) kept.push_back(co_await greedy.server.receive());
    co_await poor.client.write_all(pattern(10, 2));
    EXPECT_TRUE(
        (co_await as_result(tandem::with_timeout(5ms, poor.server.receive()))).is_cancelled());
    poor.server.close();
    // All leases are still here, and the end (a reset: it was not read) comes through.
    std::array<std::byte, 8> room{};
    const auto end = co_await as_result(tandem::with_timeout(20s, poor.client.read(room)));
    EXPECT_FALSE(end.is_cancelled());
  }());
}

TEST(never_lost, a_runtime_may_end_while_streams_starve) {
  const std::size_t before = open_descriptors();
  for (int round = 0; round < 2; ++round) {
    connection kept;
    {
      test_runtime rt;
      tandem::io::install(*rt, four_buffers());
      rt.run([](connection& c, bool closes) -> task<void> {
        c = co_await make_connection();
        co_await starve(c);
        if (closes) c.server.close();
      }(kept, round == 1));
    }
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST(never_lost, transfers_through_the_smallest_buffers_arrive_whole) {
  tandem::test::on_every_home([]() -> task<void> {
    tandem::io::tcp_options tiny;
    tiny.send_buffer_bytes = 1;  // the system takes the least it allows
    tiny.receive_buffer_bytes = 1;
    connection c = co_await make_connection(tiny);
    constexpr std::size_t size = 60'000;
    const std::vector<std::byte> sent = pattern(size, 3);
    const auto sends = [](tcp_stream& to, std::span<const std::byte> bytes) -> task<void> {
      // By write(), which says what it took, then by write_all() of one buffer, then of many.
      std::size_t at = 0;
      while (at < 20'000) {
        const std::size_t took = co_await to.write(bytes.subspan(at, 20'000 - at));
        EXPECT_GT(took, 0U);
        at += took;
      }
      co_await to.write_all(bytes.subspan(at, 20'000));
      std::vector<std::span<const std::byte>> parts;
      for (at = 40'000; at < size; at += 333) {
        parts.push_back(bytes.subspan(at, std::min<std::size_t>(333, size - at)));
      }
      co_await to.write_all(parts);
      to.shutdown();
    };
    co_await with_scope([&](task_scope& scope) -> task<void> {
      scope.spawn(sends(c.client, sent));
      std::vector<std::byte> got(size + 1);
      std::size_t have = 0;
      // Odd sizes, one or two buffers.
      while (true) {
        const std::size_t room = std::min<std::size_t>(got.size() - have, 1 + have % 97);
        std::span<std::byte> whole = std::span(got).subspan(have, room);
        std::size_t n = 0;
        if (have % 2 == 0) {
          n = co_await c.server.read(whole);
        } else {
          const std::array<std::span<std::byte>, 2> parts{whole.first(room / 2),
                                                          whole.subspan(room / 2)};
          n = co_await c.server.read(parts);
        }
        if (n == 0) break;
        have += n;
      }
      got.resize(have);
      EXPECT_TRUE(got == sent);
    });
  });
}

}  // namespace
