// plain_pair.cpp: pipes, pairs of sockets and pseudo terminals.
// SPDX-License-Identifier: MIT
#include "plain_pair.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

namespace tandem::test {

void put_plain(int to, std::string_view text) {
  EXPECT_EQ(::write(to, text.data(), text.size()), std::ssize(text));
}

std::string take_plain(int from, std::size_t bytes) {
  std::string got(bytes, '\0');
  std::size_t have = 0;
  while (have < bytes) {
    const auto count = ::read(from, got.data() + have, bytes - have);
    if (count <= 0) break;
    have += static_cast<std::size_t>(count);
  }
  got.resize(have);
  return got;
}

void close_descriptor(int which) noexcept { ::close(which); }

int open_plain(const std::string& path, bool appends) {
  const int made = ::open(path.c_str(), O_RDWR | O_CLOEXEC | (appends ? O_APPEND : 0));
  EXPECT_GE(made, 0);
  return made;
}

plain_pair plain_pair::pipe() {
  std::array<int, 2> made{-1, -1};
  EXPECT_EQ(::pipe2(made.data(), O_CLOEXEC), 0);
  return {made[0], made[1]};
}

plain_pair plain_pair::sockets() {
  std::array<int, 2> made{-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, made.data()), 0);
  return {made[0], made[1]};
}

plain_pair plain_pair::terminal() {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  EXPECT_GE(master, 0);
  EXPECT_EQ(::grantpt(master), 0);
  EXPECT_EQ(::unlockpt(master), 0);
  const int made = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  EXPECT_GE(made, 0);
  ::winsize size{};
  size.ws_col = 80;
  size.ws_row = 24;
  EXPECT_EQ(::ioctl(made, TIOCSWINSZ, &size), 0);
  return {made, master};
}

namespace {
constexpr pair_maker kinds[] = {&plain_pair::pipe, &plain_pair::sockets, &plain_pair::terminal};
}  // namespace

std::span<const pair_maker> kinds_of_pairs() { return kinds; }
std::span<const pair_maker> kinds_without_terminals() { return std::span(kinds).first(2); }

other_standard_streams::other_standard_streams(int in, int out)
    : before_{::dup(0), ::dup(1), ::dup(2)} {
  ::dup2(in, 0);
  ::dup2(out, 1);
  ::dup2(out, 2);
}

other_standard_streams::~other_standard_streams() {
  for (int i = 0; i < 3; ++i) {
    ::dup2(before_[i], i);
    ::close(before_[i]);
  }
}

}  // namespace tandem::test
