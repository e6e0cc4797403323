// copy_test.cpp: passing on streams.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <tandem/as_result.hpp>
#include <tandem/io/buffered_writer.hpp>
#include <tandem/io/copy.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/when_all.hpp>
#include <vector>

#include "io/stream/scripted_stream.hpp"
#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::buffered_reader;
using tandem::io::buffered_writer;
using tandem::io::copy;
using tandem::io::copy_options;
using tandem::io::tcp_stream;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::pattern;
using tandem::test::plain_sink;
using tandem::test::read_to_end;
using tandem::test::scripted_sink;
using tandem::test::scripted_source;
using tandem::test::test_runtime;

constexpr std::size_t size = 2'000'000;  // more than small kernel buffers take without a reader

TEST(copy, everything_arrives_and_is_counted_and_the_end_is_passed_on_if_wanted) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    for (const std::size_t count : {0U, 1U, 5000U}) {
      const std::vector<std::byte> whole = pattern(count, 1);
      for (const bool passes : {true, false}) {
        scripted_source source(whole, count);
        scripted_sink sink(count);
        copy_options options;
        options.pass_end = passes;
        options.buffer_bytes = 100;
        std::uint64_t progress = 1000;
        options.progress = &progress;
        EXPECT_EQ(co_await copy(source, sink, options), count);
        EXPECT_EQ(progress, 1000 + count);
        EXPECT_EQ(sink.taken, whole);
        EXPECT_EQ(sink.ended, passes);
      }
      scripted_source source(whole, count);
      plain_sink plain;
      buffered_writer writer(plain);
      EXPECT_EQ(co_await copy(source, writer), count);
      EXPECT_EQ(plain.taken, whole);  // flushed
    }
  }());
}

TEST(copy, one_that_was_stopped_goes_on_where_it_ended) {
  test_runtime rt;
  tandem::test::for_rounds(40, [&rt](std::mt19937_64& random) {
    rt.run([](std::uint64_t seed) -> task<void> {
      const std::vector<std::byte> whole = pattern(10'000, static_cast<unsigned>(seed));
      scripted_source source(whole, seed, true);
      scripted_sink sink(seed + 1, true);
      buffered_reader reader(source, 64);
      copy_options options;
      std::uint64_t progress = 0;
      options.progress = &progress;
      while (true) {
        const auto ended = co_await as_result(copy(reader, sink, options));
        EXPECT_EQ(progress, sink.taken.size());
        if (ended) break;
        EXPECT_TRUE(ended.is_cancelled());
      }
      EXPECT_EQ(sink.taken, whole);
    }(random()));
  });
}

TEST(copy, a_proxy_passes_both_directions_and_both_ends) {
  tandem::test::on_every_home([]() -> task<void> {
    connection front = co_await make_connection();
    connection back = co_await make_connection();
    const std::vector<std::byte> question = pattern(200'000, 1);
    const std::vector<std::byte> answer = pattern(300'000, 2);
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](tcp_stream& one, tcp_stream& other) -> task<void> {
        (void)co_await tandem::when_all(copy(one, other), copy(other, one));
      }(front.server, back.client));
      scope.spawn([](tcp_stream& server, const std::vector<std::byte>& asked,
                     const std::vector<std::byte>& told) -> task<void> {
        EXPECT_EQ(co_await read_to_end(server), asked);
        co_await server.write_all(told);
        server.shutdown();
      }(back.server, question, answer));
      co_await front.client.write_all(question);
      front.client.shutdown();
      EXPECT_EQ(co_await read_to_end(front.client), answer);
    });
  });
}

/// Says how much was asked for at once.
class asked_source {
 public:
  task<std::size_t> read(std::span<std::byte> room) {
    largest = std::max(largest, room.size());
    co_return left-- > 0 ? room.size() : 0;
  }
  std::size_t largest = 0;
  int left = 3;
};

TEST(copy, asks_for_no_more_at_once_than_its_buffer_is_to_hold) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    for (const std::size_t bytes : {100U, 5000U}) {
      asked_source source;
      scripted_sink sink(1);
      copy_options options;
      options.buffer_bytes = bytes;
      EXPECT_EQ(co_await copy(source, sink, options), 3 * bytes);
      EXPECT_EQ(source.largest, bytes);
    }
  }());
}

TEST(copy, a_stop_while_the_other_side_does_not_read_keeps_what_was_read) {
  tandem::test::on_every_home([]() -> task<void> {
    tandem::io::tcp_options small;
    small.send_buffer_bytes = 32 * 1024;
    small.receive_buffer_bytes = 32 * 1024;
    connection in = co_await make_connection(small);
    connection out = co_await make_connection(small);
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](tcp_stream& s) -> task<void> {
        co_await s.write_all(pattern(size, 9));
        s.shutdown();
      }(in.client));
      buffered_reader reader(in.server, 64 * 1024);
      std::uint64_t progress = 0;
      copy_options options;
      options.progress = &progress;
      // Nobody reads: it gets stuck, and is stopped in the middle of a write.
      EXPECT_TRUE(
          (co_await as_result(tandem::with_timeout(20ms, copy(reader, out.client, options))))
              .is_cancelled());
      EXPECT_LT(progress, size);
      scope.spawn([](tcp_stream& s) -> task<void> {
        EXPECT_EQ(co_await read_to_end(s), pattern(size, 9));
      }(out.server));
      (void)co_await copy(reader, out.client, options);
      EXPECT_EQ(progress, size);
    });
  });
}

}  // namespace
