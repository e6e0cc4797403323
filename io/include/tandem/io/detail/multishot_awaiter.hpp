// multishot_awaiter.hpp: waiting for what comes on a socket without being asked each time.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstdint>
#include <tandem/detail/leaf.hpp>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io::detail {

/// Base of the awaiters of receive() and incoming().
class TANDEM_IO_API multishot_awaiter : protected tandem::detail::leaf {
 public:
  using tandem_awaiter = void;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    return start(self.promise());
  }

  /// As socket_awaiter.
  bool was_stopped() const noexcept { return cancelled(); }

  // As a branch of select() (protocol selecting).
  bool select_try() noexcept;
  bool select_arm(tandem::detail::select_place& as) noexcept;
  void select_disarm() noexcept;
  void select_reset() noexcept;

 protected:
  explicit multishot_awaiter(socket& target) noexcept;
  multishot_awaiter(multishot_awaiter&& other) noexcept = default;
  virtual ~multishot_awaiter() = default;

  /// After a wait. @throws operation_cancelled; std::system_error naming `what`
  void finish(const char* what);
  /// As above, without throwing.
  std::error_code finish_result() noexcept;

  socket* socket_;
  std::int32_t end_ = 1;  // 1: neither end nor failure

 private:
  /// For people: "tcp_stream::receive".
  virtual const char* name() const noexcept = 0;
  /// Of this kind of source. @throws std::bad_alloc
  virtual multishot* make_source() = 0;
  /// @returns  whether there is an outcome: something was taken, or end_ says how it ends
  virtual bool take() noexcept = 0;

  bool start(tandem::detail::promise_base& waiting);
  void finish_wait() noexcept;
  /// @returns  false if the awaiter has got a failure instead
  bool has_source() noexcept;
  bool fail(std::int32_t error) noexcept;
  void release_side() noexcept;
  static bool let_go(leaf& self) noexcept;
  static bool on_stop(stop_waiter& self) noexcept;
  static const tandem::detail::wait_kind waits_for_arrival;

  bool has_outcome_ = false;
  bool holds_ = false;
};

}  // namespace tandem::inline v0::io::detail
