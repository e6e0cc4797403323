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
    // A write does not look: beside it a first receive() makes the source.
    TANDEM_ASSERT(
        !operation_.takes() || socket_->source() == nullptr,
        "read() after receive(), or accept() after incoming(): the runtime reads, or "
        "accepts, ahead on that socket, so what it has got can be had by the same call only");
    operation_.know(socket_->record());
    if (side_->load(std::memory_order_relaxed) != nullptr) [[unlikely]] {
      operation_.complete(socket_->refuse_second(side_, operation_.name(), self.promise()));
      return false;
    }
    side_->store(&operation_, std::memory_order_relaxed);
    operation_.aim(socket_->thread(), socket_->descriptor());
    return operation_.start(self.promise());
  }

  /// For pass_on.hpp: then await_resume_result() is the end of it.
  bool was_stopped() const noexcept { return operation_.was_stopped(); }

 protected:
  socket_awaiter(operation_kind kind, socket& target, void* buffer, std::size_t bytes) noexcept
      : socket_(&target), side_(&target.user(row_of(kind).side)), operation_(kind, buffer, bytes) {}

  /// First thing of await_resume.
  void end_operation() noexcept { side_->store(nullptr, std::memory_order_relaxed); }

  socket* socket_;
  socket::side_user* side_;
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
