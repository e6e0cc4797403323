// direct_test.cpp: tasks on the workers wait for their sockets without a completion thread.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include <tandem/io/install.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/strand.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/yield.hpp>

#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::io::completion_pool;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::test_runtime;
using tandem::test::threads_between;

class direct : public ::testing::Test {
 protected:
  explicit direct(unsigned workers = 2) : rt(workers) {
    pool = &tandem::io::install(*rt, threads_between(1, 1));
  }
  test_runtime rt;
  completion_pool* pool = nullptr;
};
class direct_one_worker : public direct {
 protected:
  direct_one_worker() : direct(1) {}
};

task<std::byte> read_one(tcp_stream& from) {
  std::byte byte{};
  EXPECT_EQ(co_await from.read(std::span(&byte, 1)), 1U);
  co_return byte;
}
task<void> write_one(tcp_stream& to, int what) {
  const std::byte byte{static_cast<unsigned char>(what)};
  EXPECT_EQ(co_await to.write(std::span(&byte, 1)), 1U);
}

/// Until an operation waits, which is the only one.
task<void> one_waits(completion_pool& io) {
  while (io.stats().in_flight == 0) co_await tandem::yield();
}

/// Whose server has waited on a worker before, so that its side is armed.
task<connection> make_known_connection(completion_pool& io) {
  connection both = co_await make_connection();
  auto first = tandem::spawn(read_one(both.server));
  co_await one_waits(io);
  co_await write_one(both.client, 0);
  (void)co_await first;
  co_return both;
}

/// All of it, and then the end.
task<void> write_to_end(tcp_stream& to, std::span<const std::byte> all) {
  co_await to.write_all(all);
  to.shutdown(tandem::io::shutdown_kind::write);
}

TEST_F(direct, a_read_on_a_worker_goes_to_no_ring_and_wakes_no_completion_thread) {
  rt.run([](completion_pool& io) -> task<void> {
    connection both = co_await make_known_connection(io);
    const auto before = io.stats();
    for (int i = 0; i < 100; ++i) {
      auto reads = tandem::spawn(read_one(both.server));
      co_await one_waits(io);
      co_await write_one(both.client, i);
      EXPECT_EQ(co_await reads, std::byte{static_cast<unsigned char>(i)});
    }
    const auto after = io.stats();
    EXPECT_EQ(after.by_workers - before.by_workers, 100U);
    EXPECT_EQ(after.submitted, before.submitted);
    EXPECT_EQ(after.wakes, before.wakes);
    EXPECT_EQ(after.handed_over, before.handed_over);
  }(*pool));
}

TEST_F(direct, a_task_of_a_strand_goes_on_in_its_strand) {
  rt.run([](test_runtime& on, completion_pool& io) -> task<void> {
    connection both = co_await make_connection();
    tandem::strand line(on.workers());
    auto reads = tandem::spawn(line, [](tcp_stream& from, tandem::strand own) -> task<void> {
      for (int i = 0; i < 10; ++i) {
        (void)co_await read_one(from);
        EXPECT_TRUE(own.is_current());
      }
    }(both.server, line));
    for (int i = 0; i < 10; ++i) {
      co_await one_waits(io);
      co_await write_one(both.client, i);
    }
    co_await reads;
    EXPECT_GE(io.stats().by_workers, 1U);
  }(rt, *pool));
}

TEST_F(direct, a_stop_ends_a_wait_and_the_next_read_gets_all) {
  rt.run([](completion_pool& io) -> task<void> {
    connection both = co_await make_connection();
    for (int i = 0; i < 50; ++i) {
      auto reads = tandem::spawn(read_one(both.server));
      co_await one_waits(io);
      reads.cancel();
      EXPECT_THROW((void)co_await reads, tandem::operation_cancelled);
      EXPECT_EQ(io.stats().in_flight, 0U);
      co_await write_one(both.client, i);
      EXPECT_EQ(co_await read_one(both.server), std::byte{static_cast<unsigned char>(i)});
    }
  }(*pool));
}

TEST_F(direct, a_time_limit_ends_a_wait) {
  rt.run([]() -> task<void> {
    connection both = co_await make_connection();
    std::byte byte{};
    EXPECT_THROW((void)co_await tandem::with_timeout(1ms, both.server.read(std::span(&byte, 1))),
                 tandem::operation_cancelled);
  }());
}

TEST_F(direct, the_end_that_came_with_the_last_bytes_is_seen) {
  rt.run([](completion_pool& io) -> task<void> {
    for (int i = 0; i < 50; ++i) {
      connection both = co_await make_connection();
      std::array<std::byte, 64> buffer;
      auto reads = tandem::spawn([](tcp_stream& from) -> task<std::size_t> {
        std::array<std::byte, 64> room;
        co_return co_await from.read(room);
      }(both.server));
      co_await one_waits(io);
      co_await write_one(both.client, i);
      both.client.close();
      EXPECT_EQ(co_await reads, 1U);  // less than there was room for: nothing is left
      EXPECT_EQ(co_await both.server.read(buffer), 0U);
      EXPECT_EQ(co_await both.server.read(buffer), 0U);  // and so on
    }
  }(*pool));
}

