// send_file_test.cpp: files to connections, whole and in part, from the cache and from the disk.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/io/any_stream.hpp>
#include <tandem/io/copy.hpp>
#include <tandem/io/file.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "io/stream/scripted_stream.hpp"
#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::copy;
using tandem::io::copy_options;
using tandem::io::file;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::put;
using tandem::test::read_to_end;
using tandem::test::temporary_folder;

constexpr std::size_t size = 3'000'001;  // more than a call sends, and than a small socket takes

tandem::io::tcp_options small_buffers() {
  tandem::io::tcp_options small;
  small.send_buffer_bytes = 32 * 1024;
  small.receive_buffer_bytes = 32 * 1024;
  return small;
}

std::vector<std::byte> part_of(const std::vector<std::byte>& all, std::size_t from,
                               std::size_t bytes) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(bytes)};
}

task<std::uint64_t> send_and_end(tcp_stream& to, file& from, std::uint64_t at,
                                 std::uint64_t bytes) {
  const std::uint64_t sent = co_await to.send_file(from, at, bytes);
  to.shutdown();
  co_return sent;
}

TEST(send_file, a_part_arrives_as_it_is_in_the_file_and_the_end_of_the_file_ends_it) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(size, 3);
  put(folder / "f", whole);
  on_every_home([&]() -> task<void> {
    file source = co_await file::open(folder / "f");
    for (const auto& [at, asked, sent] :
         {std::tuple(0U, size, size), std::tuple(0U, 0 * size, 0 * size),
          std::tuple(1'000'001U, size - 1'500'000, size - 1'500'000),
          std::tuple(4097U, 2 * size, size - 4097), std::tuple(3'000'001U, size, 0 * size),
          std::tuple(9'000'000U, size, 0 * size)}) {
      connection c = co_await make_connection(small_buffers());
      auto ended = co_await tandem::when_all(send_and_end(c.client, source, at, asked),
                                             read_to_end(c.server));
      EXPECT_EQ(std::get<0>(ended), sent);
      EXPECT_EQ(std::get<1>(ended), part_of(whole, sent == 0 ? 0 : at, sent));
    }
  });
}

TEST(send_file, what_is_on_the_disk_only_arrives_likewise) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(size, 4);
  put(folder / "f", whole);
  on_every_home([&]() -> task<void> {
    tandem::test::drop_from_cache(folder / "f");
    file source = co_await file::open(folder / "f");
    connection c = co_await make_connection(small_buffers());
    auto ended =
        co_await tandem::when_all(send_and_end(c.client, source, 5, size), read_to_end(c.server));
    EXPECT_EQ(std::get<0>(ended), size - 5);
    EXPECT_EQ(std::get<1>(ended), part_of(whole, 5, size - 5));
  });
}

TEST(send_file, it_keeps_its_place_among_other_writes_beside_a_read) {
  const temporary_folder folder;
  put(folder / "f", tandem::test::bytes_of("page"));
  on_every_home([&]() -> task<void> {
    file source = co_await file::open(folder / "f");
    connection c = co_await make_connection();
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](tcp_stream& s) -> task<void> {
        EXPECT_EQ(co_await read_to_end(s), tandem::test::pattern(0, 0));
      }(c.client));
      co_await c.client.write_all(tandem::test::bytes_of("head "));
      EXPECT_EQ(co_await c.client.send_file(source), 4U);
      co_await c.client.write_all(tandem::test::bytes_of(" foot"));
      c.client.shutdown();
      const std::vector<std::byte> got = co_await read_to_end(c.server);
      EXPECT_EQ(std::string(reinterpret_cast<const char*>(got.data()), got.size()),  // NOLINT
                "head page foot");
      c.server.shutdown();
    });
  });
}

TEST(send_file, a_stop_while_the_peer_does_not_read_tells_what_was_sent) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(size, 5);
  put(folder / "f", whole);
  on_every_home([&]() -> task<void> {
    file source = co_await file::open(folder / "f");
    connection c = co_await make_connection(small_buffers());
    const auto send = [&] {
      return tandem::with_timeout(20ms, c.client.send_file_some(source, 0, size));
    };
    auto sent = co_await as_result(send());
    while (sent.is_cancelled()) sent = co_await as_result(send());  // it was over before it began
    EXPECT_TRUE(sent);
    if (!sent) co_return;
    EXPECT_GT(sent.value(), 0U);
    EXPECT_LT(sent.value(), size);
    c.client.shutdown();
    EXPECT_EQ(co_await read_to_end(c.server), part_of(whole, 0, sent.value()));
  });
}

TEST(send_file, a_stop_after_some_of_it_is_no_end_of_the_file) {
  const temporary_folder folder;
  put(folder / "f", pattern(size, 5));
  on_every_home([&]() -> task<void> {
    file source = co_await file::open(folder / "f");
    connection c = co_await make_connection(small_buffers());
    const auto sent = co_await as_result(tandem::with_timeout(20ms, c.client.send_file(source)));
    EXPECT_TRUE(sent.is_cancelled());
    c.client.abort();
  });
}

