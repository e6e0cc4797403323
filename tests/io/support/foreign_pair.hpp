// foreign_pair.hpp: descriptors that are not tandem's.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace tandem::test {

/// Two connected non-blocking sockets of somebody else.
class foreign_pair {
 public:
  foreign_pair() {
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  }
  foreign_pair(const foreign_pair&) = delete;
  foreign_pair& operator=(const foreign_pair&) = delete;
  ~foreign_pair() {
    close_one(0);
    close_one(1);
  }
  void close_one(std::size_t which) {
    if (ends[which] >= 0) ::close(ends[which]);
    ends[which] = -1;
  }
  int ours() const noexcept { return ends[0]; }
  int peer() const noexcept { return ends[1]; }
  /// Not closed here any more.
  int take_ours() noexcept { return std::exchange(ends[0], -1); }
  void peer_writes(std::string_view text) const {
    EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  std::array<int, 2> ends{};
};

/// @returns  what is there now; "" at the end, or if there is nothing
inline std::string read_some(int descriptor, std::size_t most = 100) {
  std::array<char, 100> text;
  const ssize_t count = ::read(descriptor, text.data(), std::min(most, text.size()));
  return {text.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

/// Always ready to be read, and written.
class ready_descriptor {
 public:
  ready_descriptor() : descriptor_(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK)) {
    EXPECT_GE(descriptor_, 0);
  }
  ready_descriptor(const ready_descriptor&) = delete;
  ready_descriptor& operator=(const ready_descriptor&) = delete;
  ~ready_descriptor() { ::close(descriptor_); }
  int get() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace tandem::test
