// foreign_pair.hpp: descriptors that are not tandem's.
// SPDX-License-Identifier: MIT
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "plain_sockets.hpp"

namespace tandem::test {

/// Two connected non-blocking sockets of somebody else.
class foreign_pair {
 public:
  foreign_pair() : ends(connected_plain()) {}
  foreign_pair(const foreign_pair&) = delete;
  foreign_pair& operator=(const foreign_pair&) = delete;
  ~foreign_pair() {
    close_one(0);
    close_one(1);
  }
  void close_one(std::size_t which) {
    if (ends[which] != io::no_descriptor) close_plain(ends[which]);
    ends[which] = io::no_descriptor;
  }
  plain_socket ours() const noexcept { return ends[0]; }
  plain_socket peer() const noexcept { return ends[1]; }
  /// Not closed here any more.
  plain_socket take_ours() noexcept { return std::exchange(ends[0], io::no_descriptor); }
  /// From any thread: under wine one of two that send at the same time is told that there is no room.
  void peer_writes(std::string_view text) const {
    const std::lock_guard alone(writing_);
    EXPECT_EQ(send_plain(ends[1], text.data(), text.size()), std::ssize(text));
  }
  std::array<plain_socket, 2> ends;

 private:
  mutable std::mutex writing_;
};

/// Gives the end of `pair` the number that has just been closed.
/// @returns  false: another thread has it; on Windows it may be any handle's, and nobody can choose
[[nodiscard]] inline bool try_renumber(foreign_pair& pair, plain_socket number) {
  if (!renumber_plain(pair.take_ours(), number)) return false;
  pair.ends[0] = number;
  return true;
}
inline void renumber(foreign_pair& pair, plain_socket number) {
  ASSERT_TRUE(try_renumber(pair, number)) << "it is somebody else's";
}

/// @returns  what is there now; "" at the end, or if there is nothing
inline std::string read_some(plain_socket descriptor, std::size_t most = 100) {
  std::array<char, 100> text;
  const std::ptrdiff_t count = receive_plain(descriptor, text.data(), std::min(most, text.size()));
  return {text.data(), count > 0 ? static_cast<std::size_t>(count) : 0};
}

/// Always ready to be read, and written.
class ready_descriptor {
 public:
  ready_descriptor() { pair_.peer_writes("x"); }
  plain_socket get() const noexcept { return pair_.ours(); }

 private:
  foreign_pair pair_;
};

}  // namespace tandem::test
