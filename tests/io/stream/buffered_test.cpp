// buffered_test.cpp: buffered readers and writers: lines, exact reads, nothing lost by failures.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/buffered_writer.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <vector>

#include "io/stream/scripted_stream.hpp"
#include "io/support/io_support.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::buffered_reader;
using tandem::io::buffered_writer;
using tandem::io::stream_errc;
using tandem::io::tcp_stream;
using tandem::test::bytes_of;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::pattern;
using tandem::test::plain_sink;
using tandem::test::scripted_sink;
using tandem::test::scripted_source;
using tandem::test::test_runtime;
using tandem::test::until_done;

class two_bytes {
 public:
  tandem::task<std::size_t> read(std::span<std::byte> room);
};
static_assert(tandem::io::readable_stream<two_bytes>);
static_assert(!tandem::io::writable_stream<two_bytes>);
static_assert(tandem::io::readable_stream<tcp_stream> && tandem::io::counting_stream<tcp_stream>);
static_assert(tandem::io::readable_stream<buffered_reader<tcp_stream>>);
static_assert(tandem::io::writable_stream<buffered_writer<tcp_stream>>);
static_assert(!tandem::io::counting_stream<buffered_writer<tcp_stream>>);

std::vector<std::byte> to_bytes(std::string_view text) {
  const auto bytes = bytes_of(text);
  return {bytes.begin(), bytes.end()};
}
std::string to_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};  // NOLINT
}

TEST(buffered_reader, lines_come_out_whole_however_they_came_in) {
  test_runtime rt;
  tandem::test::for_rounds(40, [&rt](std::mt19937_64& random) {
    rt.run([](std::uint64_t seed) -> task<void> {
      std::mt19937_64 dice(seed);
      std::vector<std::string> lines;
      std::string text;
      for (int i = 0; i < 200; ++i) {
        // Halves of the delimiter lie everywhere.
        std::string line;
        for (std::size_t n = dice() % 60; n > 0; --n) line += "ab\r\rc"[dice() % 5];
        text += line + "\r\n";
        lines.push_back(std::move(line));
      }
      scripted_source source(to_bytes(text), seed);
      buffered_reader reader(source, 1 + dice() % 64);
      std::vector<std::string> got;
      while (auto line = co_await reader.read_until("\r\n", 60)) got.push_back(std::move(*line));
      EXPECT_EQ(got, lines);
      EXPECT_FALSE(co_await reader.read_until("\r\n", 60));  // the end stays the end
    }(random()));
  });
}

TEST(buffered_reader, whether_a_line_is_there_is_known_without_a_read) {
  tandem::io::tcp_stream closed;
  buffered_reader reader(closed);
  reader.put_back(bytes_of("one\r"));
  EXPECT_FALSE(reader.has("\r\n"));
  reader.put_back(bytes_of("\r\n"));
  EXPECT_TRUE(reader.has("\r\n"));
}

TEST(buffered_reader, a_line_over_the_limit_and_a_cut_one_are_errors_that_take_nothing) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    scripted_source source(to_bytes("12345\n1234\nrest"), 1);
    buffered_reader reader(source, 4);
    EXPECT_EQ((co_await as_result(reader.read_until("\n", 4))).error(), stream_errc::too_long);
    EXPECT_EQ((co_await as_result(reader.read_until("\n", 4))).error(), stream_errc::too_long);
    EXPECT_EQ(*co_await reader.read_until("\n", 5), "12345");
    EXPECT_EQ(*co_await reader.read_until("\n", 4), "1234");
    EXPECT_EQ((co_await as_result(reader.read_until("\n", 100))).error(),
              stream_errc::unexpected_end);
    EXPECT_EQ(to_text(reader.buffered()), "rest");
    std::array<std::byte, 5> five{};
    EXPECT_EQ((co_await as_result(reader.read_exactly(five))).error(), stream_errc::unexpected_end);
    EXPECT_EQ(to_text(reader.buffered()), "rest");
    reader.consume(1);
    reader.put_back(bytes_of("b"));
    std::array<std::byte, 4> four{};
    co_await reader.read_exactly(four);
    EXPECT_EQ(to_text(four), "best");
    EXPECT_EQ(co_await reader.read(four), 0U);
    EXPECT_EQ(co_await reader.read({}), 0U);
  }());
}

