// buffers_in_flight_test.cpp: memory that goes while the kernel writes into it is noticed, and the operation named.
// SPDX-License-Identifier: MIT
#include <tandem/io/buffers_in_flight.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <tandem/as_result.hpp>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/install.hpp>
#include <tandem/io/registered_buffer.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <vector>

#include "io/support/io_support.hpp"
#include "io/support/udp_socket.hpp"
#include "sanitized.hpp"
#include "test_runtime.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::task;
using tandem::task_scope;
using tandem::with_scope;
using tandem::io::check_no_buffer_in_flight;
using tandem::io::completion_pool;
using tandem::io::registered_buffer;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::pattern;
using tandem::test::test_runtime;

task<void> read_into(tcp_stream& from, std::span<std::byte> room) {
  (void)co_await tandem::as_result(from.read(room));
}
task<void> read_parts(tcp_stream& from, std::span<std::byte> room) {
  const std::array<std::span<std::byte>, 2> parts{room.first(1), room.subspan(1)};
  (void)co_await tandem::as_result(from.read(parts));
}
[[maybe_unused]] task<void> receive_datagram(tcp_stream& /*other*/, std::span<std::byte> room) {
  tandem::test::udp_socket socket;
  (void)co_await tandem::as_result(socket.receive(room));
}

TEST(buffers_in_flight, memory_is_free_again_when_its_operation_has_ended) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    connection c = co_await make_connection();
    std::vector<std::byte> room(100);
    for (int i = 0; i < 3; ++i) {
      co_await with_scope([&](task_scope& scope) -> task<void> {
        scope.spawn(i == 1 ? read_parts(c.server, room) : read_into(c.server, room));
        co_await tandem::sleep_for(1ms);
        check_no_buffer_in_flight(room.data() + room.size(), 1);
        if (i == 0) scope.request_stop();
        if (i > 0) co_await c.client.write_all(pattern(3, 1));
      });
      check_no_buffer_in_flight(room.data(), room.size());
    }
  }());
}

#if defined(NDEBUG)
TEST(buffers_in_flight, without_assertions_nothing_is_registered) {
  EXPECT_FALSE(tandem::io::are_buffers_checked());
}
#else

/// Until an operation more has been submitted: a check that comes sooner finds nothing, and the
/// read waits for ever.
task<void> one_more_than(std::uint64_t in_flight, completion_pool& pool) {
  while (pool.stats().in_flight <= in_flight) co_await tandem::sleep_for(1ms);
}

TEST(buffers_in_flight_death, giving_memory_up_names_the_operation_that_uses_it) {
  const auto reads = [](auto how) {
    test_runtime rt;
    rt.run([](auto read, completion_pool& pool) -> task<void> {
      connection c = co_await make_connection();
      std::vector<std::byte> room(100);
      co_await with_scope([&](task_scope& scope) -> task<void> {
        const std::uint64_t before = pool.stats().in_flight;
        scope.spawn(read(c.server, room));
        co_await one_more_than(before, pool);
        check_no_buffer_in_flight(room.data(), room.size());
      });
    }(how, tandem::io::install(*rt)));
  };
  EXPECT_DEATH(reads(read_into),
               "memory was given up while tcp_stream::read on descriptor [0-9]+ was in flight: its "
               "buffer, 100 bytes.*\n.*belongs to task [0-9]+, spawned at ");
  EXPECT_DEATH(reads(read_parts), "tcp_stream::read of a list on descriptor [0-9]+ was in flight");
  EXPECT_DEATH(reads(receive_datagram),
               "udp_socket::receive_into on descriptor [0-9]+ was in flight: its buffer");
}

TEST(buffers_in_flight_death, a_registered_buffer_that_has_no_slot_is_looked_at_too) {
  const auto ends_too_early = [] {
    test_runtime rt;
    std::vector<registered_buffer> others;  // all slots that there are
    while (others.size() < 1024) others.emplace_back(std::size_t{1});
    rt.run([](completion_pool& pool) -> task<void> {
      connection c = co_await make_connection();
      co_await with_scope([&](task_scope& scope) -> task<void> {
        registered_buffer block(100);
        if (block.bytes().has_slot()) co_return;
        const std::uint64_t before = pool.stats().in_flight;
        scope.spawn(read_into(c.server, block.bytes()));
        co_await one_more_than(before, pool);
      });
    }(tandem::io::install(*rt)));
  };
  EXPECT_DEATH(ends_too_early(), "memory was given up while tcp_stream::read on descriptor");
}

/// Its frame holds the buffer, and goes first.
task<void> leaves_too_early(tcp_stream& from, completion_pool& pool) {
  std::array<std::byte, 64> room{};
  const std::uint64_t before = pool.stats().in_flight;
  tandem::spawn(read_into(from, room)).detach();
  co_await one_more_than(before, pool);
}

TEST(buffers_in_flight_death, a_frame_that_goes_with_a_buffer_in_flight_names_the_operation) {
  const auto leave = [] {
    test_runtime rt;
    rt.run([](completion_pool& pool) -> task<void> {
      connection c = co_await make_connection();
      co_await leaves_too_early(c.server, pool);
      co_await tandem::sleep_for(1s);
    }(tandem::io::install(*rt)));
  };
  EXPECT_DEATH(leave(),
               "a coroutine's frame was freed while tcp_stream::read on descriptor [0-9]+ was in "
               "flight: its buffer, 64 bytes");
}

#if defined(TANDEM_TEST_ADDRESS_SANITIZER)
TEST(buffers_in_flight_death, a_buffer_that_was_freed_names_the_operation_when_that_ends) {
  const auto frees = [] {
    test_runtime rt;
    rt.run([](completion_pool& pool) -> task<void> {
      connection c = co_await make_connection();
      auto room = std::make_unique<std::array<std::byte, 77>>();
      co_await with_scope([&](task_scope& scope) -> task<void> {
        const std::uint64_t before = pool.stats().in_flight;
        scope.spawn(read_into(c.server, *room));
        co_await one_more_than(before, pool);
        room.reset();
        scope.request_stop();
      });
    }(tandem::io::install(*rt)));
  };
  EXPECT_DEATH(frees(),
               "memory was freed while tcp_stream::read on descriptor [0-9]+ was in flight: its "
               "buffer, 77 bytes");
}
#endif
#endif

}  // namespace
