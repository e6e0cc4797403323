// pseudo_terminal.hpp: a terminal, and the end at which a person would sit; and pairs of plain descriptors.
// SPDX-License-Identifier: MIT
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace tandem::test {

/// Two descriptors, closed at its end.
class plain_pair {
 public:
  plain_pair(int one, int other) : ends_{one, other} {}
  plain_pair(const plain_pair&) = delete;
  plain_pair& operator=(const plain_pair&) = delete;
  ~plain_pair() {
    close_first();
    close_second();
  }

  int first() const noexcept { return ends_[0]; }
  int second() const noexcept { return ends_[1]; }
  void close_first() noexcept { close_one(ends_[0]); }
  void close_second() noexcept { close_one(ends_[1]); }

  /// What is written to the second comes out at the first; both block.
  static plain_pair pipe() {
    std::array<int, 2> made{-1, -1};
    EXPECT_EQ(::pipe2(made.data(), O_CLOEXEC), 0);
    return {made[0], made[1]};
  }
  static plain_pair sockets() {
    std::array<int, 2> made{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, made.data()), 0);
    return {made[0], made[1]};
  }
  /// A terminal, of 80 columns and 24 rows, and the end where keys are struck: the second.
  static plain_pair terminal() {
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

 private:
  static void close_one(int& end) noexcept {
    if (const int number = std::exchange(end, -1); number >= 0) ::close(number);
  }

  std::array<int, 2> ends_;
};

inline void put_plain(int descriptor, std::string_view text) {
  EXPECT_EQ(::write(descriptor, text.data(), text.size()), std::ssize(text));
}

/// Waits until so many bytes have come, or the end.
inline std::string take_plain(int descriptor, std::size_t bytes) {
  std::string got(bytes, '\0');
  std::size_t have = 0;
  while (have < bytes) {
    const auto count = ::read(descriptor, got.data() + have, bytes - have);
    if (count <= 0) break;
    have += static_cast<std::size_t>(count);
  }
  got.resize(have);
  return got;
}

/// Of the description, which others share.
inline bool is_blocking(int descriptor) { return (::fcntl(descriptor, F_GETFL) & O_NONBLOCK) == 0; }

}  // namespace tandem::test
