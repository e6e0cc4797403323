// resize_test.cpp: completion threads that come and go, with all that is under way on them.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <span>
#include <stdexcept>
#include <stop_token>
#include <tandem/as_result.hpp>
#include <tandem/io/install.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_stop.hpp>
#include <tandem/yield.hpp>
#include <thread>
#include <vector>

#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::completion_options;
using tandem::io::completion_pool;
using tandem::io::current_completion_index;
using tandem::io::endpoint;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::pattern;
using tandem::test::test_runtime;
using tandem::test::threads_between;

/// Runs until everything that `pool` retires is gone.
void wait_for_threads(completion_pool& pool, unsigned count) {
  while (pool.stats().threads != count) std::this_thread::sleep_for(1ms);
}

TEST(resize, refuses_what_it_cannot_do_and_says_so) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, threads_between(2, 3));
  EXPECT_THROW(pool.resize(1), std::invalid_argument);
  EXPECT_THROW(pool.resize(4), std::invalid_argument);
  rt->spawn(pool.executor(),
            [](completion_pool& io) -> task<void> {
              EXPECT_THROW(io.resize(3), std::logic_error);
              co_return;
            }(pool))
      .wait();
  EXPECT_EQ(pool.size(), 2U);
}

TEST(resize, threads_come_and_go_and_leave_nothing) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, threads_between(1, 4));
  const std::size_t before = tandem::test::open_descriptors();
  for (int round = 0; round < 10; ++round) {
    pool.resize(4);
    EXPECT_EQ(pool.size(), 4U);
    EXPECT_EQ(pool.stats().threads, 4U);
    for (unsigned i = 0; i < 4; ++i) {
      rt->spawn(pool.thread(i).executor(),
                [](int expected) -> task<void> {
                  EXPECT_EQ(current_completion_index(), expected);
                  co_return;
                }(static_cast<int>(i)))
          .wait();
    }
    pool.resize(1);
    wait_for_threads(pool, 1);
  }
  EXPECT_EQ(tandem::test::open_descriptors(), before);
}

/// Lives on one completion thread with others like it, of which never two run at once.
task<void> confined(std::atomic<int>& inside, std::atomic<bool>& enough) {
  while (!enough.load()) {
    EXPECT_EQ(inside.fetch_add(1), 0);
    EXPECT_EQ(inside.fetch_sub(1), 1);
    co_await tandem::yield();
    EXPECT_EQ(inside.fetch_add(1), 0);
    EXPECT_EQ(inside.fetch_sub(1), 1);
    co_await tandem::sleep_for(10us);
  }
}

TEST(resize, what_is_confined_to_a_thread_stays_one_after_the_other) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, threads_between(1, 3));
  pool.resize(3);
  std::atomic<bool> enough{false};
  std::atomic<int> inside[3] = {};
  std::vector<tandem::join_handle<void>> all;
  for (unsigned i = 0; i < 12; ++i) {
    all.push_back(rt->spawn(pool.thread(i % 3).executor(), confined(inside[i % 3], enough)));
  }
  for (int round = 0; round < 30; ++round) {
    pool.resize(1 + static_cast<unsigned>(round * 2 + 1) % 3);
    std::this_thread::sleep_for(1ms);
  }
  enough.store(true);
  for (auto& each : all) each.wait();
}

