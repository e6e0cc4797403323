// unix_datagram.hpp: datagrams between processes of this machine.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <tandem/io/detail/local_name.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/owned_descriptor.hpp>
#include <tandem/io/unix_endpoint.hpp>
#include <tandem/io/unix_message.hpp>
#include <tandem/io/unix_seqpacket.hpp>
#include <tandem/task.hpp>
#include <utility>

namespace tandem::inline v0::io {

class unix_datagram_options {
 public:
  unix_datagram_options() noexcept = default;

  bool replaces_stale = true;                ///< as unix_listen_options has it
  bool removes_at_close = true;              ///< likewise
  std::optional<std::uint32_t> permissions;  ///< likewise: who may send
  /// received_message::credentials is told, of the sender of each.
  bool tells_credentials = false;
};

/// A Unix socket of the datagram kind. None is lost: who sends waits while the queue is full.
///
///     auto log = tandem::io::unix_datagram::bind(unix_endpoint::path("/run/log.sock"));
///     auto got = co_await log.receive(buffer);
///
/// Receiving and sending are those of unix_message_socket. On Windows nothing of it is there:
/// errc::not_supported.
///
/// @thread_safety  as unix_message_socket
/// @source         man page unix(7)
class TANDEM_IO_API unix_datagram : public unix_message_socket {
 public:
  /// Not open: every call fails with errc::bad_file_descriptor.
  unix_datagram() noexcept : unix_datagram(detail::socket()) {}
  unix_datagram(unix_datagram&&) noexcept = default;
  unix_datagram& operator=(unix_datagram&& other) noexcept;
  ~unix_datagram() { close(); }

  /// @param address  unnamed: it only sends, or is connected
  /// @throws         std::system_error naming the address; std::logic_error outside any task
  static unix_datagram bind(const unix_endpoint& address,
                            const unix_datagram_options& options = {});
  /// As above, anywhere: for a pool that exists.
  static unix_datagram bind(completion_pool& pool, const unix_endpoint& address,
                            const unix_datagram_options& options = {});
  /// These as those of unix_stream.
  static std::pair<unix_datagram, unix_datagram> pair();
  static std::pair<unix_datagram, unix_datagram> pair(completion_pool& pool);
  static unix_datagram from_native(native_descriptor descriptor);
  static unix_datagram from_native(completion_pool& pool, native_descriptor descriptor);
  /// As above, of one who owns it: closed with the owner if it is refused.
  static unix_datagram from_native(owned_descriptor&& descriptor) {
    return detail::from_owned<unix_datagram>(std::move(descriptor));
  }
  static unix_datagram from_native(completion_pool& pool, owned_descriptor&& descriptor) {
    return detail::from_owned<unix_datagram>(pool, std::move(descriptor));
  }

  /// From now on send() goes there, and nobody else's datagrams come. pre: nothing is under way
  ///
  /// @throws  std::system_error: connection_refused, no_such_file_or_directory, ...
  void connect_to(const unix_endpoint& peer);

  /// As send(), to `receiver`. While its queue is full it is tried again, in 1 ms to 50 ms: the
  /// system tells nobody when there is room, but for the peer of a connected socket.
  ///
  /// @cancellation  between the tries
  /// @cost          a frame
  task<void> send_to(std::span<const std::byte> bytes, unix_endpoint receiver,
                     std::span<const native_descriptor> descriptors = {}) {
    return send_message_to(detail::local_message(bytes.data(), bytes.size(), descriptors),
                           receiver);
  }
  /// As above, with one descriptor.
  template <detail::one_descriptor One>
  task<void> send_to(std::span<const std::byte> bytes, unix_endpoint receiver, One descriptor) {
    return send_message_to(detail::local_message(bytes.data(), bytes.size(), descriptor), receiver);
  }

  /// Gives the descriptor back, and removes its path (options); harmless if done before. No
  /// operation may be in flight.
  void close() noexcept;
  /// Gives the descriptor up without closing it, and its path with it.
  /// @returns  no_descriptor if the socket is not open
  [[nodiscard]] native_descriptor release() noexcept;

 private:
  explicit unix_datagram(detail::socket&& socket) noexcept
      : unix_message_socket("unix_datagram::receive", "unix_datagram::send", std::move(socket)) {}
  task<void> send_message_to(detail::local_message message, unix_endpoint receiver);

  detail::local_name name_;
};

}  // namespace tandem::inline v0::io
