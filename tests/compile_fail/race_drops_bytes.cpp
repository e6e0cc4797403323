// race_drops_bytes.cpp: race() refuses a vectored read, whose bytes nobody would get.
// SPDX-License-Identifier: MIT
#include <array>
#include <tandem/io/readiness.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/race.hpp>

tandem::task<void> first(tandem::io::tcp_stream& stream, int other) {
  std::array<std::byte, 16> room;
  const std::array<std::span<std::byte>, 1> list{std::span<std::byte>(room)};
#ifdef TANDEM_CONTROL
  co_await tandem::race(tandem::io::readable(other), tandem::io::writable(other));
  (void)co_await stream.read(list);
#else
  (void)co_await tandem::race(tandem::io::readable(other), stream.read(list));
#endif
}
