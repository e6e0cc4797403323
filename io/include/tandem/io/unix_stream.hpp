// unix_stream.hpp: a connection to a process of this machine.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
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

/// A connected Unix socket of the stream kind.
///
///     auto stream = co_await tandem::io::unix_stream::connect(unix_endpoint::path("/run/app.sock"));
///     co_await stream.write_all(tandem::io::bytes_of(request));
///
/// Reading, writing, shutdown() and close() are those of socket_stream. On Windows nothing of it is
/// there: errc::not_supported.
///
/// @thread_safety  as socket_stream
/// @source         man page unix(7)
class TANDEM_IO_API unix_stream : public socket_stream {
 public:
  /// Not open: every call fails with errc::bad_file_descriptor.
  unix_stream() noexcept = default;
  unix_stream(unix_stream&&) noexcept = default;
  unix_stream& operator=(unix_stream&&) noexcept = default;

  /// As long as the listener has no room for one more, it is tried again, in 1 ms to 50 ms: the
  /// system tells nobody when there is.
  ///
  /// @throws        std::system_error: connection_refused (nobody listens there),
  ///                no_such_file_or_directory, permission_denied, ...; operation_cancelled;
  ///                std::bad_alloc; std::logic_error outside any task
  /// @cancellation  between the tries
  /// @resumes_on    the caller's home
  /// @cost          a frame
  static task<unix_stream> connect(unix_endpoint peer);
  /// Two that are connected to each other.
  ///
  /// @throws  std::system_error: too_many_files_open, ...; std::logic_error outside any task
  static std::pair<unix_stream, unix_stream> pair();
  /// As above, anywhere: for a pool that exists.
  static std::pair<unix_stream, unix_stream> pair(completion_pool& pool);
  /// Takes over a connected Unix socket of the stream kind.
  ///
  /// @param descriptor  belongs to the stream from now on; becomes close-on-exec and blocking
  /// @throws            std::system_error that says what it is instead: then it is still the
  ///                    caller's; std::logic_error outside any task
  static unix_stream from_native(native_descriptor descriptor);
  /// As above, anywhere: for a pool that exists.
  static unix_stream from_native(completion_pool& pool, native_descriptor descriptor);
  /// As above, of one who owns it: closed with the owner if it is refused.
  static unix_stream from_native(owned_descriptor&& descriptor) {
    return detail::from_owned<unix_stream>(std::move(descriptor));
  }
  static unix_stream from_native(completion_pool& pool, owned_descriptor&& descriptor) {
    return detail::from_owned<unix_stream>(pool, std::move(descriptor));
  }

  /// As read(), and the descriptors that the peer has sent with these bytes. Not after receive(). A
  /// read() of any other form drops them: the system closes them.
  ///
  /// @param most_descriptors  more counts as 64; what comes beyond is closed, and counted
  /// @throws                  as read(); std::bad_alloc: then they are closed
  /// @cancellation            may lose the race and return data; neither byte nor descriptor is lost
  receive_message_awaiter read_with(std::span<std::byte> buffer,
                                    std::size_t most_descriptors = 16) noexcept {
    return {"unix_stream::read_with", socket_, buffer, most_descriptors};
  }
  /// As write(), and sends descriptors along with the first of the bytes: the peer gets numbers of
  /// its own for what they refer to. Ours stay open, and ours.
  ///
  /// @param bytes        at least one: descriptors do not go alone
  /// @param descriptors  at most 253
  /// @throws             as write(); std::system_error: invalid_argument (too many, or no bytes),
  ///                     bad_file_descriptor; too_many_references (ETOOMANYREFS: more in flight than
  ///                     the user may have open)
  /// @cancellation       may lose the race: then they have been sent
  send_message_awaiter write_with(std::span<const std::byte> bytes,
                                  std::span<const native_descriptor> descriptors) noexcept {
    return {"unix_stream::write_with", socket_, bytes, descriptors};
  }
  /// As above, with one descriptor.
  template <detail::one_descriptor One>
  send_message_awaiter write_with(std::span<const std::byte> bytes, One descriptor) noexcept {
    return {"unix_stream::write_with", socket_, bytes, descriptor};
  }
  /// As write_all(), and sends descriptors along with the first of the bytes.
  ///
  ///     co_await stream.write_all_with(tandem::io::bytes_of("take this"), file.native_handle());
  ///
  /// @param bytes, descriptors  as those of write_with(); both alive until the await returns
  /// @throws                    as write_with(): then nothing was sent, or a part of the bytes, and
  ///                            with that the descriptors
  /// @cancellation              as that of write_all()
  /// @thread_safety             one write at a time, from the first byte to the last
  /// @resumes_on                the caller's home
  /// @cost                      a frame, and one await more if a part of the bytes found no room
  task<void> write_all_with(std::span<const std::byte> bytes,
                            std::span<const native_descriptor> descriptors) {
    return write_all_after(write_with(bytes, descriptors), bytes);
  }
  /// As above, with one descriptor.
  template <detail::one_descriptor One>
  task<void> write_all_with(std::span<const std::byte> bytes, One descriptor) {
    return write_all_after(write_with(bytes, descriptor), bytes);
  }

  /// Who has connected, or who listened, as it was at that moment.
  ///
  /// @throws  std::system_error
  peer_credentials credentials() const;
  /// @throws  std::system_error
  unix_endpoint local_endpoint() const;
  unix_endpoint remote_endpoint() const;

  // Implementation
  explicit unix_stream(detail::socket&& socket) noexcept : socket_stream(std::move(socket)) {}

 private:
  /// Sends by `first`, and then the bytes that it has left.
  task<void> write_all_after(send_message_awaiter first, std::span<const std::byte> bytes);
};

}  // namespace tandem::inline v0::io