/// All lines of a text that comes in pieces, however it is cut, with a mark behind each.
task<std::string> lines_of(std::string text, std::uint64_t seed) {
  scripted_source source(to_bytes(text), seed);
  buffered_reader reader(source, 1 + seed % 9);
  std::string lines;
  while (const auto line = co_await reader.read_line()) lines += *line + "|";
  EXPECT_FALSE(co_await reader.read_line()) << "the end stays the end";
  co_return lines;
}

TEST(buffered_reader, the_last_line_of_a_text_needs_no_end) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      EXPECT_EQ(co_await lines_of("", seed), "");
      EXPECT_EQ(co_await lines_of("one", seed), "one|");
      EXPECT_EQ(co_await lines_of("one\n", seed), "one|");
      EXPECT_EQ(co_await lines_of("\n", seed), "|");
      EXPECT_EQ(co_await lines_of("one\ntwo\r\n\r\n\nlast", seed), "one|two|||last|");
      EXPECT_EQ(co_await lines_of("a\rb\r\r\nc\r", seed), "a\rb\r|c\r|")
          << "only one before the end belongs to it";
    }
  }());
}

TEST(buffered_reader, a_line_of_text_over_the_limit_takes_nothing_also_at_the_end) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    scripted_source source(to_bytes("12345\n1234\n12345"), 1);
    buffered_reader reader(source, 4);
    EXPECT_EQ((co_await as_result(reader.read_line(4))).error(), stream_errc::too_long);
    EXPECT_EQ(*co_await reader.read_line(5), "12345");
    EXPECT_EQ(*co_await reader.read_line(4), "1234");
    EXPECT_EQ((co_await as_result(reader.read_line(4))).error(), stream_errc::too_long);
    EXPECT_EQ(*co_await reader.read_line(5), "12345");
    EXPECT_FALSE(co_await reader.read_line(0));
    scripted_source large(std::vector<std::byte>(65'537, std::byte{'x'}), 1);
    buffered_reader over(large);
    EXPECT_EQ((co_await as_result(over.read_line())).error(), stream_errc::too_long);
    EXPECT_EQ((co_await over.read_line(65'537))->size(), 65'537U);
  }());
}

TEST(buffered_reader, a_line_whose_reading_was_stopped_at_any_point_comes_whole_afterwards) {
  test_runtime rt;
  tandem::test::for_rounds(20, [&rt](std::mt19937_64& random) {
    rt.run([](std::uint64_t seed) -> task<void> {
      scripted_source source(to_bytes("the first line\r\nand the last one"), seed, true);
      buffered_reader reader(source, 1 + seed % 7);
      EXPECT_EQ(*co_await until_done([&] { return reader.read_line(); }), "the first line");
      EXPECT_EQ(*co_await until_done([&] { return reader.read_line(); }), "and the last one");
      EXPECT_FALSE(co_await until_done([&] { return reader.read_line(); }));
    }(random()));
  });
}

TEST(bytes_of, and_text_of_are_views_of_the_same_bytes) {
  const std::string_view text("with a \0 inside", 15);
  const auto bytes = tandem::io::bytes_of(text);
  EXPECT_EQ(tandem::io::text_of(bytes), text);
  EXPECT_EQ(static_cast<const void*>(tandem::io::text_of(bytes).data()), text.data());
  EXPECT_EQ(tandem::io::text_of({}), "");
}

TEST(buffered_reader, calls_that_fail_at_any_point_lose_and_repeat_no_byte) {
  test_runtime rt;
  tandem::test::for_rounds(40, [&rt](std::mt19937_64& random) {
    rt.run([](std::uint64_t seed) -> task<void> {
      std::mt19937_64 dice(seed);
      const std::vector<std::byte> whole = pattern(20'000, static_cast<unsigned>(seed));
      scripted_source source(whole, dice(), true);
      buffered_reader reader(source, 1 + dice() % 200);
      std::vector<std::byte> got;
      const auto add = [&got](std::span<const std::byte> more) {
        got.insert(got.end(), more.begin(), more.end());
      };
      while (got.size() < whole.size()) {
        const std::size_t left = whole.size() - got.size();
        switch (dice() % 3) {
          case 0: {
            std::vector<std::byte> room(1 + dice() % std::min<std::size_t>(left, 700));
            co_await until_done([&] { return reader.read_exactly(room); });
            add(room);
            break;
          }
          case 1: {
            std::vector<std::byte> room(1 + dice() % 300);
            const std::size_t n = co_await until_done([&] { return reader.read(room); });
            EXPECT_GT(n, 0U);
            add(std::span(room).first(n));
            break;
          }
          default: {
            const std::string delimiter(1, static_cast<char>(dice()));
            try {
              const auto line =
                  co_await until_done([&] { return reader.read_until(delimiter, 3000); });
              EXPECT_TRUE(line);
              if (!line) co_return;
              add(bytes_of(*line + delimiter));
            } catch (const std::system_error&) {  // none until the end, or none near
            }
          }
        }
      }
      EXPECT_EQ(got, whole);
      std::byte extra{};
      EXPECT_EQ(co_await until_done([&] { return reader.read(std::span(&extra, 1)); }), 0U);
    }(random()));
  });
}

TEST(buffered_reader, reads_over_tcp_that_race_with_deadlines_lose_no_byte) {
  tandem::test::on_every_home([]() -> task<void> {
    connection both = co_await make_connection();
    const std::vector<std::byte> sent = pattern(4000, 3);
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](tcp_stream& out, std::span<const std::byte> bytes) -> task<void> {
        for (std::size_t at = 0; at < bytes.size(); at += 20) {
          co_await tandem::sleep_for(std::chrono::microseconds(at * 31 % 60));
          co_await out.write_all(bytes.subspan(at, 20));
        }
      }(both.client, sent));
      buffered_reader reader(both.server, 16);
      std::vector<std::byte> got;
      std::array<std::byte, 50> part{};
      while (got.size() < sent.size()) {
        if (co_await as_result(tandem::with_timeout(70us, reader.read_exactly(part)))) {
          got.insert(got.end(), part.begin(), part.end());
        }
      }
      EXPECT_EQ(got, sent);
    });
  });
}

