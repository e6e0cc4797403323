// fault_proxy.hpp: a TCP proxy that cuts, delays, fragments, stalls and resets what passes through it.
// SPDX-License-Identifier: MIT
//
// It runs on a thread of its own, with plain calls: nothing of what it tests. What
// happens to connection k is drawn from the seed and k, and happens after so many bytes of one
// direction, never after so much time: the same seed does the same to the same bytes, whatever the
// machine does meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace tandem::test {

/// What may happen to a connection; which of them, is drawn.
class fault_plan {
 public:
  fault_plan() noexcept {}  // NOLINT: not an aggregate, see tcp_options

  /// Passed on in pieces of 1 to so many bytes.
  std::size_t most_piece_bytes = 16 * 1024;
  /// A pause of up to so long after each piece.
  unsigned most_pause_us = 0;
  /// Of a hundred connections, so many: one direction ends early, the rest of it is swallowed; the
  /// other goes on.
  unsigned half_cuts = 0;
  /// So many: both ends are closed.
  unsigned cuts = 0;
  /// So many: both ends are reset.
  unsigned resets = 0;
  /// So many: one direction passes nothing for stall_ms, then goes on.
  unsigned stalls = 0;
  unsigned stall_ms = 20;
  /// It happens before so many bytes of the direction have passed, or at the end.
  std::size_t within_bytes = 100'000;
};

class fault_proxy {
 public:
  /// Listens on a port of loopback, and passes on to another one there.
  fault_proxy(std::uint16_t to_port, std::uint64_t seed, const fault_plan& plan);
  fault_proxy(const fault_proxy&) = delete;
  fault_proxy& operator=(const fault_proxy&) = delete;
  /// Closes what is left. No connection may be on its way to be made.
  ~fault_proxy();

  std::uint16_t port() const noexcept;
  /// Connections that were cut, half or whole, or reset so far.
  std::size_t broken() const noexcept;

 private:
  class impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace tandem::test
