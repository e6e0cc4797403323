// pipe_test.cpp: both ends of a pipe are streams of bytes, and lose none.
// SPDX-License-Identifier: MIT
#include <tandem/io/pipe.hpp>

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <tandem/as_result.hpp>
#include <tandem/io/buffered_reader.hpp>
#include <tandem/io/copy.hpp>
#include <tandem/io/framing.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "refusal_text.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::make_pipe;
using tandem::io::pipe_reader;
using tandem::io::pipe_writer;
using tandem::test::bytes_of;
using tandem::test::failure_of;
using tandem::test::has;
using tandem::test::on_every_home;
using tandem::test::pattern;
using tandem::test::read_to_end;

static_assert(tandem::io::readable_stream<pipe_reader>);
static_assert(tandem::io::counting_stream<pipe_writer>);
static_assert(tandem::io::pipe_transfer_awaiter::lossy_when_dropped::value);
static_assert(tandem::io::pipe_write_all_awaiter::lossy_when_dropped::value);

task<void> write_and_close(pipe_writer to, std::span<const std::byte> bytes) {
  co_await to.write_all(bytes);
  to.shutdown();
}

TEST(pipe, more_than_it_holds_comes_out_as_it_went_in_and_then_its_end) {
  on_every_home([]() -> task<void> {
    auto [reader, writer] = make_pipe();
    const std::vector<std::byte> sent = pattern(1'000'000, 1);
    std::vector<std::byte> came;
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn(write_and_close(std::move(writer), sent));
      came = co_await read_to_end(reader);
    });
    EXPECT_TRUE(came == sent);
    std::array<std::byte, 8> room;
    EXPECT_EQ(co_await reader.read(room), 0U);
  });
}

TEST(pipe, a_reader_that_waits_gets_what_is_written_later) {
  on_every_home([]() -> task<void> {
    auto [reader, writer] = make_pipe();
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](pipe_reader& from) -> task<void> {
        for (const std::size_t expected : {3U, 0U}) {
          std::array<std::byte, 8> room;
          EXPECT_EQ(co_await from.read(room), expected);
        }
      }(reader));
      co_await tandem::sleep_for(1ms);
      EXPECT_EQ(co_await writer.write(bytes_of("abc")), 3U);
      co_await tandem::sleep_for(1ms);
      writer.close();
    });
  });
}

TEST(pipe, a_stop_ends_a_read_that_waits_and_the_next_one_gets_what_comes_then) {
  on_every_home([]() -> task<void> {
    auto [reader, writer] = make_pipe();
    for (int round = 0; round < 3; ++round) {
      std::array<std::byte, 8> room;
      const auto stopped = co_await as_result(tandem::with_timeout(1ms, reader.read(room)));
      EXPECT_EQ(stopped.error(), std::errc::timed_out);
      co_await writer.write_all(bytes_of("after"));
      EXPECT_EQ(co_await reader.read(room), 5U);
    }
  });
}

TEST(pipe, a_stop_ends_a_write_that_waits_and_what_was_written_is_known) {
  on_every_home([]() -> task<void> {
    auto [reader, writer] = make_pipe();
    const std::vector<std::byte> much = pattern(300'000, 2);
    std::size_t written = 0;
    while (written < much.size()) {
      const auto rest = std::span(much).subspan(written);
      const auto more = co_await as_result(tandem::with_timeout(1ms, writer.write(rest)));
      if (!more) {
        EXPECT_EQ(more.error(), std::errc::timed_out);
        break;
      }
      written += more.value();
    }
    EXPECT_LT(written, much.size()) << "a pipe that nobody reads is never full";
    writer.close();
    const std::vector<std::byte> came = co_await read_to_end(reader);
    EXPECT_TRUE(came == std::vector<std::byte>(much.begin(), much.begin() + std::ssize(came)));
    EXPECT_EQ(came.size(), written);
  });
}

TEST(pipe, writing_to_one_that_nobody_reads_fails_and_raises_no_signal) {
  on_every_home([]() -> task<void> {
    auto [reader, writer] = make_pipe();
    reader.close();
    const auto one = co_await as_result(writer.write(bytes_of("x")));
    EXPECT_EQ(one.error(), std::errc::broken_pipe);
    const auto all = co_await as_result(writer.write_all(bytes_of("x")));
    EXPECT_EQ(all.error(), std::errc::broken_pipe);
  });
}

TEST(pipe, a_reader_that_goes_ends_a_write_that_waits) {
  on_every_home([]() -> task<void> {
    auto [reader, writer] = make_pipe();
    const std::vector<std::byte> much(1'000'000);
    co_await tandem::with_scope([&](tandem::task_scope& scope) -> task<void> {
      scope.spawn([](pipe_writer& to, std::span<const std::byte> bytes) -> task<void> {
        const auto written = co_await as_result(to.write_all(bytes));
        EXPECT_EQ(written.error(), std::errc::broken_pipe);
      }(writer, much));
      co_await tandem::sleep_for(1ms);
      reader.close();
    });
  });
}

TEST(pipe, readers_frames_and_copies_work_over_it) {
  on_every_home([]() -> task<void> {
    auto [first_out, first_in] = make_pipe();
    auto [second_out, second_in] = make_pipe();
    co_await tandem::io::write_frame(first_in, bytes_of("framed"));
    first_in.close();
    co_await tandem::io::copy(first_out, second_in);
    second_in.close();
    tandem::io::buffered_reader reader(second_out);
    const auto frame = co_await tandem::io::read_frame(reader);
    EXPECT_EQ(frame ? frame->size() : 0, 6U);
  });
}

TEST(pipe, what_is_closed_or_was_never_open_says_so) {
  on_every_home([]() -> task<void> {
    pipe_reader reader;
    pipe_writer writer;
    std::array<std::byte, 8> room;
    EXPECT_EQ((co_await as_result(reader.read(room))).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await as_result(writer.write(room))).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await as_result(writer.write_all(room))).error(), std::errc::bad_file_descriptor);
    EXPECT_FALSE(reader.is_open());
    const std::string writer_words =
        "the pipe is not open (a process's: process_options::standard_input was";
    std::string text = co_await failure_of(writer.write(room));
    EXPECT_TRUE(has(text, "pipe_writer::write: " + writer_words)) << text;
    text = co_await failure_of(writer.write_all(room));
    EXPECT_TRUE(has(text, "pipe_writer::write_all: " + writer_words)) << text;
    text = co_await failure_of(reader.read(room));
    EXPECT_TRUE(has(text, "process_options::standard_output, or standard_error, was not")) << text;
    auto [reads, writes] = make_pipe();
    reads.close();
    EXPECT_EQ((co_await as_result(writes.write_all(room))).error(), std::errc::broken_pipe);
    text = co_await failure_of(writes.write_all(room));
    EXPECT_TRUE(has(text, "pipe_writer::write_all: ")) << text;
    EXPECT_FALSE(has(text, "not open")) << "it is, and nobody reads: " << text;
  });
}

}  // namespace
