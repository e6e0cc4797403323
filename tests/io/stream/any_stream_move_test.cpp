// any_stream_move_test.cpp: what an any_stream holds: empty, moved, assigned, asked for.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/any_stream.hpp>
#include <tandem/run.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/yield.hpp>
#include <type_traits>
#include <utility>
#include <vector>

#include "io/stream/any_stream_support.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::any_stream;
using tandem::io::tcp_stream;
using tandem::test::any_connection;
using tandem::test::bytes_of;
using tandem::test::connection;
using tandem::test::for_every_kind;
using tandem::test::make_connection;
using tandem::test::memory_stream;
using tandem::test::on_every_home;
using tandem::test::read_to_end;
using tandem::test::task_stream;

constexpr std::errc closed = std::errc::bad_file_descriptor;

static_assert(tandem::io::byte_stream<memory_stream> && tandem::io::byte_stream<task_stream>);
static_assert(std::is_convertible_v<tcp_stream, any_stream>);
static_assert(!std::is_convertible_v<tcp_stream&, any_stream>, "a stream is given away by a move");
static_assert(!std::is_convertible_v<const tcp_stream&, any_stream>);
static_assert(!std::is_copy_constructible_v<any_stream>);
static_assert(std::is_nothrow_move_constructible_v<any_stream>);
static_assert(!std::is_constructible_v<any_stream, int>);

/// That every operation fails as that of a tcp_stream that was never opened.
task<void> expect_empty(any_stream& stream) {
  EXPECT_FALSE(stream.is_open());
  EXPECT_FALSE(stream.has_thread_executor());
  std::array<std::byte, 4> room{};
  const std::array<std::span<const std::byte>, 1> list{room};
  EXPECT_EQ((co_await as_result(stream.read(room))).error(), closed);
  EXPECT_EQ((co_await as_result(stream.write(room))).error(), closed);
  EXPECT_EQ((co_await as_result(stream.write_all(room))).error(), closed);
  EXPECT_EQ((co_await as_result(stream.write_all(list))).error(), closed);
  EXPECT_THROW(stream.shutdown(), std::system_error);
  EXPECT_THROW((void)co_await stream.read(room), std::system_error);
  stream.close();
}

TEST(any_stream, an_empty_one_fails_as_a_stream_that_was_never_opened) {
  on_every_home([]() -> task<void> {
    any_stream none;
    co_await expect_empty(none);
    EXPECT_NE(none.target<tcp_stream>(), nullptr);
  });
}

/// Somebody else's connection, by reference: it does not say whether it is open.
class borrowed_stream {
 public:
  explicit borrowed_stream(tcp_stream& lender) noexcept : lender_(&lender) {}
  auto read(std::span<std::byte> buffer) noexcept { return lender_->read(buffer); }
  auto write(std::span<const std::byte> bytes) noexcept { return lender_->write(bytes); }
  auto write_all(std::span<const std::byte> bytes) noexcept { return lender_->write_all(bytes); }
  auto write_all(std::span<const std::span<const std::byte>> list) noexcept {
    return lender_->write_all(list);
  }
  void shutdown() { lender_->shutdown(); }
  void close() noexcept {}
  tandem::executor& thread_executor() const { return lender_->thread_executor(); }

 private:
  tcp_stream* lender_;
};

TEST(any_stream, one_that_was_closed_stays_so_wherever_it_moves) {
  on_every_home([]() -> task<void> {
    connection pair = co_await make_connection();
    any_stream first = borrowed_stream(pair.client);
    EXPECT_TRUE(first.is_open());
    EXPECT_TRUE(first.has_thread_executor());
    first.close();
    EXPECT_FALSE(first.is_open());
    EXPECT_FALSE(first.has_thread_executor());
    any_stream second = std::move(first);
    EXPECT_FALSE(second.is_open());
    EXPECT_FALSE(second.has_thread_executor());
    EXPECT_NE(second.target<borrowed_stream>(), nullptr);
    first = std::move(second);
    EXPECT_FALSE(first.is_open());
  });
}

TEST(any_stream, one_that_was_moved_from_is_empty_and_the_other_goes_on) {
  for_every_kind([](any_connection c) -> task<void> {
    any_stream moved = std::move(c.client);
    co_await expect_empty(c.client);  // NOLINT: that is the point
    co_await moved.write_all(bytes_of("abc"));
    c.client = std::move(moved);
    co_await expect_empty(moved);  // NOLINT
    any_stream& itself = c.client;
    c.client = std::move(itself);
    co_await c.client.write_all(bytes_of("def"));
    c.client = any_stream();  // closes it
    EXPECT_EQ((co_await read_to_end(c.server)).size(), 6U);
  });
}

