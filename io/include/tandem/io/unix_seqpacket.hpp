// unix_seqpacket.hpp: messages that stay whole, to and from a process of this machine.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/owned_descriptor.hpp>
#include <tandem/io/peer_credentials.hpp>
#include <tandem/io/socket_stream.hpp>
#include <tandem/io/unix_endpoint.hpp>
#include <tandem/io/unix_message.hpp>
#include <tandem/task.hpp>
#include <utility>

namespace tandem::inline v0::io {

/// Base of unix_seqpacket and unix_datagram: whole messages by a Unix socket.
///
/// A second receive, or send, while one is under way is a mistake, as of a socket_stream.
///
/// @thread_safety  one receive and one send at a time, from any task of its runtime; everything else
///                 by its owner
class TANDEM_IO_API unix_message_socket {
 public:
  /// Waits for a message, also an empty one.
  ///
  /// @param buffer            stays the caller's, alive until the await returns (also after a stop);
  ///                          of a message that is longer the rest is lost: then is_cut is true
  /// @param most_descriptors  more counts as 64; what comes beyond is closed, and counted
  /// @returns                 of a seqpacket that has ended an empty message, again and again
  /// @throws                  std::system_error: connection_reset, ...; operation_cancelled;
  ///                          std::bad_alloc: then the descriptors are closed
  /// @cancellation            may lose the race and return a message; none is ever lost
  /// @thread_safety           one receive at a time
  /// @resumes_on              the caller's home
  /// @cost                    one system call, and a ring entry where it has to wait; a vector if
  ///                          there are descriptors
  receive_message_awaiter receive(std::span<std::byte> buffer,
                                  std::size_t most_descriptors = 16) noexcept {
    return {receive_name_, socket_, buffer, most_descriptors};
  }
  /// Sends one message to whomever the socket is connected to, all of it or none, and descriptors
  /// with it: the peer gets numbers of its own for what they refer to. Ours stay open, and ours.
  /// Waits as long as the peer's queue is full.
  ///
  /// @param bytes        alive until the await returns (also after a stop); may be none, without
  ///                     descriptors
  /// @param descriptors  at most 253; the list lives as long as the bytes
  /// @returns            how many bytes that were: all
  /// @throws             std::system_error: message_size, broken_pipe, not_connected,
  ///                     connection_refused, invalid_argument (too many descriptors), ...;
  ///                     operation_cancelled
  /// @cancellation       may lose the race and have sent it
  /// @thread_safety      one send at a time, beside a receive
  /// @resumes_on         the caller's home
  send_message_awaiter send(std::span<const std::byte> bytes,
                            std::span<const native_descriptor> descriptors = {}) noexcept {
    return {send_name_, socket_, bytes, descriptors};
  }
  /// As above, with one descriptor.
  template <detail::one_descriptor One>
  send_message_awaiter send(std::span<const std::byte> bytes, One descriptor) noexcept {
    return {send_name_, socket_, bytes, descriptor};
  }

  /// Ends one direction, or both, as socket_stream::shutdown() does.
  void shutdown(shutdown_kind kind = shutdown_kind::write);
  bool is_open() const noexcept { return socket_.is_open(); }
  /// The descriptor, for calls that are not offered here: it stays ours.
  /// @returns  no_descriptor if there is none
  native_descriptor native_handle() const noexcept { return socket_.descriptor(); }
  /// @throws  std::system_error
  unix_endpoint local_endpoint() const;
  unix_endpoint remote_endpoint() const;
  /// The executor of the completion thread that serves this socket: the cheapest home for its task.
  /// pre: it was opened.
  tandem::executor& thread_executor() noexcept {
    TANDEM_ASSERT(socket_.thread() != nullptr,
                  "thread_executor() of a socket that was never opened");
    return socket_.thread()->executor();
  }

 protected:
  /// @param receive_name, send_name  for the texts of failures
  unix_message_socket(const char* receive_name, const char* send_name,
                      detail::socket&& socket) noexcept
      : socket_(std::move(socket)), receive_name_(receive_name), send_name_(send_name) {}
  unix_message_socket(unix_message_socket&&) noexcept = default;
  unix_message_socket& operator=(unix_message_socket&&) noexcept = default;
  ~unix_message_socket() = default;

  detail::socket socket_;

 private:
  const char* receive_name_;
  const char* send_name_;
};

/// A connected Unix socket of the seqpacket kind: in order, nothing lost, and messages stay whole.
///
///     auto [one, other] = tandem::io::unix_seqpacket::pair();
///     co_await one.send(tandem::io::bytes_of("hello"));
///     auto got = co_await other.receive(buffer);
///
/// That the peer has closed cannot be told from an empty message, so those are better not sent. Not
/// on Windows nor macOS: errc::not_supported, protocol_not_supported.
class TANDEM_IO_API unix_seqpacket : public unix_message_socket {
 public:
  /// Not open: every call fails with errc::bad_file_descriptor.
  unix_seqpacket() noexcept : unix_seqpacket(detail::socket()) {}

  /// These as those of unix_stream.
  static task<unix_seqpacket> connect(unix_endpoint peer);
  static std::pair<unix_seqpacket, unix_seqpacket> pair();
  static std::pair<unix_seqpacket, unix_seqpacket> pair(completion_pool& pool);
  static unix_seqpacket from_native(native_descriptor descriptor);
  static unix_seqpacket from_native(completion_pool& pool, native_descriptor descriptor);
  /// As above, of one who owns it: closed with the owner if it is refused.
  static unix_seqpacket from_native(owned_descriptor&& descriptor) {
    return detail::from_owned<unix_seqpacket>(std::move(descriptor));
  }
  static unix_seqpacket from_native(completion_pool& pool, owned_descriptor&& descriptor) {
    return detail::from_owned<unix_seqpacket>(pool, std::move(descriptor));
  }

  /// As unix_stream::credentials().
  peer_credentials credentials() const;
  /// Gives the descriptor back; harmless if done before. No operation may be in flight.
  void close() noexcept { socket_.close(); }
  /// Gives the descriptor up without closing it: it is the caller's now, and it is blocking.
  /// @returns  no_descriptor if the socket is not open
  [[nodiscard]] native_descriptor release() noexcept { return socket_.release(); }

  // Implementation
  explicit unix_seqpacket(detail::socket&& socket) noexcept
      : unix_message_socket("unix_seqpacket::receive", "unix_seqpacket::send", std::move(socket)) {}
};

}  // namespace tandem::inline v0::io