TEST(resize, open_operations_go_on_by_another_thread) {
  test_runtime rt;
  completion_pool& pool = tandem::io::install(*rt, threads_between(1, 2));
  pool.resize(2);
  rt.run([](completion_pool& io) -> task<void> {
    // Sockets of both threads, each with an accept or a read that waits.
    std::vector<tcp_listener> listeners;
    std::vector<connection> pairs;
    for (int i = 0; i < 4; ++i) {
      listeners.push_back(tcp_listener::bind(endpoint::loopback_v4(0)));
      pairs.push_back(co_await make_connection());
    }
    std::atomic<int> ended{0};
    std::stop_source stopped;
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      for (tcp_listener& each : listeners) {
        scope.spawn([](tcp_listener& l, std::atomic<int>& count) -> task<void> {
          const tcp_stream got = co_await l.accept();
          EXPECT_TRUE(got.is_open());
          count.fetch_add(1);
        }(each, ended));
      }
      for (connection& each : pairs) {
        scope.spawn(io.executor(), [](tcp_stream& s, std::atomic<int>& count) -> task<void> {
          std::byte byte{};
          EXPECT_EQ(co_await s.read(std::span(&byte, 1)), 1U);
          EXPECT_EQ(byte, std::byte{9});
          count.fetch_add(1);
        }(each.server, ended));
        // Nothing ever comes this way: it is stopped after the move.
        scope.spawn([](tcp_stream& s, std::stop_token stop, std::atomic<int>& count) -> task<void> {
          std::byte byte{};
          auto read = tandem::with_stop(stop, [](tcp_stream& from, std::byte& to) -> task<void> {
            (void)co_await from.read(std::span(&to, 1));
          }(s, byte));
          EXPECT_TRUE((co_await tandem::as_result(std::move(read))).is_cancelled());
          count.fetch_add(1);
        }(each.client, stopped.get_token(), ended));
      }
      co_await tandem::sleep_for(5ms);
      for (int round = 0; round < 3; ++round) {
        io.resize(1);
        wait_for_threads(io, 1);
        io.resize(2);
      }
      io.resize(1);
      EXPECT_EQ(ended.load(), 0);
      stopped.request_stop();
      for (connection& each : pairs) {
        const std::byte byte{9};
        EXPECT_EQ(co_await each.client.write(std::span(&byte, 1)), 1U);
      }
      for (tcp_listener& each : listeners) {
        const tcp_stream client = co_await tcp_stream::connect(each.local_endpoint());
      }
    });
    EXPECT_EQ(ended.load(), 12);
  }(pool));
}

task<void> sends(tcp_stream& to, const std::vector<std::byte>& bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += 1000) {
    co_await to.write_all(
        std::span(bytes).subspan(at, std::min<std::size_t>(1000, bytes.size() - at)));
    if (at % 16000 == 0) co_await tandem::sleep_for(20us);
  }
  to.shutdown(tandem::io::shutdown_kind::write);
}

task<std::vector<std::byte>> receives(tcp_stream& from) {
  std::vector<std::byte> all;
  while (true) {
    const tandem::io::leased_buffer got = co_await from.receive();
    if (got.empty()) co_return all;
    const std::span<const std::byte> bytes = got.bytes();
    all.insert(all.end(), bytes.begin(), bytes.end());
    co_await tandem::yield();
  }
}

TEST(resize, received_streams_lose_and_double_nothing) {
  test_runtime rt;
  completion_options options = threads_between(1, 3);
  options.receive_buffers = 8;
  options.receive_buffer_bytes = 512;
  completion_pool& pool = tandem::io::install(*rt, options);
  pool.resize(3);
  std::atomic<bool> enough{false};
  std::jthread resizes([&] {
    for (unsigned round = 0; !enough.load(); ++round) {
      pool.resize(1 + round % 3);
      std::this_thread::sleep_for(500us);
    }
  });
  rt.run([](completion_pool& io) -> task<void> {
    const std::vector<std::byte> bytes = pattern(400'000, 7);
    std::vector<connection> pairs;
    for (int i = 0; i < 6; ++i) pairs.push_back(co_await make_connection());
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      int number = 0;
      for (connection& each : pairs) {
        scope.spawn(sends(each.client, bytes));
        tandem::executor& home = number++ % 2 == 0 ? io.executor() : each.server.thread_executor();
        scope.spawn(home, [](tcp_stream& s, const std::vector<std::byte>& sent) -> task<void> {
          EXPECT_TRUE(co_await receives(s) == sent);
        }(each.server, bytes));
      }
      co_return;
    });
  }(pool));
  enough.store(true);
}

task<void> receives_in_time(tcp_stream& s, std::size_t count) {
  const auto got = co_await tandem::with_timeout(10s, s.receive());
  EXPECT_EQ(got.size(), count);
}

