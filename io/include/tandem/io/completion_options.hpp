// completion_options.hpp: how the completion pool is set up.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <tandem/io/completion_growth.hpp>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io {

/// What the completion pool is built on.
enum class io_backend : std::uint8_t {
  automatic,  ///< io_uring; where the host refuses it, Asio, which says so once on standard error;
              ///< where the system has none, Asio; on Windows iocp
  uring,      ///< io_uring, or an error
  asio,       ///< readiness from Asio (epoll on Linux) and non-blocking calls
  iocp,       ///< Windows: readiness from a completion port and non-blocking calls
};

/// A completion thread that does not come back to its ring, since what runs there computes or
/// blocks.
class stall_report {
 public:
  stall_report() noexcept = default;

  unsigned thread = 0;                  ///< its index
  int os_thread = 0;                    ///< its number in the system, as debuggers show it
  std::chrono::nanoseconds lasted{};    ///< so far
  std::chrono::nanoseconds cpu_time{};  ///< of that: little means that it blocks, or gets no CPU
  std::source_location spawned_at;      ///< of the task that runs; line 0: unknown
  const char* task = "";    ///< its name; "" if it has none. Lives as long as the program
  std::size_t waiting = 0;  ///< tasks of the pool's executor that lie there, for others to take
};

/// How the completion pool is set up. What is wrong with it install() says: std::invalid_argument,
/// with the name of the option.
class TANDEM_IO_API completion_options {
 public:
  /// Reads TANDEM_IO_THREADS, TANDEM_IO_ADAPTIVE and TANDEM_IO_BACKEND.
  /// @throws  std::invalid_argument if the first is no whole number of at least 1, the second
  ///          neither on nor off, or the third none of uring, asio, iocp, automatic
  completion_options();

  /// How many there are at least. Default: 1.
  unsigned min_threads;
  /// Up to how many it grows. 0: the usable CPUs, or min_threads if that is more; an adaptive pool
  /// follows them when the affinity mask or the quota of the control group changes, within 10 s
  /// while anything happens (up to 64, or four times as many as at the start).
  unsigned max_threads = 0;
  /// Whether and how the number between the two is found. TANDEM_IO_ADAPTIVE (on or off); default
  /// on.
  completion_growth adaptive;
  /// Submission entries of each ring, at least 1; the completion side has 16 times as many.
  unsigned ring_entries = 256;
  /// Default: automatic.
  io_backend backend;
  /// Buffers of each thread for tcp_stream::receive(), shared by its connections: a power of two,
  /// at most 32768. An idle connection holds none.
  unsigned receive_buffers = 512;
  /// To how many a thread's buffers may grow while slow readers hold them; then receives wait for
  /// one to come back. At least receive_buffers, at most 65536.
  unsigned max_receive_buffers = 16384;
  /// Bytes of each; one receive() yields at most as many.
  unsigned receive_buffer_bytes = 4096;
  /// How long a task may run on a completion thread before that is told (once for each time); 0:
  /// for ever. As long as anything happens a thread looks that often.
  std::chrono::milliseconds stall_threshold{5};
  /// Called once for each time, as soon as it is that long, by a thread of its own, one call at a
  /// time; whether the task computes or blocks. Empty: a line on standard error, at most one a
  /// second; for a task that has used less than half of the time on a CPU not before 50 ms, and
  /// only if it waits for something else than a CPU.
  std::function<void(const stall_report&)> on_stall;
};

}  // namespace tandem::inline v0::io
