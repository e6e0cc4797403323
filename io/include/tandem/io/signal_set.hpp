// signal_set.hpp: waits for signals of the process.
// SPDX-License-Identifier: MIT
//
// Threads of a runtime block all asynchronous signals, so they arrive at other threads (main, in
// most programs), where a handler passes the number on through a pipe that the completion pool
// reads.
#pragma once

#include <coroutine>
#include <initializer_list>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/detail/socket_awaiter.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <type_traits>
#include <vector>

namespace tandem::inline v0::io {

/// Awaiter of signal_set::wait().
class [[nodiscard]] TANDEM_IO_API signal_awaiter : public detail::socket_awaiter {
 public:
  using lossy_when_dropped = detail::lossy<detail::operation_kind::read_own>;

  explicit signal_awaiter(detail::socket& pipe) noexcept;
  signal_awaiter(signal_awaiter&& other) noexcept;

  int await_resume();
  result<int> await_resume_result();

 private:
  unsigned char number_ = 0;
};

/// Catches the given signals while it lives; what was set up before comes back at its end.
///
///     tandem::io::signal_set stop({SIGINT, SIGTERM});
///     int which = co_await stop.wait();
///
/// At least one thread outside the runtime must not block them. A signal belongs to one set at a
/// time.
///
/// @thread_safety  wait() by one task at a time
class TANDEM_IO_API signal_set {
 public:
  /// @throws  std::logic_error outside any task, or if another set has the signal;
  ///          std::system_error (SIGKILL, SIGSTOP, no signal)
  signal_set(std::initializer_list<int> signals);
  signal_set(const signal_set&) = delete;
  signal_set& operator=(const signal_set&) = delete;
  ~signal_set();

  /// @returns        the number of a signal that has arrived since the set was made
  /// @cancellation   ends the wait; an arrived signal is kept for the next wait
  signal_awaiter wait() noexcept { return signal_awaiter(pipe_); }

 private:
  void give_back() noexcept;

  std::vector<int> signals_;
  detail::socket pipe_;  // read end
  native_descriptor write_end_ = no_descriptor;
};

}  // namespace tandem::inline v0::io
