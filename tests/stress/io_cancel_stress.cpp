// io_cancel_stress.cpp: cancels from another thread that race with completions: one outcome, nothing lost.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <random>
#include <tandem/as_result.hpp>
#include <tandem/io/readiness.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <thread>
#include <utility>
#include <vector>

#include "io/support/io_support.hpp"
#include "io_homes.hpp"
#include "seeded.hpp"
#include "spin.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::executor;
using tandem::join_handle;
using tandem::result;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::io::endpoint;
using tandem::io::leased_buffer;
using tandem::io::tcp_listener;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::homes;
using tandem::test::make_connection;
using tandem::test::open_descriptors;
using tandem::test::spin;

/// Begins `operation` somewhere and cancels it, from here, a moment later: perhaps before it
/// started, perhaps after its end. @returns its outcome; a task that was removed before it started
/// is cancelled, too
template <class T>
task<result<T>> race_with_cancel(homes& at, std::mt19937_64& random, task<T> operation) {
  join_handle<T> running = tandem::spawn(at.any(random), std::move(operation));
  switch (random() % 4) {
    case 0: break;
    case 1: co_await tandem::sleep_for(std::chrono::microseconds(random() % 80)); break;
    default: spin(random() % 20'000); break;
  }
  running.cancel();
  co_return co_await as_result(running);
}

/// Byte `at` of every stream here.
std::byte nth(std::size_t at) { return static_cast<std::byte>((at * 2654435761U) >> 13); }

/// Sends bytes 0 to `count`, some at a time, at random times.
task<void> dribble(tcp_stream& to, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::array<std::byte, 300> some{};
  for (std::size_t at = 0; at < count;) {
    const std::size_t n = std::min<std::size_t>(1 + random() % some.size(), count - at);
    for (std::size_t i = 0; i < n; ++i) some[i] = nth(at + i);
    co_await to.write_all(std::span(some).first(n));
    at += n;
    if (random() % 2 == 0) co_await tandem::sleep_for(std::chrono::microseconds(random() % 60));
  }
  to.shutdown();
}

class counted_bytes {
 public:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte each : bytes) wrong += each != nth(count++) ? 1U : 0U;
  }
  std::size_t count = 0;
  std::size_t wrong = 0;
};

task<std::vector<std::byte>> read_some(tcp_stream& from) {
  std::vector<std::byte> room(128);
  room.resize(co_await from.read(room));
  co_return room;
}
task<std::vector<std::byte>> read_parts(tcp_stream& from) {
  std::vector<std::byte> room(128);
  const std::array<std::span<std::byte>, 2> parts{std::span(room).first(5),
                                                  std::span(room).subspan(5)};
  room.resize(co_await from.read(parts));
  co_return room;
}
task<leased_buffer> receive_some(tcp_stream& from) { co_return co_await from.receive(); }

TEST(cancel_race, bytes_that_were_read_before_a_cancel_come_out) {
  homes at;
  tandem::test::stress_for(300ms, [&](std::mt19937_64& random) {
    at.rt.run([](homes& h, std::mt19937_64& dice) -> task<void> {
      connection c = co_await make_connection();
      counted_bytes seen;
      constexpr std::size_t size = 20'000;
      co_await with_scope([&](task_scope& scope) -> task<void> {
        scope.spawn(dribble(c.client, size, dice()));
        while (true) {
          auto reading = dice() % 2 == 0 ? read_some(c.server) : read_parts(c.server);
          auto got = co_await race_with_cancel(h, dice, std::move(reading));
          if (!got) {
            EXPECT_TRUE(got.is_cancelled());
            continue;
          }
          if (got.value().empty()) break;
          seen.add(got.value());
        }
      });
      EXPECT_EQ(seen.count, size);
      EXPECT_EQ(seen.wrong, 0U);
    }(at, random));
  });
}

