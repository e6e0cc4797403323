// socket_awaiter.hpp: what the awaiters of operations on an open socket have in common.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <tandem/io/detail/operation.hpp>
#include <tandem/io/detail/socket.hpp>

namespace tandem::inline v0::io::detail {

/// Base: begins the operation with the socket as it is when the await begins.
class socket_awaiter {
 public:
  using tandem_awaiter = void;

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    TANDEM_ASSERT(
        socket_->source() == nullptr || !operation_.takes(),
        "read() after receive(), or accept() after incoming(): the runtime reads, or "
        "accepts, ahead on that socket, so what it has got can be had by the same call only");
    socket_->begin_operation();
    operation_.aim(socket_->thread(), socket_->descriptor());
    return operation_.start(self.promise());
  }

 protected:
  socket_awaiter(operation_kind kind, socket& target, void* buffer, std::size_t bytes) noexcept
      : socket_(&target), operation_(kind, buffer, bytes) {}

  socket* socket_;
  operation operation_;
};

/// Base of vectored transfers: the window over the buffers is in the awaiter.
class vectored_awaiter : public socket_awaiter {
 public:
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    operation_.aim_at(window_);
    return socket_awaiter::await_suspend(self);
  }

 protected:
  vectored_awaiter(operation_kind kind, socket& target, const segment_window& window) noexcept
      : socket_awaiter(kind, target, nullptr, 0), window_(window) {}

  segment_window window_;
};

}  // namespace tandem::inline v0::io::detail
