// foreign_loop.hpp: readiness and a timer for a library that brings descriptors and calls back.
// SPDX-License-Identifier: MIT
//
// For curl's multi interface, hiredis, c-ares, libpq and their like: the library says which
// descriptors it waits for and until when, and is called when there is something to do. All its
// calls are on one completion thread, one after the other. A loop exists only inside
// with_foreign_loop, so nothing is called after its end. Protocol foreign_loop:
// io/src/foreign/README.md.
#pragma once

#include <chrono>
#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <tandem/as_result.hpp>
#include <tandem/detail/as_task.hpp>
#include <tandem/executor.hpp>
#include <tandem/io/completion_thread.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/ready_events.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/task.hpp>
#include <tandem/task_scope.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::io {

/// Watches descriptors of one library, and keeps its one timer.
///
/// Its thread is a strand: callbacks, and tasks that live at executor(), run one after the other,
/// so the library needs no lock. No callback runs inside a call of this class. A callback that
/// throws loses its watch (or the deadline), stops the body (reason sibling_failed), and
/// with_foreign_loop throws that; all other watches go on until the body has ended, so that the
/// library can finish. What passes through a library written in C must not throw.
///
/// @thread_safety  executor() from any thread, all else on the loop's own thread
class TANDEM_IO_API foreign_loop {
 public:
  using ready_function = std::function<void(native_descriptor, ready_events)>;
  using time_function = std::function<void()>;

  /// Calls `on_ready` whenever `descriptor` is ready, again and again as long as it is
  /// (level-triggered). A second call for the same number replaces the first one, and all that was
  /// waited for: so a number that was closed and opened anew without forget() is watched as what it
  /// is now.
  ///
  /// @param descriptor  a socket, pipe, eventfd, terminal, ...; stays the library's. In
  ///                    non-blocking mode: being ready may have passed when it is told. A file on
  ///                    a disk is always ready
  /// @param interest    none: paused. Nothing wakes this thread then, also if the peer leaves
  /// @param on_ready    kept until it is replaced or forgotten, and while it runs. Reading and
  ///                    writing are told by a call each. If the system refuses to watch (no
  ///                    memory, the number was closed without forget()) it is told an error, once,
  ///                    and the watch is paused
  /// @throws            std::system_error (bad_file_descriptor) if it is not open;
  ///                    std::invalid_argument if `on_ready` is empty; std::logic_error on another
  ///                    thread, or when the body has ended; std::bad_alloc: then nothing has
  ///                    changed
  /// @cost              a block and a frame for each direction; an event is a ring entry and no
  ///                    allocation
  void watch(native_descriptor descriptor, watch_interest interest, ready_function on_ready);
  /// As above, for one that is watched or paused; its callback stays.
  ///
  /// @throws  std::invalid_argument if it is not
  void watch(native_descriptor descriptor, watch_interest interest);

  /// No event of `descriptor` is told any more, also if one has come already. Before or after the
  /// library has closed it, but in one segment with that: until then the number may be another
  /// one's, and what is waited for stays open in the kernel, so that a socket's end (FIN) leaves
  /// only now. One that is not watched: nothing.
  ///
  /// @throws  std::logic_error on another thread
  void forget(native_descriptor descriptor);

  /// Calls `on_time` once, at or after `when` by the runtime's clock; soon if that has passed.
  /// Replaces the one before.
  ///
  /// A virtual clock stands still while a descriptor is watched (virtual_time.hpp), since that is
  /// I/O under way; not while it is paused.
  ///
  /// @throws  std::invalid_argument if `on_time` is empty; std::logic_error as watch();
  ///          std::bad_alloc: then nothing has changed
  /// @cost    a block, a frame and a timer
  void deadline(std::chrono::steady_clock::time_point when, time_function on_time);
  /// The deadline, if there is one, does not come.
  ///
  /// @throws  std::logic_error on another thread
  void no_deadline();

  /// The loop's thread, as a place for tasks.
  tandem::executor& executor() noexcept;

