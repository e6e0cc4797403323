// serve.hpp: accepts connections and runs a handler for each, until it is stopped; then drains.
// SPDX-License-Identifier: MIT
//
// Two scopes of stops: accepting ends with the caller's, the connections go on behind a border of
// their own until the drain is over. Protocol serving: io/src/stream/README.md.
#pragma once

#include <atomic>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <source_location>
#include <stop_token>
#include <system_error>
#include <tandem/io/export.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/task.hpp>
#include <type_traits>
#include <utility>
#include <vector>

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

/// How serve() works.
class serve_options {
 public:
  serve_options() noexcept {}  // NOLINT: not an aggregate, see tcp_options

  handler_home home = handler_home::connection_thread;
  /// Connections at once; while there are so many, further ones wait in the kernel's queue
  /// (listen_options::backlog), unless there is over_limit. 0: no limit.
  std::size_t max_connections = 0;
  /// A second handler, for connections over max_connections: they are accepted, so that their peers
  /// can be told (HTTP: 503 with Retry-After) rather than wait. Its failures are those of a
  /// handler.
  std::function<task<void>(tcp_stream)> over_limit;
  /// How many of those at once; beyond that a connection is closed as soon as it is accepted.
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

namespace detail {

class TANDEM_IO_API connection_handler {
 public:
  connection_handler() noexcept = default;
  connection_handler(const connection_handler&) = delete;
  connection_handler& operator=(const connection_handler&) = delete;
  virtual ~connection_handler();
  virtual task<void> handle(tcp_stream stream, const std::stop_token& draining) = 0;
};

template <class Handler>
class handler_of final : public connection_handler {
 public:
  explicit handler_of(Handler&& handler) : handler_(std::move(handler)) {}
  explicit handler_of(const Handler& handler) : handler_(handler) {}
  task<void> handle(tcp_stream stream, const std::stop_token& draining) override {
    if constexpr (std::is_invocable_r_v<task<void>, Handler&, tcp_stream, std::stop_token>) {
      return std::invoke(handler_, std::move(stream), draining);
    } else {
      return std::invoke(handler_, std::move(stream));
    }
  }

 private:
  Handler handler_;
};

/// A reference to the stream would not live as long as the task.
template <class Handler, class... More>
concept handles = std::is_invocable_r_v<task<void>, Handler&, tcp_stream, More...> &&
                  !std::is_invocable_v<Handler&, const tcp_stream&, More...>;

template <class Handler>
concept serves_connections = handles<Handler> || handles<Handler, std::stop_token>;

TANDEM_IO_API task<void> serve_connections(std::vector<tcp_listener> listeners,
                                           std::unique_ptr<connection_handler> handler,
                                           serve_options options, std::source_location where);

}  // namespace detail

/// As below, for several listeners that share handler and options, such as those of
/// tcp_listener::bind_sharded(): each accepts on its own completion thread.
template <class Handler>
task<void> serve(std::vector<tcp_listener> listeners, Handler&& handler, serve_options options = {},
                 std::source_location where = std::source_location::current()) {
  static_assert(
      detail::serves_connections<std::decay_t<Handler>>,
      "a handler takes tcp_stream by value [, std::stop_token] and returns tandem::task<void>");
  static_assert(
      tandem::detail::safe_in_co_await<Handler&&>,
      "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
      "(auto handler = [...]...; co_await serve(..., handler);), or capture by reference");
  if constexpr (detail::serves_connections<std::decay_t<Handler>>) {  // else one error is enough
    return detail::serve_connections(
        std::move(listeners),
        std::make_unique<detail::handler_of<std::decay_t<Handler>>>(std::forward<Handler>(handler)),
        std::move(options), where);
  }
}

/// Runs `handler` for each connection, all of them at once, until the caller is stopped.
///
///     const auto handler = [](tcp_stream stream) -> task<void> { ... };
///     auto server = tandem::spawn(tandem::io::serve(std::move(listener), handler));
///     co_await signals.wait();
///     server.cancel();  // no further connections; those that are there have 10 s to finish
///     co_await server;  // until they have; a stop is no error, so this goes on here
///
/// In a scope, scope.request_stop() does the same; the scope then waits for the drain.
///
/// @param listener  the server's from now on; closed as soon as it is stopped, so that new peers
///                  are refused
/// @param handler   returns a task; called as handler(stream), or as handler(stream, draining) with
///                  a std::stop_token that says when the drain begins: with_stop(draining,
///                  stream.read(...)) ends the wait for a next request. Kept until the end. With
///                  several listeners it is called by several threads at once; its tasks always run
///                  at once
/// @param where     as what the connections' tasks are named, in reports of stalls and failures
/// @returns         after a stop, when the last connection has ended: then a stop is no error
/// @throws          std::system_error if the listener itself fails (bad_file_descriptor, ...),
///                  after the drain; std::logic_error outside any task. A failing handler ends its
///                  connection only
/// @cancellation    ends accepting. Connections are stopped drain_timeout later, with reason
///                  deadline
/// @resumes_on      the caller's home
/// @cost            a connection: two frames, one of them the handler's, and a block of the scope
template <class Handler>
task<void> serve(tcp_listener listener, Handler&& handler, serve_options options = {},
                 std::source_location where = std::source_location::current()) {
  std::vector<tcp_listener> one;
  one.push_back(std::move(listener));
  return serve(std::move(one), std::forward<Handler>(handler), std::move(options), where);
}

}  // namespace tandem::inline v0::io
