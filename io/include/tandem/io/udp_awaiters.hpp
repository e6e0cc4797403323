// udp_awaiters.hpp: the awaiters of udp_socket.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <memory>
#include <span>
#include <tandem/io/detail/datagram.hpp>
#include <tandem/io/detail/datagram_awaiter.hpp>
#include <tandem/io/detail/socket_awaiter.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/outgoing_datagram.hpp>
#include <tandem/io/received_datagram.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io {

/// Awaiter of udp_socket::receive().
class [[nodiscard]] TANDEM_IO_API receive_datagram_awaiter : public detail::socket_awaiter {
 public:
  using lossy_when_dropped = detail::lossy<detail::operation_kind::receive_batch>;

  receive_datagram_awaiter(detail::socket& from,
                           const std::unique_ptr<detail::udp_state>& state) noexcept
      : socket_awaiter(detail::operation_kind::receive_batch, from, nullptr, 0), state_(&state) {}

  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (*state_ != nullptr) {
      batch_ = &(*state_)->batch;
      operation_.aim_at(*batch_);
      operation_.try_at_home(batch_->was_full);
      if (!batch_->empty() && side_->load(std::memory_order_relaxed) == nullptr) [[likely]]
        return operation_.end_at_once(self.promise(), 1);
    }
    return socket_awaiter::await_suspend(self);
  }
  received_datagram await_resume();
  result<received_datagram> await_resume_result();

 private:
  // The socket's: it may be closed between the call and the await.
  const std::unique_ptr<detail::udp_state>* state_;
  detail::datagram_batch* batch_ = nullptr;  // from the await on: the socket may move meanwhile
};

/// What udp_socket::receive_into() yields.
class received_into {
 public:
  received_into(std::size_t size, const endpoint& from, bool cut) noexcept
      : bytes(size), sender(from), is_cut(cut) {}

  std::size_t bytes;  ///< in the buffer; 0: it was empty, which is no end of anything
  endpoint sender;
  bool is_cut;  ///< it was longer than the buffer, and its rest is lost
};

/// Awaiter of udp_socket::receive_into().
class [[nodiscard]] TANDEM_IO_API receive_into_awaiter : public detail::datagram_awaiter {
 public:
  using lossy_when_dropped = detail::lossy<detail::operation_kind::receive_from>;

  receive_into_awaiter(detail::socket& from, std::span<std::byte> buffer) noexcept
      : datagram_awaiter(detail::operation_kind::receive_from, from,
                         {buffer.data(), buffer.size()}) {}

  received_into await_resume();
  result<received_into> await_resume_result();
};

/// Awaiter of udp_socket::send() and send_to().
class [[nodiscard]] TANDEM_IO_API send_datagram_awaiter : public detail::datagram_awaiter {
 public:
  using lossy_when_dropped = detail::lossy<detail::operation_kind::send_to>;

  send_datagram_awaiter(detail::socket& by, const detail::datagram& what) noexcept
      : datagram_awaiter(detail::operation_kind::send_to, by, what) {
    operation_.try_at_home();
  }

  void await_resume();
  result<void> await_resume_result();
};

/// Awaiter of udp_socket::send_train() and send_train_to().
class [[nodiscard]] TANDEM_IO_API send_train_awaiter : public detail::socket_awaiter {
 public:
  using lossy_when_dropped = detail::lossy<detail::operation_kind::send_train>;

  send_train_awaiter(detail::socket& by, const std::unique_ptr<detail::udp_state>& state,
                     const detail::datagram_train& what) noexcept
      : socket_awaiter(detail::operation_kind::send_train, by, nullptr, 0),
        state_(&state),
        train_(what) {
    operation_.try_at_home();
  }

  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (*state_ != nullptr) train_.is_refused = &(*state_)->refuses_trains;
    operation_.aim_at(train_);
    return socket_awaiter::await_suspend(self);
  }
  void await_resume();
  result<void> await_resume_result();

 private:
  const std::unique_ptr<detail::udp_state>* state_;  // as that of a receive
  detail::datagram_train train_;
};

/// Awaiter of udp_socket::send_many().
class [[nodiscard]] TANDEM_IO_API send_many_awaiter : public detail::socket_awaiter {
 public:
  /// As socket_awaiter; but if some were sent await_resume() says how many.
  bool was_stopped() const noexcept { return operation_.was_stopped() && list_.done == 0; }
  using lossy_when_dropped = detail::lossy<detail::operation_kind::send_datagrams>;

  send_many_awaiter(detail::socket& by, std::span<const outgoing_datagram> all) noexcept
      : socket_awaiter(detail::operation_kind::send_datagrams, by, nullptr, 0), list_(all) {
    operation_.try_at_home();
  }

  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    operation_.aim_at(list_);
    return socket_awaiter::await_suspend(self);
  }
  /// @returns  how many were sent: fewer than given only after a failure, which the next call tells
  std::size_t await_resume();
  result<std::size_t> await_resume_result();

 private:
  detail::datagram_list list_;
};

}  // namespace tandem::inline v0::io