  // Implementation
  class impl;
  /// @param where  null: that of the task, if it lives on one; else where the fewest sockets are
  explicit foreign_loop(completion_thread* where);
  foreign_loop(const foreign_loop&) = delete;
  foreign_loop& operator=(const foreign_loop&) = delete;
  /// pre: end() has ended, or nothing was watched
  ~foreign_loop();

  /// The body begins: it is stopped if a callback fails.
  void begin(task_scope& body) noexcept;
  /// The body has ended. Made before it begins, since the end needs memory.
  task<void> end();
  /// After end(). @throws the first failure of a callback; the body's then is reported
  void conclude(const std::exception_ptr& of_body);

 private:
  std::unique_ptr<impl> impl_;
};

namespace detail {

template <class Body>
using foreign_loop_task = std::invoke_result_t<Body&, foreign_loop&>;

template <class T, class Body>
task<T> run_foreign_loop(completion_thread* where, Body body) {
  foreign_loop loop(where);
  task<void> ended = loop.end();
  co_await resume_on(loop.executor());
  const auto inside = [&loop, &body](task_scope& scope) {
    loop.begin(scope);
    return std::invoke(body, loop);
  };
  result<T> outcome = co_await as_result(with_scope(inside));
  co_await std::move(ended);
  loop.conclude(outcome.has_value() ? nullptr : outcome.exception());
  co_return std::move(outcome).value();
}

}  // namespace detail

/// Runs `body(loop)` on a completion thread, with a loop for a library that calls back.
///
///     co_await tandem::io::with_foreign_loop([&](foreign_loop& loop) -> tandem::task<void> {
///       library client(loop);  // calls loop.watch(fd, watch_interest::read, ...)
///       auto text = co_await tandem::from_callback<void(std::string)>(
///           [&](auto done) { client.fetch("/", std::move(done)); });
///     });
///
/// The loop ends with the body: what is watched then is forgotten, the deadline is dropped, and
/// when the call returns nothing of the library is called any more, and no callback is kept. As
/// long as the body runs the loop goes on, also after a stop.
///
/// @param body     returns a task; kept until the end. It begins on the loop's thread, and where it
///                 has left that it comes back before it ends: else a callback may come when its
///                 variables are gone. With g++ 12 a lambda that captures objects with destructors
///                 needs a name: a temporary does not compile
/// @returns        what the body returns
/// @throws         what a callback threw first; else what the body throws; std::system_error if no
///                 backend can be set up
/// @cancellation   a stop of the caller reaches the body, not the loop
/// @resumes_on     the caller's home
/// @cost           two frames, a block, and the loop's place among the sockets of its thread
template <class Body>
  requires std::invocable<std::decay_t<Body>&, foreign_loop&>
task<typename detail::foreign_loop_task<std::decay_t<Body>>::value_type> with_foreign_loop(
    Body&& body) {
  static_assert(tandem::detail::safe_in_co_await<Body&&>,
                "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
                "(auto body = [...]...; co_await with_foreign_loop(body);), or capture by "
                "reference");
  using value = typename detail::foreign_loop_task<std::decay_t<Body>>::value_type;
  return detail::run_foreign_loop<value, std::decay_t<Body>>(nullptr, std::forward<Body>(body));
}
/// As above, on that thread.
///
/// @throws  std::invalid_argument if it belongs to another runtime
template <class Body>
  requires std::invocable<std::decay_t<Body>&, foreign_loop&>
task<typename detail::foreign_loop_task<std::decay_t<Body>>::value_type> with_foreign_loop(
    completion_thread& where, Body&& body) {
  static_assert(tandem::detail::safe_in_co_await<Body&&>,
                "g++ 12 would destroy this temporary lambda's captures twice: give it a name first "
                "(auto body = [...]...; co_await with_foreign_loop(thread, body);), or capture by "
                "reference");
  using value = typename detail::foreign_loop_task<std::decay_t<Body>>::value_type;
  return detail::run_foreign_loop<value, std::decay_t<Body>>(&where, std::forward<Body>(body));
}

}  // namespace tandem::inline v0::io
