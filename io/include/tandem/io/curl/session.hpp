// session.hpp: a scope in which curl works: connections, names and cookies that requests share.
// SPDX-License-Identifier: MIT
//
// curl lives on one completion thread, where its multi handle is driven by an io::foreign_loop. A
// session exists only inside with_session(), so nothing of curl runs after its end.
// Protocol curl_session: io/src/curl/README.md.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/environment.hpp>
#include <tandem/io/curl/export.hpp>
#include <tandem/io/curl/options.hpp>
#include <tandem/io/curl/request.hpp>
#include <tandem/io/curl/response.hpp>
#include <tandem/io/curl/transfer.hpp>
#include <tandem/io/foreign_loop.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/task.hpp>
#include <tandem/task_scope.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::io::curl {

/// Counts of a session at one moment.
class session_stats {
 public:
  session_stats() noexcept {}  // NOLINT: no aggregate

  std::uint64_t requests = 0;            ///< that were begun
  std::uint64_t connections_opened = 0;  ///< tries to connect
  std::uint64_t wake_ups = 0;     ///< how often curl was called because of a socket or a timer
  std::uint64_t names_asked = 0;  ///< that were looked up
};

/// Requests that share connections, TLS sessions, addresses and, if so configured, cookies.
///
///     co_await tandem::io::curl::with_session([](auto& session) -> tandem::task<void> {
///       const auto page = co_await session.get("https://example.org/");
///       std::printf("%d, %zu bytes\n", page.status, page.body.size());
///     });
///
/// @thread_safety  all members from any thread, any number of requests at once
class TANDEM_IO_CURL_API session {
 public:
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session();

  /// Asks for `url`, and collects the body.
  ///
  /// @returns             the answer, whatever its status
  /// @throws              curl::error: could_not_resolve, could_not_connect, timed_out, ...;
  ///                      operation_cancelled
  /// @cancellation        breaks the transfer off at once, also while it waits for a connection; its
  ///                      connection is closed unless it can be used again. No other transfer
  ///                      notices. A name that is being looked up goes on by itself (io::resolve)
  /// @resumes_on          the caller's home
  /// @cost                two posts where the caller lives elsewhere than the session (executor());
  ///                      no thread, but for a name that is not known yet (io::resolve)
  [[nodiscard]] task<response> get(std::string url);

  /// Sends `what`, and collects the answer, or passes it on piece by piece (request::body_to()).
  ///
  /// @returns        the answer, whatever its status (but see request::raise_for_status); its body
  ///                 is empty if there is a sink
  /// @throws         as get(); std::invalid_argument for body_to() beside on_body; what a source, a
  ///                 sink or a callback of the request throws; send_failed if a source ends too
  ///                 early or gives too much
  /// @cancellation   as get(); source and sink are stopped, and waited for
  /// @resumes_on     the caller's home
  /// @cost           as get(). With a source or a sink: 64 KiB of memory for each, and two posts for
  ///                 each piece where the caller lives elsewhere
  [[nodiscard]] task<response> send(request what);

  /// Sends `what`; its answer is read by the caller, when he likes.
  ///
  /// @param what     without source and sink: with a source it is send() that waits for both ends
  /// @returns        when the head has come, but for heads of redirects and of asking back
  /// @throws         as get(); std::invalid_argument for a request with a source or a sink
  /// @cancellation   as get(), until the head has come; later transfer's own rules hold
  /// @resumes_on     the caller's home
  [[nodiscard]] task<transfer> open(request what);

  /// The cheapest home for tasks that mostly wait for this session.
  tandem::executor& executor() noexcept;
  session_stats stats() const noexcept;

  // Implementation
  /// On the loop's thread. @throws curl::error (bad_option)
  session(foreign_loop& loop, session_options options);
  /// Reads what is stored; cookies' file off the loop's thread.
  task<void> begin();
  /// Serves transfers that were dropped; ends with end().
  task<void> serve();
  /// Breaks off what is under way, and waits until nobody is inside. Cannot be stopped.
  task<void> end();
  /// Ends serve(), whatever became of end().
  void stop_serving() noexcept;

 private:
  std::shared_ptr<session_core> core_;
};

namespace detail {

template <class Body>
using session_task = std::invoke_result_t<Body&, session&>;

/// The user's body, at his home.
template <class T, class Body>
task<T> session_body(tandem::executor& home, session& inside, Body& body) {
  co_await resume_on(home);
  co_return co_await std::invoke(body, inside);
}

TANDEM_IO_CURL_API task<void> run_server(session& served);
/// A failure of the end is thrown, unless the body has failed, too: then it is reported.
TANDEM_IO_CURL_API task<void> end_session(session& ended, bool body_failed);

/// There may be no memory for the task that ends a session: what serves it ends all the same.
class served_until_here {
 public:
  explicit served_until_here(session& served) noexcept : served_(served) {}
  served_until_here(const served_until_here&) = delete;
  served_until_here& operator=(const served_until_here&) = delete;
  ~served_until_here() { served_.stop_serving(); }

 private:
  session& served_;
};

template <class T, class Body>
task<T> run_session(session_options options, Body body) {
  tandem::executor& home = *current_environment()->home();
  const auto inside = [&](foreign_loop& loop) -> task<T> {
    session made(loop, std::move(options));
    co_await made.begin();
    const auto both = [&](task_scope& scope) -> task<T> {
      const served_until_here ends(made);
      scope.spawn(run_server(made));
      result<T> outcome = co_await as_result(session_body<T>(home, made, body));
      co_await end_session(made, !outcome.has_value());
      co_return std::move(outcome).value();
    };
    co_return co_await with_scope(both);
  };
  co_return co_await with_foreign_loop(inside);
}

}  // namespace detail

/// Runs `body(session)` with a session of its own. When the call returns nothing of curl runs any
/// more: transfers that somebody else still waits for were broken off (errc::session_ended).
///
/// @param options  left out: the defaults
/// @param body     returns a task; runs at the caller's home, and is kept until the end. With g++ 12
///                 a lambda that captures objects with destructors needs a name: a temporary does
///                 not compile
/// @returns        what the body returns
/// @throws         what the body throws; curl::error (bad_option) naming the option that cannot be
///                 used, the cookie_file, too, if it cannot be read at the beginning or, after a
///                 body that has not failed, written at the end; after one that has, that goes to
///                 runtime_options::on_suppressed_exception. std::system_error if no backend can be
///                 set up
/// @cancellation   a stop of the caller reaches the body, not the session
/// @resumes_on     the caller's home
/// @cost           a multi handle of curl's, a foreign loop
template <class Body>
  requires std::invocable<std::decay_t<Body>&, session&>
task<typename detail::session_task<std::decay_t<Body>>::value_type> with_session(
    session_options options, Body&& body) {
  static_assert(tandem::detail::safe_in_co_await<Body&&>,
                "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
                "(auto body = [...]...; co_await with_session(options, body);), or capture by "
                "reference");
  using value = typename detail::session_task<std::decay_t<Body>>::value_type;
  return detail::run_session<value, std::decay_t<Body>>(std::move(options),
                                                        std::forward<Body>(body));
}
template <class Body>
  requires std::invocable<std::decay_t<Body>&, session&>
task<typename detail::session_task<std::decay_t<Body>>::value_type> with_session(Body&& body) {
  return with_session(session_options(), std::forward<Body>(body));
}

}  // namespace tandem::inline v0::io::curl
