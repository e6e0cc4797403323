// tls_stream_test.cpp: a tls_stream is a byte stream: all comes back whole, at every home, over any stream.
// SPDX-License-Identifier: MIT
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/copy_both.hpp>
#include <tandem/io/framing.hpp>
#include <tandem/when_all.hpp>
#include <utility>
#include <vector>

#include "io/tls/tls_support.hpp"

namespace {

using tandem::as_result;
using tandem::task;
using tandem::io::any_stream;
using tandem::io::buffered_reader;
using tandem::io::byte_stream;
using tandem::io::tcp_stream;
using tandem::io::tls_stream;
using tandem::io::tls::errc;
using tandem::test::any_pair;
using tandem::test::bytes_of;
using tandem::test::end_of_read;
using tandem::test::expect_refusal;
using tandem::test::expect_talks;
using tandem::test::for_every_transport;
using tandem::test::make_tls_pair;
using tandem::test::make_tls_pair_over;
using tandem::test::many_bytes;
using tandem::test::read_to_end;
using tandem::test::run_tls;
using tandem::test::same_bytes;
using tandem::test::tls_pair;

static_assert(byte_stream<tls_stream>);
static_assert(std::is_nothrow_move_constructible_v<tls_stream>);
static_assert(!std::copy_constructible<tls_stream>);

/// Sends back what comes, and the end.
task<void> echo_all(tls_stream stream) {
  std::array<std::byte, 1024> buffer;
  while (const std::size_t n = co_await stream.read(buffer)) {
    co_await stream.write_all(std::span(buffer).first(n));
  }
  EXPECT_TRUE(co_await stream.finish(std::chrono::hours(1)));
}

/// Writes all of it there, while an echo sends it back.
template <class Stream>
task<void> expect_echo(Stream client, tls_stream server, std::span<const std::byte> sent) {
  const auto sends = [](Stream& to, std::span<const std::byte> bytes) -> task<void> {
    co_await to.write_all(bytes);
    to.shutdown();
  };
  const auto receives = [](Stream& from, std::span<const std::byte> bytes) -> task<void> {
    const std::vector<std::byte> back = co_await read_to_end(from);
    EXPECT_TRUE(same_bytes(back, bytes)) << back.size() << " of " << bytes.size();
  };
  co_await tandem::when_all(echo_all(std::move(server)), sends(client, sent),
                            receives(client, sent));
}

TEST(tls_stream, any_number_of_bytes_comes_back_whole) {
  for_every_transport([](tls_pair both) -> task<void> {
    for (const std::size_t size : {0U, 1U, 16'383U, 16'384U, 16'385U, 65'536U, 65'537U}) {
      const std::span<const std::byte> sent = many_bytes(size);
      const auto sends = [](tls_stream& to, std::span<const std::byte> bytes) -> task<void> {
        co_await to.write_all(bytes);
        co_await to.write_all(bytes_of("end"));
      };
      std::vector<std::byte> got(size + 3);
      const auto receives = [](tls_stream& from, std::span<std::byte> room) -> task<void> {
        buffered_reader reader(from, 1000);
        co_await reader.read_exactly(room);
        EXPECT_TRUE(reader.buffered().empty());
      };
      co_await tandem::when_all(sends(both.client, sent), receives(both.server, got));
      EXPECT_TRUE(same_bytes(std::span(got).first(size), sent)) << size;
      EXPECT_TRUE(same_bytes(std::span(got).last(3), bytes_of("end"))) << size;
    }
    co_await expect_echo(std::move(both.client), std::move(both.server), many_bytes(1 << 20));
  });
}

TEST(tls_stream, is_held_by_an_any_stream_like_any_other) {
  for_every_transport([](tls_pair both) -> task<void> {
    any_stream client = std::move(both.client);
    EXPECT_FALSE(both.client.is_open());
    EXPECT_NE(client.target<tls_stream>(), nullptr);
    co_await expect_echo(std::move(client), std::move(both.server), many_bytes(300'000));
  });
}

TEST(tls_stream, a_small_buffer_gets_a_record_in_parts_and_an_empty_one_nothing) {
  for_every_transport([](tls_pair both) -> task<void> {
    const std::span<const std::byte> sent = many_bytes(5000);
    co_await both.client.write_all(sent);
    std::vector<std::byte> got;
    std::array<std::byte, 7> room;
    EXPECT_EQ(co_await both.server.read({}), 0U);
    while (got.size() < sent.size()) {
      const std::size_t n = co_await both.server.read(room);
      EXPECT_GT(n, 0U);
      got.insert(got.end(), room.begin(), room.begin() + static_cast<std::ptrdiff_t>(n));
    }
    EXPECT_TRUE(same_bytes(got, sent));
  });
}

TEST(tls_stream, lists_of_buffers_arrive_one_after_the_other) {
  for_every_transport([](tls_pair both) -> task<void> {
    for (const std::size_t each : {1U, 100U, 20'000U}) {
      const std::span<const std::byte> sent = many_bytes(each * 30);
      std::vector<std::span<const std::byte>> list;
      for (std::size_t i = 0; i < 30; ++i) {
        list.push_back(sent.subspan(i * each, each));
        list.emplace_back();  // an empty one between all
      }
      const auto sends = [](tls_stream& to, auto& all) -> task<void> {
        co_await to.write_all(all);
      };
      std::vector<std::byte> got(sent.size());
      const auto receives = [](tls_stream& from, std::span<std::byte> room) -> task<void> {
        buffered_reader reader(from);
        co_await reader.read_exactly(room);
      };
      co_await tandem::when_all(sends(both.client, list), receives(both.server, got));
      EXPECT_TRUE(same_bytes(got, sent)) << each;
    }
    const std::vector<std::span<const std::byte>> none;
    co_await both.client.write_all(none);
    co_await expect_talks(both);
  });
}

TEST(tls_stream, write_says_how_much_it_took) {
  for_every_transport([](tls_pair both) -> task<void> {
    const std::span<const std::byte> sent = many_bytes(1 << 20);
    const auto sends = [](tls_stream& to, std::span<const std::byte> bytes) -> task<void> {
      EXPECT_EQ(co_await to.write({}), 0U);
      EXPECT_EQ(co_await to.write(bytes.first(10)), 10U);
      bytes = bytes.subspan(10);
      while (!bytes.empty()) {
        const std::size_t n = co_await to.write(bytes);
        EXPECT_GT(n, 0U);
        EXPECT_LE(n, 64U * 1024);
        bytes = bytes.subspan(n);
      }
      to.shutdown();
    };
    const auto receives = [](tls_stream& from, std::span<const std::byte> bytes) -> task<void> {
      const std::vector<std::byte> got = co_await read_to_end(from);
      EXPECT_TRUE(same_bytes(got, bytes));
    };
    co_await tandem::when_all(sends(both.client, sent), receives(both.server, sent));
  });
}

TEST(tls_stream, lines_and_frames_are_read_from_it) {
  for_every_transport([](tls_pair both) -> task<void> {
    co_await both.client.write_all(bytes_of("first line\r\nsecond line\r\n"));
    const std::span<const std::byte> message = many_bytes(100'000);
    const auto sends = [](tls_stream& to, std::span<const std::byte> bytes) -> task<void> {
      co_await tandem::io::write_frame(to, bytes);
      co_await tandem::io::write_frame(to, bytes.first(1));
      to.shutdown();
    };
    const auto receives = [](tls_stream& from, std::span<const std::byte> bytes) -> task<void> {
      buffered_reader reader(from);
      EXPECT_EQ(co_await reader.read_until("\r\n", 100), "first line");
      EXPECT_EQ(co_await reader.read_until("\r\n", 100), "second line");
      const auto whole = co_await tandem::io::read_frame(reader);
      EXPECT_TRUE(whole.has_value() && same_bytes(*whole, bytes));
      const auto small = co_await tandem::io::read_frame(reader);
      EXPECT_TRUE(small.has_value() && small->size() == 1);
      EXPECT_FALSE((co_await tandem::io::read_frame(reader)).has_value());
    };
    co_await tandem::when_all(sends(both.client, message), receives(both.server, message));
  });
}

// A proxy that decrypts on one side and encrypts on the other.
TEST(tls_stream, copy_both_passes_on_bytes_and_ends_in_both_directions) {
  for_every_transport([](tls_pair front) -> task<void> {
    tls_pair back = co_await make_tls_pair();
    const auto passes = [](tls_stream& one, tls_stream& other) -> task<void> {
      const auto bytes = co_await tandem::io::copy_both(one, other);
      EXPECT_EQ(bytes.there, 500'000U);
      EXPECT_EQ(bytes.back, 500'000U);
    };
    co_await tandem::when_all(
        passes(front.server, back.client),
        expect_echo(std::move(front.client), std::move(back.server), many_bytes(500'000)));
  });
}

TEST(tls_stream, runs_over_a_tls_stream_which_runs_over_another) {
  for_every_transport([](tls_pair outer) -> task<void> {
    any_stream below = std::move(outer.client);
    tls_pair inner =
        co_await make_tls_pair_over(any_pair(std::move(below), std::move(outer.server)));
    EXPECT_NE(inner.client.next().target<tls_stream>(), nullptr);
    tls_pair innermost =
        co_await make_tls_pair_over(any_pair(std::move(inner.client), std::move(inner.server)));
    co_await expect_echo(std::move(innermost.client), std::move(innermost.server),
                         many_bytes(200'000));
  });
}

// --- Being open, moved and closed

TEST(tls_stream, moved_it_goes_on_and_the_other_one_is_not_open) {
  for_every_transport([](tls_pair both) -> task<void> {
    co_await expect_talks(both);
    tls_stream moved(std::move(both.client));
    EXPECT_FALSE(both.client.is_open());
    EXPECT_TRUE(moved.is_open());
    both.client = std::move(moved);
    EXPECT_TRUE(both.client.is_open());
    co_await expect_talks(both);
    // What it held before is given back.
    both.client = tls_stream();
    expect_refusal(co_await end_of_read(both.server), errc::truncated, "close_notify");
  });
}

template <class T>
void expect_not_open(const tandem::result<T>& got) {
  EXPECT_FALSE(got);
  EXPECT_EQ(got.error(), std::errc::bad_file_descriptor);
}

TEST(tls_stream, one_that_is_not_open_fails_each_call_and_can_be_closed) {
  run_tls([]() -> task<void> {
    tls_pair both = co_await make_tls_pair();
    both.client.close();
    tls_stream never;
    for (tls_stream* const stream : {&both.client, &never}) {
      EXPECT_FALSE(stream->is_open());
      std::array<std::byte, 4> room;
      const std::vector<std::span<const std::byte>> list{bytes_of("x")};
      expect_not_open(co_await as_result(stream->read(room)));
      expect_not_open(co_await as_result(stream->write(bytes_of("x"))));
      expect_not_open(co_await as_result(stream->write_all(bytes_of("x"))));
      expect_not_open(co_await as_result(stream->write_all(list)));
      expect_not_open(co_await as_result(stream->finish(std::chrono::seconds(1))));
      const auto not_open = make_error_code(std::errc::bad_file_descriptor);
      EXPECT_EQ(tandem::test::tls_error_of([&] { stream->shutdown(); }).code, not_open);
      EXPECT_EQ(tandem::test::tls_error_of([&] { stream->update_keys(); }).code, not_open);
      EXPECT_FALSE(stream->has_thread_executor());
      stream->close();
    }
  });
}

TEST(tls_stream, has_the_thread_of_the_stream_below_and_shows_that_stream) {
  run_tls([]() -> task<void> {
    tls_pair both = co_await make_tls_pair();
    auto* const tcp = both.client.next().target<tcp_stream>();
    EXPECT_NE(tcp, nullptr);
    if (tcp == nullptr) co_return;
    EXPECT_TRUE(both.client.has_thread_executor());
    EXPECT_EQ(&both.client.thread_executor(), &tcp->thread_executor());
    EXPECT_NO_THROW(tcp->set_no_delay(true));
    tls_pair in_memory = co_await make_tls_pair_over(tandem::test::over_memory());
    EXPECT_FALSE(in_memory.client.has_thread_executor());
  });
}

}  // namespace
