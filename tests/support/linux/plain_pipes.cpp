// plain_pipes.cpp: pipes on Unix.
// SPDX-License-Identifier: MIT
#include "plain_pipes.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <vector>

namespace tandem::test {

std::array<io::native_descriptor, 2> new_plain_pipe() {
  std::array<int, 2> made{};
  EXPECT_EQ(::pipe(made.data()), 0);
  for (const int each : made) EXPECT_EQ(::fcntl(each, F_SETFD, FD_CLOEXEC), 0);
  return made;
}
void close_plain_pipe(io::native_descriptor end) { ::close(end); }

std::ptrdiff_t read_plain_pipe(io::native_descriptor reader, std::span<std::byte> room) {
  return ::read(reader, room.data(), room.size());
}
std::ptrdiff_t write_plain_pipe(io::native_descriptor writer, std::span<const std::byte> bytes) {
  return ::write(writer, bytes.data(), bytes.size());
}

void fill_plain_pipe(io::native_descriptor writer) {
  const std::vector<std::byte> page(4096);
  while (write_plain_pipe(writer, page) > 0) {}
}

}  // namespace tandem::test