TEST(cancel_race, bytes_that_were_received_before_a_cancel_come_with_the_next_call) {
  homes at;
  tandem::test::stress_for(300ms, [&](std::mt19937_64& random) {
    at.rt.run([](homes& h, std::mt19937_64& dice) -> task<void> {
      connection c = co_await make_connection();
      counted_bytes seen;
      constexpr std::size_t size = 20'000;
      co_await with_scope([&](task_scope& scope) -> task<void> {
        scope.spawn(dribble(c.client, size, dice()));
        while (true) {
          auto got = co_await race_with_cancel(h, dice, receive_some(c.server));
          if (!got) {
            EXPECT_TRUE(got.is_cancelled());
            continue;
          }
          if (got.value().empty()) break;
          seen.add(got.value().bytes());
        }
      });
      EXPECT_EQ(seen.count, size);
      EXPECT_EQ(seen.wrong, 0U);
    }(at, random));
  });
}

// The completion thread looks for a waiter after it has put a buffer. The task may have taken that
// one before, and wait for the next: then nothing is there for it, and nothing is what the end
// looks like.
TEST(receive_race, a_waiter_whose_buffer_was_taken_before_it_waited_goes_on_waiting) {
  tandem::io::completion_options options;
  options.receive_buffer_bytes = 64;
  homes at(options);
  tandem::test::stress_for(600ms, [&](std::mt19937_64& random) {
    at.rt.run([](homes& h, std::mt19937_64& dice) -> task<void> {
      static constexpr std::size_t size = 200'000;
      std::vector<connection> all;
      for (int i = 0; i < 4; ++i) all.push_back(co_await make_connection());
      co_await with_scope([&](task_scope& scope) -> task<void> {
        for (connection& c : all) {
          scope.spawn(h.any(dice), [](tcp_stream& to) -> task<void> {
            std::vector<std::byte> all_of_it(size);
            for (std::size_t i = 0; i < size; ++i) all_of_it[i] = nth(i);
            co_await to.write_all(all_of_it);
            to.shutdown();
          }(c.client));
          scope.spawn([](tcp_stream& from) -> task<void> {
            counted_bytes seen;
            while (true) {
              const leased_buffer got = co_await from.receive();
              if (got.empty()) break;
              seen.add(got.bytes());
            }
            EXPECT_EQ(seen.count, size);
            EXPECT_EQ(seen.wrong, 0U);
          }(c.server));
        }
        co_return;
      });
    }(at, random));
  });
}

task<std::size_t> write_some(tcp_stream& to, std::size_t at, std::size_t bytes) {
  std::vector<std::byte> some(bytes);
  for (std::size_t i = 0; i < bytes; ++i) some[i] = nth(at + i);
  co_return co_await to.write(some);
}

// What a cancelled write() says that it took, and nothing else, arrives: a cancelled one has taken
// nothing.
TEST(cancel_race, bytes_that_were_written_before_a_cancel_are_counted) {
  homes at;
  tandem::test::stress_for(300ms, [&](std::mt19937_64& random) {
    at.rt.run([](homes& h, std::mt19937_64& dice) -> task<void> {
      tandem::io::tcp_options small;
      small.send_buffer_bytes = 4096;
      small.receive_buffer_bytes = 4096;
      connection c = co_await make_connection(small);
      counted_bytes seen;
      std::size_t sent = 0;
      co_await with_scope([&](task_scope& scope) -> task<void> {
        scope.spawn([](tcp_stream& from, counted_bytes& count) -> task<void> {
          std::vector<std::byte> room(1500);
          while (const std::size_t n = co_await from.read(room)) {
            count.add(std::span(room).first(n));
            if (count.count % 3 == 0) co_await tandem::sleep_for(50us);
          }
        }(c.server, seen));
        while (sent < 150'000) {
          auto took =
              co_await race_with_cancel(h, dice, write_some(c.client, sent, 1 + dice() % 9000));
          if (took) sent += took.value();
        }
        c.client.shutdown();
      });
      EXPECT_EQ(seen.count, sent);
      EXPECT_EQ(seen.wrong, 0U);
    }(at, random));
  });
}

task<tcp_stream> accept_one(tcp_listener& listener) { co_return co_await listener.accept(); }
task<tcp_stream> connect_one(endpoint peer) { co_return co_await tcp_stream::connect(peer); }

