// shared_streams_test.cpp: reading and writing what other processes use, too, and leaving it as it is.
// SPDX-License-Identifier: MIT
#include <tandem/io/shared_streams.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <string>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/blocking.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/sleep.hpp>
#include <tandem/spawn.hpp>
#include <tandem/timeout.hpp>
#include <utility>
#include <vector>

#include "io/support/file_support.hpp"
#include "io/support/io_support.hpp"
#include "io/terminal/shared_kinds.hpp"
#include "loopback_ports.hpp"
#include "plain_pair.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::bytes_of;
using tandem::io::shared_input;
using tandem::io::shared_output;
using tandem::test::a_lot;
using tandem::test::kinds_without_terminals;
using tandem::test::on_every_home;
using tandem::test::on_every_kind;
using tandem::test::on_kinds;
using tandem::test::open_plain;
using tandem::test::plain_pair;
using tandem::test::put_plain;
using tandem::test::take_plain;
using tandem::test::temporary_folder;
using tandem::test::text_from;

static_assert(tandem::io::readable_stream<shared_input>);
static_assert(tandem::io::counting_stream<shared_output>);

TEST(shared_input, takes_what_has_come_and_waits_for_what_has_not) {
  on_every_kind([](plain_pair& ends) -> task<void> {
    shared_input input = shared_input::of(ends.first());
    put_plain(ends.second(), "one\n");
    EXPECT_EQ(co_await text_from(input), "one\n");
    auto waiting = tandem::spawn(text_from(input));
    co_await tandem::sleep_for(1ms);
    put_plain(ends.second(), "two\n");
    EXPECT_EQ(co_await waiting, "two\n");
  });
}

TEST(shared_input, ends_when_the_other_end_has_closed) {
  on_kinds(kinds_without_terminals(), [](plain_pair& pipe) -> task<void> {
    shared_input input = shared_input::of(pipe.first());
    auto waiting = tandem::spawn(text_from(input));
    co_await tandem::sleep_for(1ms);
    pipe.close_second();
    EXPECT_EQ(co_await waiting, "");
    EXPECT_EQ(co_await text_from(input), "");
  });
}

TEST(shared_input, a_stop_ends_the_wait_and_no_byte_is_lost) {
  on_every_kind([](plain_pair& ends) -> task<void> {
    shared_input input = shared_input::of(ends.first());
    for (int round = 0; round < 3; ++round) {
      auto stopped = co_await as_result(tandem::with_timeout(1ms, text_from(input)));
      EXPECT_TRUE(stopped.is_cancelled());
    }
    put_plain(ends.second(), "kept\n");
    EXPECT_EQ(co_await text_from(input), "kept\n");
  });
}

TEST(shared_input, of_two_who_wait_for_one_pipe_each_byte_goes_to_one) {
  on_every_kind([](plain_pair& ends) -> task<void> {
    constexpr int lines = 200;
    const auto count = [](shared_input input) -> task<int> {
      int seen = 0;
      while (true) {
        const std::string text = co_await text_from(input, 2);
        if (text == "e\n") co_return seen;
        EXPECT_EQ(text, "x\n");
        ++seen;
      }
    };
    shared_input first = shared_input::of(ends.first());
    shared_input second = shared_input::of(ends.first());
    auto one = tandem::spawn(count(std::move(first)));
    auto other = tandem::spawn(count(std::move(second)));
    for (int i = 0; i < lines; ++i) put_plain(ends.second(), "x\n");
    put_plain(ends.second(), "e\ne\n");
    const int sum = co_await one;
    EXPECT_EQ(sum + co_await other, lines);
  });
}

TEST(shared_input, reads_a_file_on_from_where_it_stands_for_all_who_share_it) {
  on_every_home([]() -> task<void> {
    const temporary_folder folder;
    tandem::test::put(folder / "text", bytes_of("0123456789"));
    const auto shared = open_plain(folder / "text");
    EXPECT_EQ(take_plain(shared, 3), "012");
    shared_input input = shared_input::of(shared);
    EXPECT_EQ(co_await text_from(input, 4), "3456");
    EXPECT_EQ(take_plain(shared, 1), "7");
    EXPECT_EQ(co_await text_from(input), "89");
    EXPECT_EQ(co_await text_from(input), "");
    tandem::test::close_descriptor(shared);
  });
}

TEST(shared_output, writes_a_file_on_from_where_it_stands_or_at_its_end) {
  on_every_home([]() -> task<void> {
    const temporary_folder folder;
    for (const bool appends : {false, true}) {
      const std::string path = folder / (appends ? "end" : "position");
      tandem::test::put(path, bytes_of("------"));
      const auto shared = open_plain(path, appends);
      put_plain(shared, "a");
      shared_output output = shared_output::of(shared);
      co_await output.write_all(bytes_of("bc"));
      EXPECT_EQ(co_await output.write(bytes_of("de")), 2U);
      put_plain(shared, "f");
      EXPECT_EQ(tandem::test::get(path), appends ? "------abcdef" : "abcdef");
      tandem::test::close_descriptor(shared);
    }
  });
}

