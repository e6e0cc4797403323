// framing_test.cpp: messages that begin with their length.
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <tandem/as_result.hpp>
#include <tandem/io/buffered_writer.hpp>
#include <tandem/io/framing.hpp>
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
using tandem::io::frame_format;
using tandem::io::length_prefix;
using tandem::io::read_frame;
using tandem::io::stream_errc;
using tandem::io::tcp_stream;
using tandem::io::write_frame;
using tandem::test::connection;
using tandem::test::make_connection;
using tandem::test::pattern;
using tandem::test::plain_sink;
using tandem::test::scripted_source;
using tandem::test::test_runtime;
using tandem::test::until_done;

constexpr std::array<length_prefix, 4> prefixes{length_prefix::u8, length_prefix::u16,
                                                length_prefix::u32, length_prefix::u64};
constexpr std::array<std::endian, 2> orders{std::endian::big, std::endian::little};

std::vector<int> numbers(std::span<const std::byte> bytes) {
  std::vector<int> made;
  for (const std::byte each : bytes) made.push_back(std::to_integer<int>(each));
  return made;
}

TEST(framing, lengths_stand_in_the_stream_as_the_format_says) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const std::vector<std::byte> message = pattern(0x102, 1);
    using list = std::vector<int>;
    const auto head = [&message](frame_format format) -> task<list> {
      plain_sink sink;
      co_await write_frame(sink, message, format);
      EXPECT_EQ(sink.taken.size(), static_cast<std::size_t>(format.prefix) + message.size());
      co_return numbers(std::span(sink.taken).first(static_cast<std::size_t>(format.prefix)));
    };
    const auto expect = [&head](frame_format format, list bytes) -> task<void> {
      const list got = co_await head(format);
      EXPECT_EQ(got, bytes);
    };
    const list first{1, 2};
    const list second{2, 1};
    const list third{0, 0, 1, 2};
    const list fourth{2, 1, 0, 0};
    const list fifth{0, 0, 0, 0, 0, 0, 1, 2};
    const list sixth{2, 1, 0, 0, 0, 0, 0, 0};
    co_await expect(frame_format(length_prefix::u16, std::endian::big), first);
    co_await expect(frame_format(length_prefix::u16, std::endian::little), second);
    co_await expect(frame_format(), third);
    co_await expect(frame_format(length_prefix::u32, std::endian::little), fourth);
    co_await expect(frame_format(length_prefix::u64, std::endian::big), fifth);
    co_await expect(frame_format(length_prefix::u64, std::endian::little), sixth);
  }());
}

TEST(framing, messages_of_any_size_come_out_as_they_went_in_whatever_fails_meanwhile) {
  test_runtime rt;
  tandem::test::for_rounds(1, [&rt](std::mt19937_64& random) {
    for (const length_prefix prefix : prefixes) {
      for (const std::endian order : orders) {
        rt.run([](frame_format format, std::uint64_t seed) -> task<void> {
          std::mt19937_64 dice(seed);
          plain_sink sink;
          std::vector<std::vector<std::byte>> sent;
          for (int i = 0; i < 30; ++i) {
            const std::size_t most = format.prefix == length_prefix::u8 ? 255 : 3000;
            sent.push_back(pattern(dice() % (most + 1), static_cast<unsigned>(dice())));
            co_await write_frame(sink, sent.back(), format);
          }
          scripted_source source(sink.taken, seed, true);
          buffered_reader reader(source, 1 + dice() % 100);
          std::vector<std::vector<std::byte>> got;
          while (auto next = co_await until_done([&] { return read_frame(reader, format); })) {
            got.push_back(std::move(*next));
          }
          EXPECT_EQ(got, sent);
        }(frame_format(prefix, order, 3000), random()));
      }
    }
  });
}