TEST(buffered_writer, small_writes_are_collected_and_large_ones_go_past) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    plain_sink sink;
    buffered_writer writer(sink, 8);
    co_await writer.write_all(bytes_of("abc"));
    co_await writer.write_all(bytes_of("defgh"));
    EXPECT_EQ(to_text(sink.taken), "");
    EXPECT_EQ(writer.buffered_bytes(), 8U);
    EXPECT_FALSE(writer.try_write(bytes_of("i")));
    co_await writer.write_all(bytes_of("i"));
    EXPECT_EQ(to_text(sink.taken), "abcdefgh");
    co_await writer.write_all(bytes_of("jklmnopqrst"));
    EXPECT_EQ(to_text(sink.taken), "abcdefghijklmnopqrst");
    EXPECT_TRUE(writer.try_write(bytes_of("u")));
    co_await writer.flush();
    co_await writer.flush();
    EXPECT_EQ(to_text(sink.taken), "abcdefghijklmnopqrstu");
    EXPECT_EQ(writer.buffered_bytes(), 0U);
  }());
}

TEST(buffered_writer, a_flush_that_is_stopped_keeps_what_was_not_sent) {
  test_runtime rt;
  tandem::test::for_rounds(40, [&rt](std::mt19937_64& random) {
    rt.run([](std::uint64_t seed) -> task<void> {
      std::mt19937_64 dice(seed);
      const std::vector<std::byte> whole = pattern(5000, static_cast<unsigned>(seed));
      scripted_sink sink(seed, true);
      buffered_writer writer(sink, 100);
      for (std::size_t at = 0; at < whole.size();) {
        const std::size_t n = std::min<std::size_t>(1 + dice() % 100, whole.size() - at);
        const auto part = std::span(whole).subspan(at, n);
        co_await until_done([&] { return writer.write_all(part); });
        at += n;
      }
      co_await until_done([&] { return writer.flush(); });
      EXPECT_EQ(sink.taken, whole);
    }(random()));
  });
}

TEST(buffered_writer, of_a_sink_that_does_not_count_a_stopped_flush_is_not_repeated) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    plain_sink sink;
    buffered_writer writer(sink, 8);
    co_await writer.write_all(bytes_of("lost"));
    sink.fails_next = true;
    EXPECT_TRUE((co_await as_result(writer.flush())).is_cancelled());
    EXPECT_EQ(writer.buffered_bytes(), 0U);
    co_await writer.write_all(bytes_of("next"));
    co_await writer.flush();
    EXPECT_EQ(to_text(sink.taken), "next");
  }());
}

}  // namespace