TEST(any_stream, streams_of_several_types_lie_in_one_list_that_grows) {
  on_every_home([]() -> task<void> {
    std::vector<any_stream> servers;
    std::vector<any_stream> clients;
    for (int i = 0; i < 4; ++i) {
      connection tcp = co_await make_connection();
      servers.emplace_back(std::move(tcp.server));
      clients.emplace_back(std::move(tcp.client));
      auto awaiters = tandem::test::make_memory_connection<memory_stream>();
      servers.emplace_back(std::move(awaiters.first));
      clients.emplace_back(std::move(awaiters.second));
    }
    for (any_stream& each : clients) co_await each.write_all(bytes_of("hello"));
    clients.clear();
    for (any_stream& each : servers) EXPECT_EQ((co_await read_to_end(each)).size(), 5U);
  });
}

TEST(any_stream, its_stream_and_home_are_found_if_there_are_any) {
  on_every_home([]() -> task<void> {
    connection c = co_await make_connection();
    tandem::executor* const home = &c.server.thread_executor();
    any_stream tcp = std::move(c.server);
    EXPECT_TRUE(tcp.has_thread_executor());
    EXPECT_EQ(&tcp.thread_executor(), home);
    EXPECT_EQ(tcp.target<task_stream>(), nullptr);
    tcp_stream* const inside = tcp.target<tcp_stream>();
    EXPECT_NE(inside, nullptr);
    if (inside != nullptr) {
      inside->set_no_delay(true);
      const tcp_stream taken = std::move(*inside);
      EXPECT_TRUE(taken.is_open());
      EXPECT_FALSE(tcp.is_open());
    }
    auto [one, other] = tandem::test::make_memory_connection<task_stream>();
    any_stream tasks = std::move(one);
    EXPECT_FALSE(tasks.has_thread_executor());
    const std::array<std::span<const std::byte>, 2> list{bytes_of("a"), bytes_of("b")};
    co_await tasks.write_all(list);
    EXPECT_NE(tasks.target<task_stream>(), nullptr);
    if (auto* const held = tasks.target<task_stream>()) {
      EXPECT_EQ(held->lists, 1);
    }
  });
}

TEST(any_stream, an_operation_that_is_never_awaited_has_done_nothing) {
  for_every_kind([](any_connection c) -> task<void> {
    std::array<std::byte, 4> room{};
    { [[maybe_unused]] const auto dropped = c.server.read(room); }
    auto made = c.server.read(room);
    auto moved = std::move(made);
    co_await c.client.write_all(bytes_of("1234"));
    EXPECT_EQ(co_await std::move(moved), 4U);
  });
}

#if !defined(NDEBUG)
using any_stream_death = ::testing::Test;

/// Says when its read was called.
template <class Stream>
class telling : public Stream {
 public:
  explicit telling(Stream&& stream) : Stream(std::move(stream)) {}
  auto read(std::span<std::byte> room) {
    reads = true;
    return Stream::read(room);
  }
  inline static std::atomic<bool> reads{false};
};

/// Calls `otherwise` while a read is under way. Once in a process.
template <class Stream, class Otherwise>
task<void> while_it_reads(Otherwise otherwise) {
  auto [one, other] = tandem::test::make_memory_connection<Stream>();
  co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
    any_stream held = telling<Stream>(std::move(one));
    scope.spawn([](any_stream& stream) -> task<void> {
      std::array<std::byte, 4> room;
      (void)co_await stream.read(room);
    }(held));
    while (!telling<Stream>::reads) co_await tandem::yield();
    co_await otherwise(held);
  });
}
task<void> assign_over(any_stream& stream) {
  stream = any_stream();
  co_return;
}
task<void> move_away(any_stream& stream) {
  const any_stream taken = std::move(stream);
  co_return;
}
task<void> close(any_stream& stream) {
  stream.close();
  co_return;
}
task<void> read_beside(any_stream& stream) {
  std::array<std::byte, 4> room;
  (void)co_await stream.read(room);
}

template <class Stream>
void expect_death_of_each() {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const char* const words = "while an operation was in flight";
  EXPECT_DEATH(tandem::run(while_it_reads<Stream>(assign_over)), words);
  EXPECT_DEATH(tandem::run(while_it_reads<Stream>(move_away)), words);
  EXPECT_DEATH(tandem::run(while_it_reads<Stream>(close)), words);
  EXPECT_DEATH(tandem::run(while_it_reads<Stream>(read_beside)), "while one is under way");
}

TEST(any_stream_death, an_adapted_one_that_reads_stays_and_reads_once) {
  expect_death_of_each<memory_stream>();
}

TEST(any_stream_death, so_does_one_whose_operations_are_tasks) {
  expect_death_of_each<task_stream>();
}
#endif

}  // namespace
