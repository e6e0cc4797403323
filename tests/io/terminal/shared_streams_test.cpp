// shared_streams_test.cpp: reading and writing what other processes use, too, and leaving it as it is.
// SPDX-License-Identifier: MIT
#include <tandem/io/shared_streams.hpp>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

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
#include "no_descriptors.hpp"
#include "pseudo_terminal.hpp"

namespace {

using namespace std::chrono_literals;
using tandem::as_result;
using tandem::task;
using tandem::io::bytes_of;
using tandem::io::shared_input;
using tandem::io::shared_output;
using tandem::test::is_blocking;
using tandem::test::on_every_home;
using tandem::test::plain_pair;
using tandem::test::put_plain;
using tandem::test::take_plain;
using tandem::test::temporary_folder;

static_assert(tandem::io::readable_stream<shared_input>);
static_assert(tandem::io::counting_stream<shared_output>);

task<std::string> text_from(shared_input& input, std::size_t most = 64) {
  std::vector<std::byte> room(most);
  const std::size_t count = co_await input.read(room);
  co_return std::string(reinterpret_cast<const char*>(room.data()), count);
}

/// Of each kind that can be waited for: what is written to the second comes out at the first.
template <class Body>
void on_every_kind(Body body) {
  for (plain_pair (*make)() : {&plain_pair::pipe, &plain_pair::sockets, &plain_pair::terminal}) {
    on_every_home([&]() -> task<void> {
      plain_pair ends = make();
      co_await body(ends);
    });
  }
}

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

TEST(shared_input, two_lines_of_a_terminal_that_come_at_once_are_read_one_after_the_other) {
  on_every_home([]() -> task<void> {
    const plain_pair ends = plain_pair::terminal();
    shared_input input = shared_input::of(ends.first());
    auto waiting = tandem::spawn(text_from(input));
    co_await tandem::sleep_for(1ms);
    put_plain(ends.second(), "one\ntwo\nthree\n");
    EXPECT_EQ(co_await waiting, "one\n");
    EXPECT_EQ(co_await text_from(input), "two\n");
    EXPECT_EQ(co_await text_from(input), "three\n");
  });
}

TEST(shared_input, ends_when_the_other_end_has_closed_or_a_key_says_so) {
  on_every_home([]() -> task<void> {
    plain_pair pipe = plain_pair::pipe();
    shared_input input = shared_input::of(pipe.first());
    auto waiting = tandem::spawn(text_from(input));
    co_await tandem::sleep_for(1ms);
    pipe.close_second();
    EXPECT_EQ(co_await waiting, "");
    const plain_pair terminal = plain_pair::terminal();
    shared_input keys = shared_input::of(terminal.first());
    put_plain(terminal.second(), "\x04");
    EXPECT_EQ(co_await text_from(keys), "");
  });
}

TEST(shared_input, a_terminal_that_is_gone_has_ended) {
  on_every_home([]() -> task<void> {
    plain_pair ends = plain_pair::terminal();
    shared_input input = shared_input::of(ends.first());
    auto waiting = tandem::spawn(text_from(input));
    co_await tandem::sleep_for(1ms);
    ends.close_second();
    EXPECT_EQ(co_await waiting, "");
    EXPECT_EQ(co_await text_from(input), "");
  });
}

TEST(shared_streams, leave_the_mode_of_the_description_as_it_was) {
  on_every_kind([](plain_pair& ends) -> task<void> {
    {
      shared_input input = shared_input::of(ends.first());
      auto waiting = tandem::spawn(text_from(input));
      co_await tandem::sleep_for(1ms);
      put_plain(ends.second(), "x\n");
      EXPECT_EQ(co_await waiting, "x\n");
    }
    EXPECT_TRUE(is_blocking(ends.first()));
    shared_output output = shared_output::of(ends.second());
    co_await output.write_all(bytes_of("y\n"));
    EXPECT_TRUE(is_blocking(ends.second()));
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
    const auto count = [](int descriptor) -> task<int> {
      shared_input input = shared_input::of(descriptor);
      int seen = 0;
      while (true) {
        const std::string text = co_await text_from(input, 2);
        if (text == "e\n") co_return seen;
        EXPECT_EQ(text, "x\n");
        ++seen;
      }
    };
    auto one = tandem::spawn(count(ends.first()));
    auto other = tandem::spawn(count(ends.first()));
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
    const int shared = ::open((folder / "text").c_str(), O_RDONLY | O_CLOEXEC);
    EXPECT_EQ(take_plain(shared, 3), "012");
    shared_input input = shared_input::of(shared);
    EXPECT_EQ(co_await text_from(input, 4), "3456");
    EXPECT_EQ(take_plain(shared, 1), "7");
    EXPECT_EQ(co_await text_from(input), "89");
    EXPECT_EQ(co_await text_from(input), "");
    ::close(shared);
  });
}

TEST(shared_output, writes_a_file_on_from_where_it_stands_or_at_its_end) {
  on_every_home([]() -> task<void> {
    const temporary_folder folder;
    for (const int flags : {0, O_APPEND}) {
      const std::string path = folder / std::to_string(flags);
      tandem::test::put(path, bytes_of("------"));
      const int shared = ::open(path.c_str(), O_RDWR | O_CLOEXEC | flags);
      put_plain(shared, "a");
      shared_output output = shared_output::of(shared);
      co_await output.write_all(bytes_of("bc"));
      EXPECT_EQ(co_await output.write(bytes_of("de")), 2U);
      put_plain(shared, "f");
      EXPECT_EQ(tandem::test::get(path), flags == 0 ? "abcdef" : "------abcdef");
      ::close(shared);
    }
  });
}

TEST(shared_streams, devices_that_never_wait_are_read_and_written) {
  on_every_home([]() -> task<void> {
    const int zero = ::open("/dev/zero", O_RDWR | O_CLOEXEC);
    shared_input input = shared_input::of(zero);
    shared_output output = shared_output::of(zero);
    EXPECT_EQ(co_await text_from(input, 3), std::string(3, '\0'));
    co_await output.write_all(bytes_of("nowhere"));
    ::close(zero);
  });
}

TEST(shared_input, a_stop_ends_the_wait_for_what_a_device_has_to_say) {
  const int said = ::open("/dev/kmsg", O_RDONLY | O_CLOEXEC);
  if (said < 0) GTEST_SKIP() << "the kernel's messages are not to be read by this user";
  on_every_home([&]() -> task<void> {
    shared_input input = shared_input::of(said);
    bool was_stopped = false;
    while (!was_stopped) {  // now and then there is a message
      (void)::lseek(said, 0, SEEK_END);
      const auto read = co_await as_result(tandem::with_timeout(2ms, text_from(input, 8192)));
      was_stopped = read.is_cancelled();
    }
  });
  ::close(said);
}

/// More than any of them holds.
std::vector<std::byte> a_lot() { return tandem::test::pattern(1U << 20U, 7); }

TEST(shared_output, waits_for_a_slow_reader_and_everything_arrives) {
  for (plain_pair (*make)() : {&plain_pair::pipe, &plain_pair::sockets}) {
    on_every_home([&]() -> task<void> {
      plain_pair ends = make();
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
}

TEST(shared_output, a_terminal_takes_what_is_written_as_it_goes_out) {
  on_every_home([]() -> task<void> {
    const plain_pair ends = plain_pair::terminal();
    std::string text;
    for (int line = 0; line < 5000; ++line) text += std::to_string(line) + "\n";
    std::string shown;  // a terminal makes two of each line's end
    for (const char each : text) shown += each == '\n' ? std::string("\r\n") : std::string(1, each);
    shared_output output = shared_output::of(ends.first());
    const auto take = [&] { return take_plain(ends.second(), shown.size()); };
    auto writing = tandem::spawn([](shared_output& to, const std::string& all) -> task<void> {
      co_await to.write_all(bytes_of(all));
    }(output, text));
    EXPECT_EQ(co_await tandem::blocking(take), shown);
    co_await writing;
  });
}

TEST(shared_output, a_stop_ends_the_wait_for_room) {
  on_every_kind([](plain_pair& ends) -> task<void> {
    // Of a terminal nobody takes what is shown.
    shared_output output =
        shared_output::of(::isatty(ends.first()) != 0 ? ends.first() : ends.second());
    const std::vector<std::byte> much = a_lot();
    const auto stopped = co_await as_result(tandem::with_timeout(2ms, output.write_all(much)));
    EXPECT_TRUE(stopped.is_cancelled());
  });
}

TEST(shared_output, nobody_who_reads_is_an_error_and_no_signal) {
  for (plain_pair (*make)() : {&plain_pair::pipe, &plain_pair::sockets}) {
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

TEST(shared_streams, the_end_of_a_pseudo_terminal_at_which_keys_are_struck_is_one_too) {
  on_every_home([]() -> task<void> {
    const plain_pair ends = plain_pair::terminal();
    shared_output keys = shared_output::of(ends.second());
    co_await keys.write_all(bytes_of("typed\n"));
    EXPECT_EQ(take_plain(ends.first(), 6), "typed\n");
    shared_input screen = shared_input::of(ends.second());
    EXPECT_EQ(co_await text_from(screen), "typed\r\n") << "its echo";
    EXPECT_TRUE(is_blocking(ends.second()));
  });
}

TEST(shared_streams, what_was_given_stays_the_callers_and_may_be_closed_at_once) {
  on_every_kind([](plain_pair& ends) -> task<void> {
    shared_input input = shared_input::of(ends.first());
    EXPECT_NE(input.native_handle(), ends.first());
    put_plain(ends.second(), "still\n");
    const int also_open = ::fcntl(ends.first(), F_DUPFD_CLOEXEC, 3);  // else a terminal is hung up
    ends.close_first();
    EXPECT_EQ(co_await text_from(input), "still\n");
    input.close();
    EXPECT_FALSE(input.is_open());
    ::close(also_open);
  });
}

TEST(shared_streams, nothing_is_open_is_told) {
  on_every_home([]() -> task<void> {
    EXPECT_THROW((void)shared_input::of(-1), std::system_error);
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
    const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
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
    EXPECT_EQ(refusal([&] { return shared_input::of(null); }), refused);
    ::close(null);
    co_return;
  });
}

TEST(shared_output, a_disk_that_is_full_is_an_error) {
  on_every_home([]() -> task<void> {
    const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
    shared_output output = shared_output::of(full);
    const auto ended = co_await as_result(output.write_all(bytes_of("x")));
    EXPECT_EQ(ended.error(), std::errc::no_space_on_device);
    ::close(full);
  });
}

TEST(shared_streams, without_a_descriptor_to_spare_nothing_is_lost) {
  on_every_kind([](plain_pair& ends) -> task<void> {
    shared_input input = shared_input::of(ends.first());
    std::array<std::byte, 8> room;
    {
      const tandem::test::no_descriptors none;
      EXPECT_THROW((void)shared_input::of(ends.first()), std::system_error);
      // A ring waits without one. Asio does not: no number above 2 can be had (EINVAL).
      const auto ended = co_await as_result(tandem::with_timeout(2ms, input.read(room)));
      EXPECT_TRUE(ended.is_cancelled() || ended.error() == std::errc::invalid_argument)
          << ended.error();
    }
    put_plain(ends.second(), "still\n");
    EXPECT_EQ(co_await text_from(input), "still\n");
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
    const int before[] = {::dup(0), ::dup(1), ::dup(2)};
    ::dup2(in.first(), 0);
    ::dup2(out.second(), 1);
    ::dup2(out.second(), 2);
    shared_input input = tandem::io::standard_input();
    shared_output output = tandem::io::standard_output();
    shared_output error = tandem::io::standard_error();
    for (int i = 0; i < 3; ++i) {
      ::dup2(before[i], i);
      ::close(before[i]);
    }
    put_plain(in.second(), "in");
    EXPECT_EQ(co_await text_from(input), "in");
    co_await output.write_all(bytes_of("out"));
    co_await error.write_all(bytes_of("err"));
    EXPECT_EQ(take_plain(out.first(), 6), "outerr");
  });
}

}  // namespace
