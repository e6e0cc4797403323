// accept_base.hpp: the wait for a connection, by itself or as a branch of select().
// SPDX-License-Identifier: MIT
//
// A connection that a branch has got, and that was not taken, is kept by the listener: the next
// accept() has it.
#pragma once

#include <coroutine>
#include <tandem/io/detail/socket_awaiter.hpp>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io::detail {

class TANDEM_IO_API accept_base : public socket_awaiter {
 public:
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (take_kept()) return false;
    return socket_awaiter::await_suspend(self);
  }

  // As a branch of select() (protocol selecting).
  bool select_try() noexcept { return take_kept(); }
  bool select_due() noexcept;
  bool select_arm(tandem::detail::select_place& as) noexcept;
  void select_disarm() noexcept;
  void select_reset() noexcept;

 protected:
  explicit accept_base(socket& listener) noexcept
      : socket_awaiter(operation_kind::accept, listener, nullptr, 0) {}

 private:
  bool take_kept() noexcept;
};

}  // namespace tandem::inline v0::io::detail
