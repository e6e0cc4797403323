// datagram_awaiter.hpp: base of what takes or gives a single datagram.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <tandem/io/detail/datagram.hpp>
#include <tandem/io/detail/socket_awaiter.hpp>

namespace tandem::inline v0::io::detail {

/// The datagram is in the awaiter.
class datagram_awaiter : public socket_awaiter {
 public:
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    operation_.aim_at(datagram_);
    return socket_awaiter::await_suspend(self);
  }

 protected:
  datagram_awaiter(operation_kind kind, socket& target, const datagram& what) noexcept
      : socket_awaiter(kind, target, nullptr, 0), datagram_(what) {}

  datagram datagram_;
};

}  // namespace tandem::inline v0::io::detail