// Each connection is accepted once, and is served: its number comes back. So none was accepted for
// nobody.
TEST(cancel_race, every_connection_is_accepted_once_however_often_accepts_are_cancelled) {
  homes at;
  const std::size_t before = open_descriptors();
  tandem::test::stress_for(300ms, [&](std::mt19937_64& random) {
    at.rt.run([](homes& h, std::mt19937_64& dice) -> task<void> {
      constexpr int count = 60;
      tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
      std::vector<tcp_stream> accepted;
      co_await with_scope([&](task_scope& scope) -> task<void> {
        scope.spawn([](endpoint peer, std::uint64_t seed) -> task<void> {
          std::mt19937_64 pauses(seed);
          for (int i = 0; i < count; ++i) {
            tcp_stream mine = co_await tcp_stream::connect(peer);
            const auto number = static_cast<std::byte>(i);
            co_await mine.write_all(std::span(&number, 1));
            co_await tandem::sleep_for(std::chrono::microseconds(pauses() % 100));
          }
        }(listener.local_endpoint(), dice()));
        while (accepted.size() < count) {
          auto got = co_await race_with_cancel(h, dice, accept_one(listener));
          if (got) accepted.push_back(std::move(got).value());
        }
      });
      for (int i = 0; i < count; ++i) {
        std::array<std::byte, 2> room{};
        EXPECT_EQ(co_await accepted[static_cast<std::size_t>(i)].read(room), 1U);
        EXPECT_EQ(room[0], static_cast<std::byte>(i));
      }
    }(at, random));
    EXPECT_EQ(open_descriptors(), before);
  });
}

TEST(cancel_race, a_connect_gives_a_connection_or_nothing) {
  homes at;
  const std::size_t before = open_descriptors();
  tandem::test::stress_for(300ms, [&](std::mt19937_64& random) {
    at.rt.run([](homes& h, std::mt19937_64& dice) -> task<void> {
      tcp_listener listener = tcp_listener::bind(endpoint::loopback_v4(0));
      for (int i = 0; i < 50; ++i) {
        auto got = co_await race_with_cancel(h, dice, connect_one(listener.local_endpoint()));
        if (!got) {
          EXPECT_TRUE(got.is_cancelled());
          continue;
        }
        // It is one: what is written arrives at one of those that were accepted.
        const auto number = static_cast<std::byte>(i);
        co_await got.value().write_all(std::span(&number, 1));
        std::array<std::byte, 2> room{};
        while (true) {
          tcp_stream other = co_await listener.accept();
          auto read = co_await as_result(other.read(room));
          if (read && read.value() == 1 && room[0] == number) break;
        }
      }
    }(at, random));
    EXPECT_EQ(open_descriptors(), before);
  });
}

task<int> wait_readable(tandem::io::native_descriptor descriptor) {
  co_await tandem::io::readable(descriptor);
  co_return 1;
}

TEST(cancel_race, readiness_is_seen_or_cancelled_and_stays) {
  homes at;
  tandem::test::stress_for(300ms, [&](std::mt19937_64& random) {
    at.rt.run([](homes& h, std::mt19937_64& dice) -> task<void> {
      connection c = co_await make_connection();
      tandem::io::native_descriptor descriptor = c.server.release();
      for (int i = 0; i < 50; ++i) {
        co_await with_scope([&](task_scope& scope) -> task<void> {
          scope.spawn([](tcp_stream& to, std::uint64_t pause) -> task<void> {
            co_await tandem::sleep_for(std::chrono::microseconds(pause));
            const std::byte one{1};
            co_await to.write_all(std::span(&one, 1));
          }(c.client, dice() % 60));
          while (true) {
            auto got = co_await race_with_cancel(h, dice, wait_readable(descriptor));
            if (got) break;
            EXPECT_TRUE(got.is_cancelled());
          }
        });
        tcp_stream taken = tcp_stream::from_native(descriptor);
        std::array<std::byte, 4> room{};
        EXPECT_EQ(co_await taken.read(room), 1U);
        descriptor = taken.release();
      }
      tcp_stream::from_native(descriptor).close();
    }(at, random));
  });
}

}  // namespace