TEST_F(direct, what_a_read_elsewhere_has_left_is_found) {
  rt.run([](completion_pool& io) -> task<void> {
    connection both = co_await make_connection();
    for (int i = 0; i < 20; ++i) {
      // Known here, and quiet.
      auto first = tandem::spawn(read_one(both.server));
      co_await one_waits(io);
      co_await write_one(both.client, 1);
      (void)co_await first;
      // At its thread's a read takes one of two, and whoever waits in the port hears of both before.
      auto there = tandem::spawn(io.thread(0).executor(), read_one(both.server));
      while (io.stats().in_flight == 0) co_await tandem::yield();
      const std::array<std::byte, 2> two{};
      co_await both.client.write_all(two);
      (void)co_await there;
      co_await tandem::sleep_for(1ms);
      (void)co_await read_one(both.server);
    }
  }(*pool));
}

TEST_F(direct, urgent_data_between_two_parts_holds_up_neither) {
  rt.run([](completion_pool& io) -> task<void> {
    connection both = co_await make_known_connection(io);
    for (int i = 0; i < 20; ++i) {
      auto reads = tandem::spawn([](tcp_stream& from) -> task<void> {
        std::array<std::byte, 64> room;
        // A call ends before the urgent byte, which is no part of the stream.
        for (std::size_t got = 0; got < 6;) got += co_await from.read(room);
      }(both.server));
      co_await one_waits(io);
      const int descriptor = both.client.native_handle();
      EXPECT_EQ(::send(descriptor, "abc", 3, MSG_NOSIGNAL), 3);
      EXPECT_EQ(::send(descriptor, "!", 1, MSG_NOSIGNAL | MSG_OOB), 1);
      EXPECT_EQ(::send(descriptor, "def", 3, MSG_NOSIGNAL), 3);
      co_await reads;
    }
  }(*pool));
}

TEST_F(direct, a_socket_whose_task_has_moved_to_its_thread_wakes_no_worker) {
  rt.run([](completion_pool& io) -> task<void> {
    connection both = co_await make_known_connection(io);
    auto there = tandem::spawn(io.thread(0).executor(), read_one(both.server));
    co_await one_waits(io);
    const auto before = io.stats().by_workers;
    co_await write_one(both.client, 0);
    (void)co_await there;
    EXPECT_EQ(io.stats().by_workers, before);
    // And back again.
    auto again = tandem::spawn(read_one(both.server));
    co_await one_waits(io);
    co_await write_one(both.client, 7);
    EXPECT_EQ(co_await again, std::byte{7});
    EXPECT_EQ(io.stats().by_workers, before + 1);
  }(*pool));
}

TEST_F(direct, a_connection_that_goes_over_to_receive_gets_all_of_it) {
  rt.run([](completion_pool& io) -> task<void> {
    connection both = co_await make_known_connection(io);
    const std::vector<std::byte> sent = tandem::test::pattern(1 << 18, 5);
    auto writes = tandem::spawn(write_to_end(both.client, sent));
    std::vector<std::byte> got;
    while (true) {
      auto lease = co_await both.server.receive();
      if (lease.bytes().empty()) break;
      got.insert(got.end(), lease.bytes().begin(), lease.bytes().end());
    }
    EXPECT_EQ(got, sent);
    co_await writes;
  }(*pool));
}

TEST_F(direct, a_write_waits_for_room_and_goes_on_to_its_end) {
  rt.run([](completion_pool& io) -> task<void> {
    connection both = co_await make_connection();
    const std::vector<std::byte> sent = tandem::test::pattern(8 << 20, 7);
    auto writes = tandem::spawn(write_to_end(both.client, sent));
    co_await one_waits(io);
    EXPECT_EQ(co_await tandem::test::read_to_end(both.server), sent);
    co_await writes;
    EXPECT_EQ(io.stats().submitted, io.stats().completed);
  }(*pool));
}

TEST_F(direct, both_sides_of_a_socket_begin_at_the_same_time) {
  rt.run([]() -> task<void> {
    for (int i = 0; i < 100; ++i) {
      connection both = co_await make_connection();
      const std::vector<std::byte> sent = tandem::test::pattern(1 << 20, 3);
      co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
        for (tcp_stream* each : {&both.client, &both.server}) {
          scope.spawn(write_to_end(*each, sent));
          scope.spawn([](tcp_stream& from, const std::vector<std::byte>& all) -> task<void> {
            EXPECT_EQ(co_await tandem::test::read_to_end(from), all);
          }(*each, sent));
        }
        co_await scope.join();
      });
    }
  }());
}