TEST(framing, a_message_over_the_limit_is_refused_on_both_sides_with_both_sizes) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    const std::vector<std::byte> message(300);
    plain_sink sink;
    const frame_format one_byte(length_prefix::u8, std::endian::big);
    EXPECT_EQ((co_await as_result(write_frame(sink, message, one_byte))).error(),
              stream_errc::too_long);
    const frame_format small(length_prefix::u32, std::endian::big, 299);
    EXPECT_EQ((co_await as_result(write_frame(sink, message, small))).error(),
              stream_errc::too_long);
    EXPECT_TRUE(sink.taken.empty());
    co_await write_frame(sink, message);
    scripted_source source(sink.taken, 1);
    buffered_reader reader(source);
    try {
      (void)co_await read_frame(reader, small);
      ADD_FAILURE() << "read";
    } catch (const std::system_error& e) {
      EXPECT_EQ(e.code(), stream_errc::too_long);
      const std::string text = e.what();
      EXPECT_NE(text.find("300"), std::string::npos) << text;
      EXPECT_NE(text.find("299"), std::string::npos) << text;
    }
    // Nothing was taken.
    EXPECT_EQ((co_await read_frame(reader))->size(), 300U);
    // A length that no memory could hold is only a number.
    const std::vector<std::byte> huge(8, std::byte{0xff});
    scripted_source hostile(huge, 1);
    buffered_reader careful(hostile);
    const frame_format wide(length_prefix::u64, std::endian::little);
    EXPECT_EQ((co_await as_result(read_frame(careful, wide))).error(), stream_errc::too_long);
  }());
}

TEST(framing, whether_a_message_is_there_is_known_without_a_read) {
  tcp_stream closed;
  buffered_reader reader(closed);
  const frame_format format(length_prefix::u16, std::endian::big, 3);
  const auto holds = [&](std::string_view bytes) {
    reader.put_back(tandem::io::bytes_of(bytes));
    const bool there = tandem::io::has_frame(reader, format);
    reader.consume(bytes.size());
    return there;
  };
  using namespace std::string_view_literals;
  EXPECT_FALSE(holds(""sv));
  EXPECT_FALSE(holds("\0"sv));
  EXPECT_TRUE(holds("\0\0"sv));
  EXPECT_FALSE(holds("\0\3ab"sv));
  EXPECT_TRUE(holds("\0\3abc"sv));
  EXPECT_TRUE(holds("\0\4a"sv));  // over the limit: read_frame says so at once
}

TEST(framing, a_stream_that_ends_inside_a_message_is_cut_and_one_between_them_is_done) {
  test_runtime rt;
  rt.run([]() -> task<void> {
    plain_sink sink;
    co_await write_frame(sink, pattern(10, 1));
    for (std::size_t kept = 0; kept < sink.taken.size(); ++kept) {
      scripted_source source({sink.taken.begin(), sink.taken.begin() + std::ptrdiff_t(kept)}, kept);
      buffered_reader reader(source, 4);
      auto got = co_await as_result(read_frame(reader));
      if (kept == 0) {
        EXPECT_TRUE(got && !got.value());
      } else {
        EXPECT_EQ(got.error(), stream_errc::unexpected_end);
        EXPECT_EQ(reader.buffered().size(), kept);
      }
    }
  }());
}

TEST(framing, messages_over_tcp_that_race_with_deadlines_all_arrive) {
  tandem::test::on_every_home([]() -> task<void> {
    connection both = co_await make_connection();
    constexpr int count = 60;
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](tcp_stream& out) -> task<void> {
        buffered_writer writer(out, 64);
        for (unsigned i = 0; i < count; ++i) {
          const std::vector<std::byte> message = pattern(i * 3, i);
          // Directly, in two buffers, and in pieces.
          if (i % 2 == 0) {
            co_await write_frame(out, message);
          } else {
            co_await write_frame(writer, message);
            co_await tandem::sleep_for(20us);
            co_await writer.flush();
          }
        }
        out.shutdown();
      }(both.client));
      buffered_reader reader(both.server, 32);
      for (unsigned i = 0; i < count;) {
        auto got = co_await as_result(tandem::with_timeout(50us, read_frame(reader)));
        if (!got) continue;
        EXPECT_EQ(got.value(), pattern(i * 3, i));
        ++i;
      }
      EXPECT_FALSE(co_await read_frame(reader));
    });
  });
}

}  // namespace