TEST(send_file, a_peer_that_leaves_after_some_of_it_is_an_error) {
  const temporary_folder folder;
  put(folder / "f", pattern(size, 5));
  on_every_home([&]() -> task<void> {
    file source = co_await file::open(folder / "f");
    connection c = co_await make_connection(small_buffers());
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](tcp_stream& to, file& from) -> task<void> {
        EXPECT_TRUE((co_await as_result(to.send_file(from))).error());
      }(c.client, source));
      std::array<std::byte, 100> some;
      (void)co_await c.server.read(some);
      c.server.abort();
    });
  });
}

TEST(send_file, a_stop_before_it_begins_sends_nothing) {
  const temporary_folder folder;
  put(folder / "f", pattern(100, 5));
  on_every_home([&]() -> task<void> {
    file source = co_await file::open(folder / "f");
    connection c = co_await make_connection();
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.request_stop();
      EXPECT_TRUE((co_await as_result(c.client.send_file(source, 0, 100))).is_cancelled());
    });
    c.client.shutdown();
    EXPECT_TRUE((co_await read_to_end(c.server)).empty());
  });
}

TEST(send_file, a_peer_that_has_left_is_an_error_and_no_signal) {
  const temporary_folder folder;
  put(folder / "f", pattern(size, 6));
  on_every_home([&]() -> task<void> {
    file source = co_await file::open(folder / "f");
    connection c = co_await make_connection(small_buffers());
    c.server.abort();
    std::error_code failure;
    while (!failure) failure = (co_await as_result(c.client.send_file(source, 0, size))).error();
    EXPECT_TRUE(failure == std::errc::broken_pipe || failure == std::errc::connection_reset ||
                failure == std::errc::connection_aborted)
        << failure.message();
  });
}

TEST(send_file, a_file_or_stream_that_is_not_open_is_refused) {
  const temporary_folder folder;
  put(folder / "f", pattern(10, 6));
  on_every_home([&]() -> task<void> {
    file source = co_await file::open(folder / "f");
    file closed;
    connection c = co_await make_connection();
    EXPECT_EQ((co_await as_result(c.client.send_file(closed, 0, 10))).error(),
              std::errc::bad_file_descriptor);
    c.client.close();
    EXPECT_EQ((co_await as_result(c.client.send_file(source, 0, 10))).error(),
              std::errc::bad_file_descriptor);
  });
}

TEST(send_file, a_file_that_is_cut_off_meanwhile_ends_there) {
  const temporary_folder folder;
  put(folder / "f", pattern(size, 7));
  on_every_home([&]() -> task<void> {
    put(folder / "f", pattern(size, 7));
    file source = co_await file::open(folder / "f", tandem::io::open_mode::read_write);
    connection c = co_await make_connection(small_buffers());
    std::uint64_t sent = 0;
    std::vector<std::byte> got;
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](tcp_stream& to, file& from, std::uint64_t& count) -> task<void> {
        count = co_await send_and_end(to, from, 0, size);
      }(c.client, source, sent));
      std::vector<std::byte> first(1000);
      const std::size_t n = co_await c.server.read(first);
      co_await source.truncate(100'000);
      got.assign(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(n));
      const std::vector<std::byte> rest = co_await read_to_end(c.server);
      got.insert(got.end(), rest.begin(), rest.end());
    });
    EXPECT_EQ(sent, got.size());
    EXPECT_LT(sent, size);
  });
}

TEST(send_file, copy_sends_a_file_to_whatever_writes_and_passes_the_end_on) {
  const temporary_folder folder;
  const std::vector<std::byte> whole = pattern(size, 8);
  put(folder / "f", whole);
  on_every_home([&]() -> task<void> {
    file source = co_await file::open(folder / "f");
    copy_options options;
    std::uint64_t progress = 0;
    options.progress = &progress;
    options.from_offset = 10;
    options.most_bytes = size - 20;
    const std::vector<std::byte> wanted = part_of(whole, 10, size - 20);
    connection c = co_await make_connection(small_buffers());
    auto ended = co_await tandem::when_all(copy(source, c.client, options), read_to_end(c.server));
    EXPECT_EQ(std::get<0>(ended), size - 20);
    EXPECT_EQ(std::get<1>(ended), wanted);
    connection d = co_await make_connection(small_buffers());
    tandem::io::any_stream erased(std::move(d.client));
    auto again = co_await tandem::when_all(copy(source, erased, options), read_to_end(d.server));
    EXPECT_EQ(std::get<1>(again), wanted);
    tandem::test::scripted_sink sink(1);
    EXPECT_EQ(co_await copy(source, sink, options), size - 20);
    EXPECT_EQ(sink.taken, wanted);
    EXPECT_TRUE(sink.ended);
    EXPECT_EQ(progress, 3 * (size - 20));
  });
}

}  // namespace
