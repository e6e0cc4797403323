// serve_options.hpp: how serve() works: homes, limits, drain, failures, counts.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <system_error>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/task.hpp>
#include <utility>

namespace tandem::inline v0::io {

/// Where the handler of a connection begins.
enum class handler_home : std::uint8_t {
  connection_thread,  ///< the completion thread that serves its socket: cheapest for what mostly waits
  completion_pool,  ///< any completion thread
  workers,          ///< the worker pool: for handlers that compute
};

/// What became of a server's connections, from any thread at any time.
class serve_counts {
 public:
  serve_counts() noexcept = default;
  serve_counts(const serve_counts&) = delete;
  serve_counts& operator=(const serve_counts&) = delete;

  std::atomic<std::uint64_t> served{0};      ///< given to the handler
  std::atomic<std::uint64_t> over_limit{0};  ///< given to serve_options::over_limit
  std::atomic<std::uint64_t> closed{0};      ///< closed without a word: over both limits
};

/// How serve() works, whatever the type of its streams.
class serve_settings {
 public:
  serve_settings() noexcept {}  // NOLINT: not an aggregate, see tcp_options

  handler_home home = handler_home::connection_thread;
  /// Connections at once; while there are so many, further ones wait in the kernel's queue
  /// (listen_options::backlog), unless there is over_limit; of several listeners each may have
  /// accepted one that waits. 0: no limit.
  std::size_t max_connections = 0;
  /// How many may be with serve_options::over_limit at once; beyond that a connection is closed as
  /// soon as it is accepted.
  std::size_t max_over_limit = 256;
  /// How long one may take, before it is stopped (no failure): a slow peer keeps no place for ever.
  std::chrono::steady_clock::duration over_limit_timeout = std::chrono::seconds(5);
  /// Added to, if there are any. They stay the caller's, until serve() has ended.
  serve_counts* counts = nullptr;
  /// How long connections may go on after a stop, before they are stopped, too.
  std::chrono::steady_clock::duration drain_timeout = std::chrono::seconds(10);
  /// When a connection cannot be accepted (no descriptor or no memory is left, the network is
  /// down): the first pause; it doubles with each failure in a row, up to the longest one.
  std::chrono::milliseconds first_pause{5};
  std::chrono::milliseconds longest_pause{1000};
  /// Told of each such failure, and of the pause that follows. On a completion thread: must not
  /// block. Default: a line on standard error, at most one a second.
  std::function<void(const std::error_code&, std::chrono::milliseconds)> on_accept_error;
  /// Told of each exception that a handler lets out, on that connection's thread, several at once.
  /// Default: a line on standard error, at most one a second, with the number of those left out. A
  /// stop is no failure: neither of the connection, nor of what its handler stops by its token when
  /// the drain begins.
  std::function<void(std::exception_ptr)> on_handler_error;
};

/// How serve() works for a listener of such streams.
///
///     tandem::io::serve_options options;
///     options.max_connections = 10'000;
///     options.drain_timeout = std::chrono::seconds(5);
///     scope.spawn(tandem::io::serve(std::move(listener), answer, options));
template <class Stream>
class serve_options_for : public serve_settings {
 public:
  serve_options_for() noexcept {}  // NOLINT: not an aggregate, see tcp_options
  /// One set of settings for servers of several types of streams.
  serve_options_for(serve_settings settings) noexcept  // NOLINT: serve(listener, handler, settings)
      : serve_settings(std::move(settings)) {}

  /// A second handler, for connections over max_connections: they are accepted, so that their peers
  /// can be told (HTTP: 503 with Retry-After) rather than wait. Its failures are those of a
  /// handler.
  std::function<task<void>(Stream)> over_limit;
};

using serve_options = serve_options_for<tcp_stream>;

}  // namespace tandem::inline v0::io