task<void> receive_while_their_thread_retires(completion_pool& io) {
  tandem::executor& home = io.thread(1).executor();
  connection one = co_await tandem::test::make_connection_on(io, 1);
  connection other = co_await tandem::test::make_connection_on(io, 1);
  const std::vector<std::byte> bytes = pattern(512, 3);
  std::vector<tandem::io::leased_buffer> held;
  for (int i = 0; i < 2; ++i) {
    co_await one.client.write_all(bytes);
    held.push_back(co_await one.server.receive());
    EXPECT_EQ(held.back().size(), 512U);
  }
  // There is no buffer left for what both send now. The one that comes back is promised to both,
  // who ask the ring at once; before the ring hears of it their thread begins to move.
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    scope.spawn(receives_in_time(one.server, 100));
    scope.spawn(receives_in_time(other.server, 100));
    co_await tandem::yield();
    co_await one.client.write_all(std::span(bytes).first(100));
    co_await other.client.write_all(std::span(bytes).first(100));
    std::atomic<bool> inside{false};
    std::atomic<bool> enough{false};
    auto holds_its_thread =
        tandem::spawn(home,
                      [](std::vector<tandem::io::leased_buffer>& leases, std::atomic<bool>& in,
                         std::atomic<bool>& out) -> task<void> {
                        for (int i = 0; i < 5; ++i)
                          co_await tandem::yield();  // the ring says: no buffer
                        leases.pop_back();
                        in.store(true);
                        while (!out.load()) std::this_thread::yield();
                      }(held, inside, enough));
    while (!inside.load()) co_await tandem::yield();
    io.resize(1);
    enough.store(true);
    co_await std::move(holds_its_thread);
  });
}

TEST(resize, whoever_finds_no_buffer_while_it_moves_asks_at_its_new_ring) {
  test_runtime rt;
  completion_options options = threads_between(1, 2);
  options.receive_buffers = 2;
  options.max_receive_buffers = 2;
  options.receive_buffer_bytes = 512;
  completion_pool& pool = tandem::io::install(*rt, options);
  for (int round = 0; round < 5; ++round) {
    pool.resize(2);
    rt.run(receive_while_their_thread_retires(pool));
    wait_for_threads(pool, 1);
  }
}

/// Keeps a completion thread for a while, as if it got no CPU.
class hindrance : public tandem::job {
 public:
  explicit hindrance(std::atomic<bool>& may_go)
      : tandem::job([](tandem::job* self) noexcept { static_cast<hindrance*>(self)->keep(); }),
        may_go_(may_go) {}
  void wait_until_begun() const noexcept {
    while (!begun_.load()) std::this_thread::yield();
  }

 private:
  void keep() noexcept {
    begun_.store(true);
    while (!may_go_.load()) std::this_thread::yield();
  }

  std::atomic<bool>& may_go_;
  std::atomic<bool> begun_{false};
};

TEST(resize, the_runtime_may_end_while_a_thread_moves) {
  for (const bool closes_before : {true, false}) {
    const std::size_t before = tandem::test::open_descriptors();
    std::vector<connection> connections;
    std::atomic<bool> first_may_go{false};
    std::atomic<bool> second_may_go{false};
    hindrance first(first_may_go);
    hindrance second(second_may_go);
    std::jthread later;
    {
      test_runtime rt;
      completion_options options = threads_between(1, 2);
      options.on_stall = [](const tandem::io::stall_report&) {};
      completion_pool& pool = tandem::io::install(*rt, options);
      pool.resize(2);
      rt.run([](std::vector<connection>& made) -> task<void> {
        for (int i = 0; i < 4; ++i) made.push_back(co_await make_connection());
      }(connections));
      std::vector<tcp_stream*> there;
      for (connection& each : connections) {
        for (tcp_stream* const stream : {&each.client, &each.server}) {
          if (&stream->thread_executor() == &pool.thread(1).executor()) there.push_back(stream);
        }
      }
      ASSERT_GE(there.size(), 2U);
      const auto receives = [](tcp_stream& stream) -> task<void> {
        (void)co_await tandem::as_result(tandem::with_timeout(5ms, stream.receive()));
      };
      rt.run(receives(*there[0]));  // its receive is armed
      pool.thread(1).executor().post(&first, tandem::post_kind::spawn);
      first.wait_until_begun();
      pool.resize(1);
      rt.run(receives(*there[1]));  // asks to be armed, behind the move
      pool.thread(1).executor().post(&second, tandem::post_kind::spawn);
      first_may_go.store(true);
      second.wait_until_begun();
      if (closes_before) there[1]->close();
      later = std::jthread([&second_may_go] {
        std::this_thread::sleep_for(50ms);  // the runtime is about to end by then
        second_may_go.store(true);
      });
    }
    connections.clear();
    EXPECT_EQ(tandem::test::open_descriptors(), before);
  }
}

}  // namespace
