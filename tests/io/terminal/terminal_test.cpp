// terminal_test.cpp: a terminal's size, and modes that end with their scope.
// SPDX-License-Identifier: MIT
#include <tandem/io/terminal.hpp>

#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>
#include <tandem/io/shared_streams.hpp>
#include <tandem/io/signal_set.hpp>

#include "io/support/io_support.hpp"
#include "pseudo_terminal.hpp"
#include "signal_taker.hpp"

namespace {

using tandem::task;
using tandem::io::is_terminal;
using tandem::io::shared_input;
using tandem::io::size_of_terminal;
using tandem::io::terminal_mode;
using tandem::io::terminal_scope;
using tandem::io::terminal_size;
using tandem::test::on_every_home;
using tandem::test::plain_pair;
using tandem::test::put_plain;
using tandem::test::take_plain;

::termios mode_of(int terminal) {
  ::termios answer{};
  EXPECT_EQ(::tcgetattr(terminal, &answer), 0);
  return answer;
}

bool operator==(const ::termios& one, const ::termios& other) {
  return one.c_iflag == other.c_iflag && one.c_oflag == other.c_oflag &&
         one.c_cflag == other.c_cflag && one.c_lflag == other.c_lflag &&
         std::memcmp(one.c_cc, other.c_cc, sizeof one.c_cc) == 0;
}

template <class Call>
std::errc refusal_of(Call call) {
  try {
    call();
  } catch (const std::system_error& failure) {
    return static_cast<std::errc>(failure.code().value());
  }
  return std::errc{};
}

TEST(terminal, says_what_it_is_and_how_big) {
  const plain_pair terminal = plain_pair::terminal();
  const plain_pair pipe = plain_pair::pipe();
  EXPECT_TRUE(is_terminal(terminal.first()));
  EXPECT_FALSE(is_terminal(pipe.first()));
  EXPECT_FALSE(is_terminal(-1));
  EXPECT_EQ(size_of_terminal(terminal.first()), terminal_size(80, 24));
  const auto no_terminal = std::errc::inappropriate_io_control_operation;
  EXPECT_EQ(refusal_of([&] { (void)size_of_terminal(pipe.first()); }), no_terminal);
  EXPECT_EQ(refusal_of([&] { const terminal_scope s(pipe.first(), terminal_mode::raw); }),
            no_terminal);
  EXPECT_EQ(refusal_of([] { const terminal_scope s(-1, terminal_mode::raw); }),
            std::errc::bad_file_descriptor);
}

TEST(terminal_scope, each_mode_ends_with_its_scope_however_that_ends) {
  const plain_pair ends = plain_pair::terminal();
  const ::termios before = mode_of(ends.first());
  for (const auto mode : {terminal_mode::hidden, terminal_mode::keys, terminal_mode::raw}) {
    try {
      const terminal_scope scope(ends.first(), mode);
      EXPECT_FALSE(mode_of(ends.first()) == before);
      throw std::runtime_error("out of it");
    } catch (const std::runtime_error&) {}
    EXPECT_TRUE(mode_of(ends.first()) == before);
    terminal_scope early(ends.first(), mode);
    early.restore();
    EXPECT_TRUE(mode_of(ends.first()) == before);
    early.restore();
  }
}

TEST(terminal_scope, hidden_takes_lines_and_shows_nothing_of_them_but_their_end) {
  const plain_pair ends = plain_pair::terminal();
  const terminal_scope scope(ends.first(), terminal_mode::hidden);
  put_plain(ends.second(), "secret\n");
  EXPECT_EQ(take_plain(ends.first(), 7), "secret\n");
  EXPECT_EQ(take_plain(ends.second(), 2), "\r\n");
}

TEST(terminal_scope, keys_come_one_by_one) {
  on_every_home([]() -> task<void> {
    const plain_pair ends = plain_pair::terminal();
    shared_input input = shared_input::of(ends.first());
    const terminal_scope scope(input.native_handle(), terminal_mode::keys);
    std::array<std::byte, 8> room;
    for (const char each : {'a', '\r'}) {
      put_plain(ends.second(), std::string_view(&each, 1));
      EXPECT_EQ(co_await input.read(room), 1U);
      EXPECT_EQ(room[0], std::byte(each == '\r' ? '\n' : each));  // as the terminal has it
    }
    EXPECT_NE(mode_of(ends.first()).c_lflag & ISIG, 0U);
  });
}

TEST(terminal_scope, raw_passes_every_byte_and_writes_every_byte) {
  on_every_home([]() -> task<void> {
    const plain_pair ends = plain_pair::terminal();
    shared_input input = shared_input::of(ends.first());
    const terminal_scope scope(input.native_handle(), terminal_mode::raw);
    std::array<std::byte, 8> room;
    put_plain(ends.second(), "\x03\r\x04");
    EXPECT_EQ(co_await input.read(room), 3U);
    EXPECT_EQ(room[0], std::byte{3});
    EXPECT_EQ(room[1], std::byte{'\r'});
    put_plain(ends.first(), "\n.");
    EXPECT_EQ(take_plain(ends.second(), 2), "\n.");
  });
}

TEST(terminal, a_change_of_size_is_told_by_a_signal) {
  // The kernel sends it to the terminal's foreground; this process is in none, so it is sent by
  // hand.
  const tandem::test::signal_taker taker(std::array{SIGWINCH});
  tandem::test::test_runtime rt;
  rt.run([]() -> task<void> {
    const plain_pair ends = plain_pair::terminal();
    tandem::io::signal_set resized({SIGWINCH});
    ::winsize larger{};
    larger.ws_col = 132;
    larger.ws_row = 50;
    EXPECT_EQ(::ioctl(ends.second(), TIOCSWINSZ, &larger), 0);
    EXPECT_EQ(::kill(::getpid(), SIGWINCH), 0);
    EXPECT_EQ(co_await resized.wait(), SIGWINCH);
    EXPECT_EQ(size_of_terminal(ends.first()), terminal_size(132, 50));
  }());
}

}  // namespace
