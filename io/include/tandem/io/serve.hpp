// serve.hpp: accepts connections and runs a handler for each, until it is stopped; then drains.
// SPDX-License-Identifier: MIT
//
// Two scopes of stops: accepting ends with the caller's, the connections go on behind a border of
// their own until the drain is over. Protocol serving: io/src/stream/README.md.
#pragma once

#include <concepts>
#include <memory>
#include <source_location>
#include <stop_token>
#include <tandem/io/any_stream.hpp>
#include <tandem/io/detail/connection_source.hpp>
#include <tandem/io/listener.hpp>
#include <tandem/io/serve_options.hpp>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>
#include <tandem/task.hpp>
#include <type_traits>
#include <utility>
#include <vector>

namespace tandem::inline v0::io {

namespace detail {

/// A reference to the stream would not live as long as the task.
template <class Handler, class Stream, class... More>
concept handles =
    std::is_invocable_r_v<task<void>, Handler&, Stream, More...> &&
    (std::copy_constructible<Stream> || !std::is_invocable_v<Handler&, const Stream&, More...>) &&
    !std::is_invocable_v<Handler&, const any_stream&, More...>;

template <class Handler, class Stream>
concept serves_streams = handles<Handler, Stream> || handles<Handler, Stream, std::stop_token>;

}  // namespace detail

/// As below, for several listeners that share handler and options, such as those of
/// tcp_listener::bind_sharded(): each accepts on its own completion thread.
template <listener Listener, class Handler>
task<void> serve(std::vector<Listener> listeners, Handler&& handler,
                 serve_options_for<accepted_stream_t<Listener>> options = {},
                 std::source_location where = std::source_location::current()) {
  using stream = accepted_stream_t<Listener>;
  using kept = std::decay_t<Handler>;
  static_assert(detail::serves_streams<kept, stream>,
                "a handler takes the listener's stream (tcp_stream), or any_stream, by value "
                "[, std::stop_token] and returns tandem::task<void>");
  static_assert(
      tandem::detail::safe_in_co_await<Handler&&>,
      "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
      "(auto handler = [...]...; co_await serve(..., handler);), or capture by reference");
  if constexpr (detail::serves_streams<kept, stream>) {  // else one error is enough
    auto handlers = std::make_shared<detail::handlers_of<stream, kept>>(
        std::forward<Handler>(handler), std::move(options.over_limit));
    std::vector<std::unique_ptr<detail::connection_source>> sources;
    for (Listener& each : listeners) {
      sources.push_back(
          std::make_unique<detail::source_of<Listener, kept>>(std::move(each), handlers));
    }
    return detail::serve_connections(std::move(sources), std::move(handlers), std::move(options),
                                     where);
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
/// @param listener  a tcp_listener, or a class of one's own (listener.hpp); the server's from now
///                  on, destroyed as soon as it is stopped, so that new peers are refused
/// @param handler   takes the listener's stream, or any_stream, and returns a task; called as
///                  handler(stream), or as handler(stream, draining) with a std::stop_token that
///                  says when the drain begins: with_stop(draining, stream.read(...)) ends the wait
///                  for a next request. Kept until the end. With several listeners it is called by
///                  several threads at once; its tasks always run at once
/// @param options   serve_options for tcp_stream; serve_options_for<Stream> for other streams
/// @param where     as what the connections' tasks are named, in reports of stalls and failures
/// @returns         after a stop, when the last connection has ended: then a stop is no error
/// @throws          std::system_error if the listener itself fails (bad_file_descriptor, ...), and
///                  what else a listener of one's own throws, after the drain; std::logic_error
///                  outside any task. A failing handler ends its connection only
/// @cancellation    ends accepting. Connections are stopped drain_timeout later, with reason
///                  deadline
/// @resumes_on      the caller's home
/// @cost            a connection: two frames, one of them the handler's, and a block of the scope
template <listener Listener, class Handler>
task<void> serve(Listener listener, Handler&& handler,
                 serve_options_for<accepted_stream_t<Listener>> options = {},
                 std::source_location where = std::source_location::current()) {
  std::vector<Listener> one;
  one.push_back(std::move(listener));
  return serve(std::move(one), std::forward<Handler>(handler), std::move(options), where);
}

}  // namespace tandem::inline v0::io
