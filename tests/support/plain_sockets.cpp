// plain_sockets.cpp: what is the same on every system.
// SPDX-License-Identifier: MIT
#include "plain_sockets.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <system_error>

namespace tandem::test {

std::ptrdiff_t fill_plain(plain_socket stream) {
  static constexpr std::array<char, 65536> chunk{};
  std::ptrdiff_t filled = 0;
  while (true) {
    const std::ptrdiff_t sent = send_plain(stream, chunk.data(), chunk.size());
    if (sent <= 0) return filled;
    filled += sent;
  }
}

void drain_plain(plain_socket stream, std::ptrdiff_t bytes) {
  std::array<char, 65536> sink;
  while (bytes > 0) {
    const auto wanted = std::min(sink.size(), static_cast<std::size_t>(bytes));
    const std::ptrdiff_t got = receive_plain(stream, sink.data(), wanted);
    if (got > 0) {
      bytes -= got;
    } else if (got < 0 && last_plain_error() == std::errc::operation_would_block) {
      (void)wait_readable({stream}, -1);
    } else {
      return;
    }
  }
}

}  // namespace tandem::test
