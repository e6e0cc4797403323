// serve.cpp: accepting, pausing, draining. Protocol serving: io/src/stream/README.md.
// SPDX-License-Identifier: MIT
#include <tandem/io/serve.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <new>
#include <stdexcept>
#include <string>
#include <tandem/as_result.hpp>
#include <tandem/clock.hpp>
#include <tandem/detail/failure_text.hpp>
#include <tandem/detail/report_suppressed.hpp>
#include <tandem/detail/wait_list.hpp>
#include <tandem/resume_on.hpp>
#include <tandem/runtime.hpp>
#include <tandem/semaphore.hpp>
#include <tandem/shielded.hpp>
#include <tandem/sleep.hpp>
#include <tandem/task_scope.hpp>
#include <tandem/timeout.hpp>
#include <tandem/with_stop.hpp>
#include <tandem/yield.hpp>

#include "growth/line_limit.hpp"

namespace tandem::inline v0::io {

detail::connection_source::~connection_source() = default;

namespace {

using detail::connection_source;

/// What no pause would change: the listener itself is wrong. (not_recoverable: a listener of
/// somebody's own has thrown what has no code.)
bool is_for_good(const std::error_code& error) noexcept {
  return error == std::errc::bad_file_descriptor || error == std::errc::invalid_argument ||
         error == std::errc::not_a_socket || error == std::errc::operation_not_supported ||
         error == std::errc::state_not_recoverable;
}

std::error_code accept_error(const result<void>& accepted) noexcept {
  if (const std::error_code error = accepted.error(); error != std::errc::state_not_recoverable) {
    return error;
  }
  try {
    std::rethrow_exception(accepted.exception());
  } catch (const std::bad_alloc&) {
    return std::make_error_code(std::errc::not_enough_memory);
  } catch (...) {
    return std::make_error_code(std::errc::state_not_recoverable);
  }
}

/// What is done where serve_options has no hook: a line, at most one a second.
class lines_about {
 public:
  /// @param subject  up to the name of the server
  lines_about(const char* subject, const std::source_location& where) noexcept
      : subject_(subject), where_(where) {}
  lines_about(const lines_about&) = delete;
  lines_about& operator=(const lines_about&) = delete;
  /// The last ones of a burst, after which no line came.
  ~lines_about() {
    if (const std::uint64_t more = limit_.take_left_out()) {
      std::fprintf(stderr, "tandem::io: %s at %s:%u failed %llu more times\n", subject_,
                   where_.file_name(), static_cast<unsigned>(where_.line()),
                   static_cast<unsigned long long>(more));
    }
  }

  void write(std::string text) {
    if (!limit_.is_due(tandem::now())) return;
    if (const std::uint64_t more = limit_.take_left_out()) {
      text += " (and " + std::to_string(more) + " more since the last such line)";
    }
    std::fprintf(stderr, "tandem::io: %s at %s:%u failed: %s\n", subject_, where_.file_name(),
                 static_cast<unsigned>(where_.line()), text.c_str());
  }

 private:
  const char* const subject_;
  const std::source_location where_;
  line_limit limit_;
};

/// One serve(); in its frame.
class server {
 public:
  server(std::vector<std::unique_ptr<connection_source>>&& sources,
         std::shared_ptr<const void>&& handlers, serve_settings&& options,
         const std::source_location& where)
      : handlers_(std::move(handlers)),
        sources_(std::move(sources)),
        options_(std::move(options)),
        where_(where),
        failed_connections_("a connection of the server", where),
        failed_accepts_("accepting by the server", where),
        pool_(current_completion_pool("serve")),
        workers_(tandem::detail::workers_of(tandem::detail::current_runtime("serve"))),
        places_(std::min(options_.max_connections, semaphore::max)),
        places_over_limit_(std::min(options_.max_over_limit, semaphore::max)) {
    if (sources_.empty()) throw std::invalid_argument("serve was given no listener");
  }

  /// serving/scope. Behind the closed border, with the token instead of the caller's stops.
  task<void> run(std::stop_token stop) { co_await shielded(accept_and_drain(std::move(stop))); }

 private:
  task<void> accept_and_drain(std::stop_token stop) {
    std::exception_ptr failure;
    const auto body = [this, &stop, &failure](task_scope& connections) {
      return accept_then_join(connections, stop, failure);
    };
    co_await with_scope(body);
    if (failure != nullptr) std::rethrow_exception(std::move(failure));
  }

  task<void> accept_then_join(task_scope& connections, const std::stop_token& stop,
                              std::exception_ptr& failure) {
    task<void> joined = join(connections);  // serving/join needs no memory
    {
      const auto accepted = co_await as_result(with_stop(stop, accept_all(connections)));
      if (!accepted && !accepted.is_cancelled()) failure = accepted.exception();
    }
    sources_.clear();  // serving/drain: from now on peers are refused
    draining_.request_stop();
    co_await with_timeout(options_.drain_timeout, std::move(joined));  // serving/join
  }

  static task<void> join(task_scope& connections) { co_await connections.join(); }

  task<void> accept_all(task_scope& connections) {
    if (sources_.size() == 1) co_return co_await accept_from(*sources_.front(), connections);
    const auto body = [this, &connections](task_scope& loops) -> task<void> {
      for (const auto& each : sources_) loops.spawn(accept_from(*each, connections));
      co_return;
    };
    co_await with_scope(body);
  }

