// errors.hpp: the exceptions of the runtime itself.
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <tandem/config.hpp>
#include <tandem/stop.hpp>

namespace tandem::inline v0 {

/// Of the codes of stops, whose values are those of stop_reason.
TANDEM_API const std::error_category& stop_category() noexcept;
/// A code that compares equal to errc::operation_canceled, and for stop_reason::deadline to
/// errc::timed_out, too.
///
///     if (got.error() == std::errc::timed_out) co_return "too slow";  // a limit, or a peer's silence
///
/// @returns  for stop_reason::none std::errc::operation_canceled itself: stopped, and nobody says why
TANDEM_API std::error_code make_error_code(stop_reason reason) noexcept;

/// What only tandem knows; of tandem_category().
enum class errc {
  callback_dropped = 1,   ///< an awaited callback was destroyed before anybody called it
  callback_overflow = 2,  ///< a callback_stream was full, and its policy is to fail
  channel_closed = 3,     ///< a channel, or an end of one, takes or gives nothing any more
  sender_dropped = 4,     ///< the sender of a oneshot was destroyed before it had sent
};
TANDEM_API const std::error_category& tandem_category() noexcept;
TANDEM_API std::error_code make_error_code(errc code) noexcept;

/// The awaited operation was stopped before it had a result. Its code is make_error_code(reason()).
///
/// A copy of the std::system_error in it has the code, and no text.
///
/// @cost  no text is built, and none is kept
class TANDEM_API operation_cancelled : public std::system_error {
 public:
  explicit operation_cancelled(stop_reason reason);
  operation_cancelled(const operation_cancelled&) = default;
  operation_cancelled& operator=(const operation_cancelled&) = default;
  ~operation_cancelled() override;

  /// "stopped: " and why.
  const char* what() const noexcept override;
  stop_reason reason() const noexcept { return reason_; }

 private:
  stop_reason reason_;
};

namespace detail {

/// Whether it is an operation_cancelled. Throws nothing on the way if it is exactly that.
TANDEM_API bool is_cancellation(const std::exception_ptr& failure) noexcept;
/// Which stop it tells of; none if it does not say; null if it is no cancellation.
TANDEM_API std::optional<stop_reason> stop_reason_of(const std::error_code& error) noexcept;
TANDEM_API std::optional<stop_reason> stop_reason_of(const std::exception_ptr& failure) noexcept;
/// The code of a std::system_error; errc::state_not_recoverable for all else.
TANDEM_API std::error_code code_of(const std::exception_ptr& failure) noexcept;
/// An operation_cancelled that nobody has thrown.
TANDEM_API std::exception_ptr cancellation(stop_reason reason) noexcept;

}  // namespace detail

/// A blocking wait was tried on a thread of the runtime, where it could wait for itself.
class TANDEM_API would_deadlock : public std::logic_error {
 public:
  explicit would_deadlock(const char* what_was_tried);
  would_deadlock(const would_deadlock&) = default;
  would_deadlock& operator=(const would_deadlock&) = default;
  ~would_deadlock() override;
};

/// Work was handed to a runtime that has been shut down.
class TANDEM_API runtime_stopped : public std::runtime_error {
 public:
  explicit runtime_stopped(const char* what_was_tried);
  runtime_stopped(const runtime_stopped&) = default;
  runtime_stopped& operator=(const runtime_stopped&) = default;
  ~runtime_stopped() override;
};

/// A task was spawned at an executor that has been closed: a fair_queue, a single_thread_executor,
/// or what stands on one.
class TANDEM_API executor_closed : public std::runtime_error {
 public:
  explicit executor_closed(std::string_view executor_name);
  executor_closed(const executor_closed&) = default;
  executor_closed& operator=(const executor_closed&) = default;
  ~executor_closed() override;
};

/// A runtime was used in a process that fork() made while the runtime lived: its threads exist in
/// the parent only. The child makes a runtime of its own, or calls exec.
class TANDEM_API forked_runtime : public std::runtime_error {
 public:
  forked_runtime(const char* what_was_tried, int owner_process);
  forked_runtime(const forked_runtime&) = default;
  forked_runtime& operator=(const forked_runtime&) = default;
  ~forked_runtime() override;

  /// Process id of the runtime's owner.
  int owner_process() const noexcept { return owner_process_; }

 private:
  int owner_process_;
};

}  // namespace tandem::inline v0

template <>
struct std::is_error_code_enum<tandem::errc> : std::true_type {};
