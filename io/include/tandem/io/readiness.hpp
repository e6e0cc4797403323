// readiness.hpp: waits until a descriptor can be read or written, for libraries that do the I/O themselves.
// SPDX-License-Identifier: MIT
//
// The bridge to third-party libraries with a descriptor of their own (libpq, curl, c-ares, ...):
// tandem waits, the library makes its non-blocking calls.
#pragma once

#include <coroutine>
#include <tandem/io/detail/operation.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io {

/// Awaiter of readable() and writable().
class [[nodiscard]] TANDEM_IO_API readiness_awaiter {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped =
      detail::lossy<detail::operation_kind::wait_readable, detail::operation_kind::wait_writable>;

  readiness_awaiter(detail::operation_kind kind, native_descriptor descriptor) noexcept
      : descriptor_(descriptor), operation_(kind, nullptr, 0) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    return start(self.promise());
  }
  void await_resume();
  result<void> await_resume_result();
  /// As socket_awaiter.
  bool was_stopped() const noexcept { return operation_.was_stopped(); }

  // As a branch of select() (protocol selecting).
  bool select_try() noexcept;
  bool select_arm(tandem::detail::select_place& as) noexcept;
  void select_disarm() const noexcept {}
  void select_reset() noexcept;

 private:
  bool start(tandem::detail::promise_base& waiting);

  native_descriptor descriptor_;
  detail::operation operation_;
};

/// Waits until reading from `descriptor` would not block: there is data, the end, or an error to be
/// read.
///
///     while (::read(timer, &expired, sizeof expired) < 0 && errno == EAGAIN)
///       co_await tandem::io::readable(timer);
///
/// @param descriptor  a socket, pipe, eventfd, timerfd, terminal, ...; stays the caller's. Open
///                    until the await returns: the kernel goes on waiting for a descriptor that was
///                    closed
/// @throws            std::system_error: bad_file_descriptor; operation_cancelled; std::logic_error
///                    outside any task
/// @cancellation      ends the wait; nothing is lost, since nothing was read
/// @thread_safety     any number of tasks may wait for one descriptor. All of them go on; so each
///                    has to try without blocking
/// @resumes_on        the caller's home
/// @cost              on a worker a poll() first; else one ring entry, no allocation
inline readiness_awaiter readable(native_descriptor descriptor) noexcept {
  return readiness_awaiter(detail::operation_kind::wait_readable, descriptor);
}

/// As above, until writing would not block, or would fail.
inline readiness_awaiter writable(native_descriptor descriptor) noexcept {
  return readiness_awaiter(detail::operation_kind::wait_writable, descriptor);
}

}  // namespace tandem::inline v0::io
