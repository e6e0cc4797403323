// stopped_call.hpp: a call that waits, on a thread of blocking(), and that a stop of its task ends.
// SPDX-License-Identifier: MIT
//
// Who is about to wait says so, then looks for a stop; who stops says so, then cancels as long as
// somebody says that he waits. So one of the two sees the other. The stopper comes when it holds no
// locks (stopping/listener), and the thread does not leave before that is over. Protocol
// shared/stop: io/src/terminal/README.md.
#pragma once

#include <atomic>
#include <tandem/stop.hpp>

#include "platform/windows/owned_handle.hpp"
#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

/// For the calls of one thread, within one call of blocking().
class stopped_call final : tandem::stop_listener {
 public:
  stopped_call() noexcept;
  stopped_call(stopped_call&&) = delete;
  ~stopped_call();

  /// False if the system has no handle to spare: then nothing may wait.
  bool is_set_up() const noexcept { return told_.is_open() && thread_.is_open(); }
  bool is_stopped() const noexcept { return is_stopped_.load(std::memory_order_seq_cst); }
  /// Waits until the handle is signalled, or a stop comes.
  void wait_for(HANDLE handle) const noexcept;
  /// Makes a call that waits in the kernel, once there is no stop yet.
  ///
  /// @param call  answers with TRUE or FALSE
  /// @returns     what it answers; FALSE, with ERROR_OPERATION_ABORTED, if a stop came first
  template <class Call>
  BOOL make(Call call) noexcept {
    is_inside_.store(true, std::memory_order_seq_cst);
    BOOL answer = FALSE;
    DWORD code = ERROR_OPERATION_ABORTED;
    if (!is_stopped()) {
      ::SetLastError(0);
      answer = call();
      code = ::GetLastError();
    }
    is_inside_.store(false, std::memory_order_seq_cst);
    ::SetLastError(code);
    return answer;
  }

 private:
  static bool on_stop(tandem::stop_waiter& waiter) noexcept;
  static const tandem::detail::wait_kind listens_for_call;
  static void stopper_left(tandem::stop_listener& waiter) noexcept;

  tandem::stop_state* const state_;  // null: of no task
  owned_handle told_;                // signalled by a stop
  owned_handle left_;                // signalled by the stopper, if the thread waits for its end
  owned_handle thread_;              // this one
  bool is_listening_ = false;
  std::atomic<bool> is_stopped_{false};  // by the stopper
  std::atomic<bool> is_inside_{false};   // by the thread: its call may be cancelled
};

}  // namespace tandem::inline v0::io::platform