TEST_F(direct, a_number_that_is_used_again_is_another_socket) {
  rt.run([](completion_pool& io) -> task<void> {
    for (int i = 0; i < 200; ++i) {
      connection both = co_await make_connection();
      auto reads = tandem::spawn(read_one(both.server));
      co_await one_waits(io);
      if (i % 2 == 0) {
        co_await write_one(both.client, i);
        EXPECT_EQ(co_await reads, std::byte{static_cast<unsigned char>(i)});
        co_await write_one(both.client, i);  // an event for nobody is on its way
      } else {
        reads.cancel();
        EXPECT_THROW((void)co_await reads, tandem::operation_cancelled);
      }
    }
    EXPECT_EQ(io.stats().in_flight, 0U);
  }(*pool));
}

TEST_F(direct, one_that_was_given_away_is_nobodys_any_more) {
  rt.run([](completion_pool& io) -> task<void> {
    connection both = co_await make_connection();
    auto reads = tandem::spawn(read_one(both.server));
    co_await one_waits(io);
    co_await write_one(both.client, 1);
    (void)co_await reads;
    const int given = both.server.release();
    const int copy = ::dup(given);
    ::close(given);  // the open file lives on: the set would, too
    const auto before = io.stats();
    for (int i = 0; i < 10; ++i) co_await write_one(both.client, i);
    tcp_stream taken = tcp_stream::from_native(copy);
    for (int i = 0; i < 10; ++i) {
      EXPECT_EQ(co_await read_one(taken), std::byte{static_cast<unsigned char>(i)});
    }
    EXPECT_EQ(io.stats().by_workers, before.by_workers);
  }(*pool));
}

TEST_F(direct, a_stream_may_outlive_its_runtime) {
  std::optional<test_runtime> other(std::in_place, 2U);
  completion_pool& of_other = tandem::io::install(**other, threads_between(1, 1));
  std::optional<connection> both;
  other->run([](completion_pool& io, std::optional<connection>& out) -> task<void> {
    out.emplace(co_await make_connection());
    auto reads = tandem::spawn(read_one(out->server));
    while (io.stats().in_flight == 0) std::this_thread::yield();  // by the other worker
    co_await write_one(out->client, 1);
    (void)co_await reads;
    EXPECT_EQ(io.stats().by_workers, 1U);
  }(of_other, both));
  other.reset();
  both.reset();
}

TEST_F(direct_one_worker, a_socket_is_served_while_the_only_worker_has_always_something_else) {
  rt.run([](completion_pool& io) -> task<void> {
    connection both = co_await make_connection();
    std::atomic<bool> over{false};
    auto reads = tandem::spawn([](tcp_stream& from, std::atomic<bool>& end) -> task<void> {
      (void)co_await read_one(from);
      end = true;
    }(both.server, over));
    co_await one_waits(io);
    co_await write_one(both.client, 1);
    // Never idle, so that nobody parks: it has to look between its items.
    while (!over) co_await tandem::yield();
    co_await reads;
  }(*pool));
}

TEST_F(direct, a_socket_is_served_while_a_worker_that_came_for_it_computes_and_another_one_sleeps) {
  rt.run([](completion_pool& io) -> task<void> {
    connection computed = co_await make_connection();
    connection both = co_await make_connection();
    std::atomic<bool> over{false};
    auto computes = tandem::spawn([](tcp_stream& from, std::atomic<bool>& end) -> task<void> {
      (void)co_await read_one(from);
      while (!end) std::this_thread::yield();  // without an await
    }(computed.server, over));
    auto reads = tandem::spawn([](tcp_stream& from, std::atomic<bool>& end) -> task<void> {
      (void)co_await read_one(from);
      end = true;
    }(both.server, over));
    while (io.stats().in_flight < 2) co_await tandem::yield();
    co_await write_one(computed.client, 1);
    // From a thread of its own: this task must not keep the second worker awake.
    std::thread late([descriptor = both.client.native_handle()] {
      std::this_thread::sleep_for(20ms);
      const char byte = 1;
      EXPECT_EQ(::send(descriptor, &byte, 1, MSG_NOSIGNAL), 1);
    });
    co_await reads;
    co_await computes;
    late.join();
  }(*pool));
}

TEST_F(direct, where_all_workers_compute_what_has_come_is_posted_to_them) {
  rt.run([](completion_pool& io) -> task<void> {
    connection both = co_await make_connection();
    auto reads = tandem::spawn(read_one(both.server));
    co_await one_waits(io);
    const auto before = io.stats().by_workers;
    std::atomic<bool> seen{false};
    std::atomic<unsigned> began{0};
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      for (int i = 0; i < 2; ++i) {
        scope.spawn([](std::atomic<bool>& end, std::atomic<unsigned>& there) -> task<void> {
          ++there;
          while (!end) std::this_thread::yield();
          co_return;
        }(seen, began));
      }
      // Both workers are inside a segment that ends only when the watch has taken the event.
      std::thread peer([&, descriptor = both.client.native_handle()] {
        while (began < 2) std::this_thread::yield();
        const char byte = 1;
        EXPECT_EQ(::send(descriptor, &byte, 1, MSG_NOSIGNAL), 1);
        while (io.stats().by_workers == before) std::this_thread::sleep_for(100us);
        seen = true;
      });
      co_await scope.join();
      peer.join();
    });
    (void)co_await reads;
  }(*pool));
}

}  // namespace
