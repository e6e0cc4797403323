// accepting.hpp: a handler for serve() that does the handshake before it calls yours.
// SPDX-License-Identifier: MIT
//
// Clients that connect and never finish their handshake cannot keep good ones out: there are places
// for so many handshakes, and while all are taken the oldest one has to go for each new one.
// Protocol tls_crowd: io/src/tls/README.md.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stop_token>
#include <tandem/io/any_stream.hpp>
#include <tandem/io/tls/context.hpp>
#include <tandem/io/tls/export.hpp>
#include <tandem/io/tls/handshake.hpp>
#include <tandem/io/tls/tls_stream.hpp>
#include <tandem/task.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::io {

namespace tls {

/// What became of handshakes, from any thread at any time.
class accepting_counts {
 public:
  accepting_counts() noexcept = default;
  accepting_counts(const accepting_counts&) = delete;
  accepting_counts& operator=(const accepting_counts&) = delete;

  std::atomic<std::uint64_t> accepted{0};     ///< given to the handler
  std::atomic<std::uint64_t> failed{0};       ///< by an error of TLS or of the connection
  std::atomic<std::uint64_t> timed_out{0};    ///< too slow: accepting_options::handshake_timeout
  std::atomic<std::uint64_t> crowded_out{0};  ///< too old when there was no place for a new one
};

/// How accepting() meets its clients.
class accepting_options {
 public:
  accepting_options() noexcept {}  // NOLINT: not an aggregate, see tcp_options

  /// Handshakes at once; one more makes the oldest of them end with errc::overcrowded. 0 is refused.
  std::size_t max_handshakes = 1024;
  /// From accepting the connection to the end of the handshake.
  std::chrono::steady_clock::duration handshake_timeout = std::chrono::seconds(10);
  /// Added to, if there are any. They stay the caller's, until serve() has ended.
  accepting_counts* counts = nullptr;
  /// Told of each handshake that failed, on that connection's thread, several at once; must not
  /// block. Default: it is a failure of the connection's handler (serve_options::on_handler_error),
  /// but for those that timed out, were crowded out, or ended before the client's first word, of
  /// which nothing is said.
  std::function<void(std::exception_ptr)> on_handshake_error;
};

}  // namespace tls

namespace detail {

/// The handshakes of one accepting(). Protocol tls_crowd.
class tls_crowd;

/// The part of accepting() that does not depend on the handler.
class TANDEM_IO_TLS_API tls_gate {
 public:
  /// @throws  std::invalid_argument: max_handshakes is 0
  tls_gate(tls::server_context context, tls::accepting_options options);
  tls_gate(const tls_gate&);
  tls_gate(tls_gate&&) noexcept;
  ~tls_gate();

  /// @returns  not open: it failed, and whoever wanted to know was told
  task<tls_stream> admit(any_stream stream, std::stop_token draining) const;

 private:
  std::shared_ptr<tls_crowd> crowd_;
};

/// What accepting() makes.
template <class Handler>
class accepting_handler {
 public:
  using has_constructors = void;  // safe_in_co_await

  template <class Given>
  accepting_handler(tls_gate gate, Given&& handler)
      : shared_(std::make_shared<kept>(std::move(gate), std::forward<Given>(handler))) {}

  task<void> operator()(any_stream stream, std::stop_token draining) const {
    return run(shared_, std::move(stream), std::move(draining));
  }

 private:
  struct kept {
    template <class Given>
    kept(tls_gate&& door, Given&& given)
        : gate(std::move(door)), handler(std::forward<Given>(given)) {}
    tls_gate gate;
    Handler handler;
  };

  static task<void> run(std::shared_ptr<kept> all, any_stream stream, std::stop_token draining) {
    tls_stream encrypted = co_await all->gate.admit(std::move(stream), draining);
    if (!encrypted.is_open()) co_return;
    if constexpr (std::is_invocable_r_v<task<void>, Handler&, tls_stream, std::stop_token>) {
      co_await std::invoke(all->handler, std::move(encrypted), std::move(draining));
    } else {
      co_await std::invoke(all->handler, std::move(encrypted));
    }
  }

  std::shared_ptr<kept> shared_;
};

}  // namespace detail

namespace tls {

/// Makes a handler of encrypted connections one for serve(): it is called when the handshake is over.
///
///     const tls::server_context context(options);
///     const auto handler = [](tls_stream stream) -> task<void> { ... };
///     co_await serve(std::move(listener), tls::accepting(context, handler));
///
/// When the server drains, handshakes that are under way are stopped.
///
/// @param handler  takes a tls_stream, or any_stream, by value [, std::stop_token] and returns
///                 task<void>, as serve()'s; kept until the last connection has ended
/// @throws         std::invalid_argument: max_handshakes is 0
/// @cost           a connection: three frames beside serve()'s
template <class Handler>
auto accepting(server_context context, Handler&& handler, accepting_options options = {}) {
  using kept = std::decay_t<Handler>;
  static_assert(std::is_invocable_r_v<task<void>, kept&, tls_stream> ||
                    std::is_invocable_r_v<task<void>, kept&, tls_stream, std::stop_token>,
                "a handler takes a tls_stream, or any_stream, by value [, std::stop_token] and "
                "returns tandem::task<void>");
  static_assert(!std::is_invocable_v<kept&, const tls_stream&> &&
                    !std::is_invocable_v<kept&, const any_stream&>,
                "a handler takes its stream by value: a reference would not live as long as it");
  static_assert(
      tandem::detail::safe_in_co_await<Handler&&>,
      "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
      "(auto handler = [...]...; tls::accepting(context, handler)), or capture by reference");
  return detail::accepting_handler<kept>(detail::tls_gate(std::move(context), std::move(options)),
                                         std::forward<Handler>(handler));
}

}  // namespace tls
}  // namespace tandem::inline v0::io