  /// serving/place. Until it is stopped.
  task<void> accept_from(connection_source& source, task_scope& connections) {
    if (executor* const home = source.home()) co_await resume_on(*home);
    std::chrono::milliseconds pause = options_.first_pause;
    const bool waits_for_place = options_.max_connections != 0 && !source.has_over_limit();
    const bool is_only_one = sources_.size() == 1;
    while (true) {
      semaphore_permit place;
      if (waits_for_place && is_only_one) place = co_await places_.scoped();
      auto accepted = co_await as_result(source.accept());
      if (accepted) {
        // A place that a silent listener held would be missing at the others.
        if (waits_for_place && !is_only_one) {
          // serving/drain: also after a stop, if there is one.
          if (places_.try_acquire()) {
            place = semaphore_permit(places_, 1);
          } else {
            place = co_await places_.scoped();
          }
        }
        pause = options_.first_pause;
        admit(source, std::move(place), connections);
        // A listener that never waits keeps nobody from the thread, and hears of its stop.
        if (!tandem::detail::charge_ready_await()) co_await yield();
        continue;
      }
      const std::error_code error = accept_error(accepted);
      // What a listener of one's own has stopped itself (a handshake that took too long) is a
      // failure like any other.
      const bool is_stopped = accepted.is_cancelled() && stop_requested();
      if (is_stopped || is_for_good(error)) accepted.value();
      tell_accept_error(error, pause);
      co_await sleep_for(pause);
      pause = std::min(pause * 2, options_.longest_pause);
    }
  }

  /// serving/over_limit. Nothing waits here: whoever finds no place of either kind is closed.
  void admit(connection_source& source, semaphore_permit place, task_scope& connections) {
    const bool needs_place = options_.max_connections != 0 && !place;
    if (!needs_place || places_.try_acquire()) {
      if (needs_place) place = semaphore_permit(places_, 1);
      count(&serve_counts::served);
      start(source, std::move(place), false, connections);
    } else if (places_over_limit_.try_acquire()) {
      count(&serve_counts::over_limit);
      start(source, semaphore_permit(places_over_limit_, 1), true, connections);
    } else {
      count(&serve_counts::closed);
      source.drop();
    }
  }

  void count(std::atomic<std::uint64_t> serve_counts::* which) noexcept {
    if (options_.counts == nullptr) return;
    (options_.counts->*which).fetch_add(1, std::memory_order_relaxed);  // a count: orders nothing
  }

  void start(connection_source& source, semaphore_permit place, bool is_over_limit,
             task_scope& connections) {
    try {
      executor& home = home_of(source);
      task<void> handler = is_over_limit ? in_time(source.handle_over_limit())
                                         : source.handle(draining_.get_token());
      connections.spawn(home, run_handler(std::move(handler), std::move(place)), where_);
    } catch (...) {
      source.drop();  // the connection is closed
      tell_handler_error(std::current_exception());
    }
  }

  executor& home_of(connection_source& source) const {
    if (options_.home == handler_home::workers) return workers_;
    if (options_.home == handler_home::connection_thread) {
      if (executor* const own = source.connection_home()) return *own;
    }
    return pool_.executor();
  }

  /// serving/failure. The place is given back when the handler's frame, and with it the stream, is
  /// gone.
  task<void> run_handler(task<void> handler, semaphore_permit /*place*/) {
    std::exception_ptr failure;
    try {
      co_await std::move(handler);
    } catch (...) {
      failure = std::current_exception();
    }
    if (failure == nullptr || is_stop(failure)) co_return;
    tell_handler_error(std::move(failure));
  }

  /// serving/over_limit. Its end by this limit is none of its failures; by one of its own it is.
  task<void> in_time(task<void> handler) {
    const auto limit = tandem::detail::deadline_after(options_.over_limit_timeout);
    const auto ended = co_await as_result(with_deadline(limit, std::move(handler)));
    if (ended || (ended.is_cancelled() && tandem::now() >= limit)) co_return;
    std::rethrow_exception(ended.exception());
  }

  /// Of the connection, or of what its handler stops when the drain begins: no failure.
  bool is_stop(const std::exception_ptr& failure) const noexcept {
    return (stop_requested() || draining_.stop_requested()) &&
           tandem::detail::is_cancellation(failure);
  }

  void tell_accept_error(const std::error_code& error, std::chrono::milliseconds pause) noexcept {
    try {
      if (options_.on_accept_error) return options_.on_accept_error(error, pause);
      failed_accepts_.write(error.message() + "; it tries again in " +
                            std::to_string(pause.count()) + " ms");
    } catch (...) {
      report(std::current_exception());
    }
  }
  void tell_handler_error(std::exception_ptr failure) noexcept {
    try {
      if (options_.on_handler_error) return options_.on_handler_error(std::move(failure));
      failed_connections_.write(tandem::detail::text_of(failure));
    } catch (...) {
      report(std::current_exception());
    }
  }
  static void report(const std::exception_ptr& failure) noexcept {
    tandem::detail::report_suppressed(*tandem::detail::this_thread().env, failure);
  }

  const std::shared_ptr<const void> handlers_;  // the sources' and their tasks'
  std::vector<std::unique_ptr<connection_source>> sources_;
  const serve_settings options_;
  const std::source_location where_;
  lines_about failed_connections_;
  lines_about failed_accepts_;
  completion_pool& pool_;
  executor& workers_;
  semaphore places_;             // of max_connections
  semaphore places_over_limit_;  // of max_over_limit
  std::stop_source draining_;
};

}  // namespace

task<void> detail::serve_connections(std::vector<std::unique_ptr<connection_source>> sources,
                                     std::shared_ptr<const void> handlers, serve_settings settings,
                                     std::source_location where) {
  server all(std::move(sources), std::move(handlers), std::move(settings), where);
  const auto body = [&all](std::stop_token stop) { return all.run(std::move(stop)); };
  co_await with_stop_token(body);
}

}  // namespace tandem::inline v0::io