TEST(shared_output, waits_for_a_slow_reader_and_everything_arrives) {
  on_kinds(kinds_without_terminals(), [](plain_pair& ends) -> task<void> {
    const std::vector<std::byte> sent = a_lot();
    const auto take = [&] { return take_plain(ends.first(), sent.size()); };
    shared_output output = shared_output::of(ends.second());
    auto writing = tandem::spawn([](shared_output& to, const auto& bytes) -> task<void> {
      co_await to.write_all(bytes);
    }(output, sent));
    const std::string got = co_await tandem::blocking(take);
    co_await writing;
    EXPECT_EQ(bytes_of(got).size(), sent.size());
    EXPECT_TRUE(std::ranges::equal(bytes_of(got), sent));
  });
}

TEST(shared_output, a_stop_ends_the_wait_for_room) {
  on_kinds(kinds_without_terminals(), [](plain_pair& ends) -> task<void> {
    shared_output output = shared_output::of(ends.second());
    const std::vector<std::byte> much = a_lot();
    const auto stopped = co_await as_result(tandem::with_timeout(2ms, output.write_all(much)));
    EXPECT_TRUE(stopped.is_cancelled());
  });
}

TEST(shared_output, nobody_who_reads_is_an_error_and_no_signal) {
  for (const tandem::test::pair_maker make : kinds_without_terminals()) {
    on_every_home([&]() -> task<void> {
      for (const bool is_open_before : {true, false}) {
        plain_pair ends = make();
        if (!is_open_before) ends.close_first();
        shared_output output = shared_output::of(ends.second());
        ends.close_first();
        const auto ended = co_await as_result(output.write_all(bytes_of("x")));
        EXPECT_EQ(ended.error(), std::errc::broken_pipe);
      }
    });
  }
}

TEST(shared_streams, what_was_given_stays_the_callers_and_may_be_closed_at_once) {
  on_kinds(kinds_without_terminals(), [](plain_pair& ends) -> task<void> {
    shared_input input = shared_input::of(ends.first());
    EXPECT_NE(input.native_handle(), ends.first());
    put_plain(ends.second(), "still\n");
    ends.close_first();
    EXPECT_EQ(co_await text_from(input), "still\n");
    input.close();
    EXPECT_FALSE(input.is_open());
  });
}

TEST(shared_streams, nothing_is_open_is_told) {
  on_every_home([]() -> task<void> {
    EXPECT_THROW((void)shared_input::of(tandem::io::no_descriptor), std::system_error);
    shared_input input;
    shared_output output;
    std::array<std::byte, 1> room{};
    EXPECT_EQ((co_await as_result(input.read(room))).error(), std::errc::bad_file_descriptor);
    EXPECT_EQ((co_await as_result(output.write_all(room))).error(), std::errc::bad_file_descriptor);
  });
}

TEST(shared_streams, give_nobody_a_direction_that_the_descriptor_has_not) {
  on_every_home([]() -> task<void> {
    const plain_pair ends = plain_pair::pipe();
    const auto refusal = [](auto open) {
      try {
        (void)open();
      } catch (const std::system_error& refused) {
        return refused.code();
      }
      return std::error_code();
    };
    constexpr auto refused = std::errc::bad_file_descriptor;
    EXPECT_EQ(refusal([&] { return shared_input::of(ends.second()); }), refused);
    EXPECT_EQ(refusal([&] { return shared_output::of(ends.first()); }), refused);
    co_return;
  });
}

TEST(shared_streams, give_back_every_descriptor) {
  const std::size_t before = tandem::test::open_descriptors();
  on_every_kind([](plain_pair& ends) -> task<void> {
    for (int i = 0; i < 20; ++i) {
      shared_input input = shared_input::of(ends.first());
      shared_output output = shared_output::of(ends.second());
      (void)co_await as_result(tandem::with_timeout(100us, text_from(input)));
      shared_input moved = std::move(input);
      co_await output.write_all(bytes_of("x\n"));
      EXPECT_EQ(co_await text_from(moved), "x\n");
    }
  });
  EXPECT_EQ(tandem::test::open_descriptors(), before);
}

TEST(standard_streams, are_those_of_the_process) {
  on_every_home([]() -> task<void> {
    const plain_pair in = plain_pair::pipe();
    const plain_pair out = plain_pair::pipe();
    shared_input input;
    shared_output output;
    shared_output error;
    {
      const tandem::test::other_standard_streams ours(in.first(), out.second());
      input = tandem::io::standard_input();
      output = tandem::io::standard_output();
      error = tandem::io::standard_error();
    }
    put_plain(in.second(), "in");
    EXPECT_EQ(co_await text_from(input), "in");
    co_await output.write_all(bytes_of("out"));
    co_await error.write_all(bytes_of("err"));
    EXPECT_EQ(take_plain(out.first(), 6), "outerr");
  });
}

}  // namespace
