// unix_message.hpp: what comes by a Unix socket beside bytes, and the awaiters of such messages.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <optional>
#include <span>
#include <tandem/io/detail/local_message.hpp>
#include <tandem/io/detail/socket_awaiter.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/owned_descriptor.hpp>
#include <tandem/io/peer_credentials.hpp>
#include <tandem/io/unix_endpoint.hpp>
#include <tandem/result.hpp>
#include <vector>

namespace tandem::inline v0::io {

/// What a receive of a Unix socket yields.
class received_message {
 public:
  received_message() = default;

  std::size_t bytes = 0;  ///< in the buffer; of a stream, 0 is its end
  /// What the peer has sent along; close-on-exec. A stream's come with the first of their bytes, and
  /// no read goes beyond the bytes of one send that had some.
  std::vector<owned_descriptor> descriptors;
  /// So many more came than were asked for: they are closed.
  std::size_t surplus = 0;
  /// Some were sent that this process could not have (too_many_files_open): the system has dropped
  /// them.
  bool lacks_descriptors = false;
  bool is_cut = false;   ///< a message was longer than the buffer, and its rest is lost
  unix_endpoint sender;  ///< of a datagram; unnamed if its socket has no name
  /// If they were asked for (unix_datagram_options::tells_credentials).
  std::optional<peer_credentials> credentials;
};

/// Awaiter of receive() of unix_datagram and unix_seqpacket, and of unix_stream::read_with().
class [[nodiscard]] TANDEM_IO_API receive_message_awaiter : public detail::socket_awaiter {
 public:
  using lossy_when_dropped = detail::lossy<detail::operation_kind::receive_message>;

  /// @param call  of the user's, for the text of a failure
  receive_message_awaiter(const char* call, detail::socket& from, std::span<std::byte> buffer,
                          std::size_t most_descriptors) noexcept
      : socket_awaiter(detail::operation_kind::receive_message, from, nullptr, 0),
        call_(call),
        message_(buffer, most_descriptors) {}

  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    operation_.aim_at(message_);
    return socket_awaiter::await_suspend(self);
  }
  received_message await_resume();
  result<received_message> await_resume_result();

 private:
  received_message take();

  const char* call_;
  detail::local_message message_;
};

/// Awaiter of send() of unix_datagram and unix_seqpacket, and of unix_stream::write_with().
class [[nodiscard]] TANDEM_IO_API send_message_awaiter : public detail::socket_awaiter {
 public:
  using lossy_when_dropped = detail::lossy<detail::operation_kind::send_message>;

  /// @param call  of the user's, for the text of a failure
  send_message_awaiter(const char* call, detail::socket& by, std::span<const std::byte> bytes,
                       std::span<const native_descriptor> descriptors) noexcept
      : socket_awaiter(detail::operation_kind::send_message, by, nullptr, 0),
        call_(call),
        message_(bytes.data(), bytes.size(), descriptors) {
    operation_.try_at_home();
  }
  send_message_awaiter(const char* call, detail::socket& by, std::span<const std::byte> bytes,
                       native_descriptor descriptor) noexcept
      : socket_awaiter(detail::operation_kind::send_message, by, nullptr, 0),
        call_(call),
        message_(bytes.data(), bytes.size(), descriptor) {
    operation_.try_at_home();
  }

  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    operation_.aim_at(message_);
    return socket_awaiter::await_suspend(self);
  }
  std::size_t await_resume();
  result<std::size_t> await_resume_result();

 private:
  const char* call_;
  detail::local_message message_;
};

}  // namespace tandem::inline v0::io
