// unix_listener.hpp: accepts connections of processes of this machine.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <tandem/io/detail/accept_base.hpp>
#include <tandem/io/detail/local_name.hpp>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/owned_descriptor.hpp>
#include <tandem/io/unix_endpoint.hpp>
#include <tandem/io/unix_seqpacket.hpp>
#include <tandem/io/unix_stream.hpp>
#include <tandem/result.hpp>
#include <utility>

namespace tandem::inline v0::io {

/// How a listener at a path is set up.
class unix_listen_options {
 public:
  unix_listen_options() noexcept = default;

  int backlog = 1024;  ///< connections that wait to be accepted; the kernel limits it further
  /// A socket at the path at which nobody listens any more is removed first; one at which somebody
  /// listens, or anything else, is not: address_in_use.
  bool replaces_stale = true;
  /// close() removes the path, if it still is this socket's.
  bool removes_at_close = true;
  /// Of the path, as chmod takes them: who may connect. Not set: as umask says.
  std::optional<std::uint32_t> permissions;
};

/// Awaiter of accept() of unix_listener and unix_seqpacket_listener.
template <class Stream>
class [[nodiscard]] local_accept_awaiter : public detail::accept_base {
 public:
  using lossy_when_dropped = detail::lossy<detail::operation_kind::accept>;

  local_accept_awaiter(detail::socket& socket, completion_pool* pool) noexcept
      : accept_base(socket), pool_(pool) {}

  Stream await_resume() {
    end_operation();
    if (operation_.failed()) operation_.throw_failure(operation_.name());
    return made();
  }
  result<Stream> await_resume_result() {
    end_operation();
    if (operation_.failed()) return operation_.error();
    return made();
  }

 private:
  Stream made() {
    return Stream(detail::socket(detail::descriptor_of(operation_.outcome()), pool_->next_thread(),
                                 detail::socket_family::local));
  }

  completion_pool* pool_;
};

/// Base of the two listeners.
class TANDEM_IO_API unix_listener_base {
 public:
  /// The executor of the completion thread that serves this socket. pre: it was opened.
  tandem::executor& thread_executor() noexcept {
    TANDEM_ASSERT(socket_.thread() != nullptr,
                  "thread_executor() of a listener that was never opened");
    return socket_.thread()->executor();
  }
  /// @throws  std::system_error
  unix_endpoint local_endpoint() const;
  /// Stops listening. No accept may be in flight.
  void close() noexcept;
  /// Gives the descriptor up without closing it, and its path with it: it is the caller's now, and
  /// it is blocking. No accept may be in flight.
  ///
  /// @returns  no_descriptor if the listener is not open
  [[nodiscard]] native_descriptor release() noexcept;
  bool is_open() const noexcept { return socket_.is_open(); }
  /// The descriptor, for calls that are not offered here: it stays ours.
  /// @returns  no_descriptor if there is none
  native_descriptor native_handle() const noexcept { return socket_.descriptor(); }

 protected:
  unix_listener_base() noexcept = default;
  unix_listener_base(unix_listener_base&&) noexcept = default;
  unix_listener_base& operator=(unix_listener_base&& other) noexcept {
    if (this != &other) {
      close();
      socket_ = std::move(other.socket_);
      name_ = std::move(other.name_);
      pool_ = other.pool_;
    }
    return *this;
  }
  ~unix_listener_base() { close(); }

  void bind_on(completion_pool& pool, bool is_stream, const unix_endpoint& address,
               const unix_listen_options& options, const char* what);
  void adopt(completion_pool& pool, bool is_stream, native_descriptor descriptor, const char* what);

  detail::socket socket_;
  detail::local_name name_;
  completion_pool* pool_ = nullptr;
};

/// A listening Unix socket of the stream kind. serve() takes it as it takes a tcp_listener:
///
///     auto listener = tandem::io::unix_listener::bind(unix_endpoint::path("/run/app.sock"));
///     co_await tandem::io::serve(std::move(listener), [](unix_stream client) -> task<void> { ... });
///
/// @thread_safety  accept() by one task at a time; everything else by its owner
/// @source         man page unix(7)
class TANDEM_IO_API unix_listener : public unix_listener_base {
 public:
  unix_listener() noexcept = default;

  /// @throws  std::system_error naming the address: address_in_use, permission_denied, ...;
  ///          not_supported on Windows; std::logic_error outside any task
  static unix_listener bind(const unix_endpoint& address, const unix_listen_options& options = {});
  /// As above, anywhere: for a pool that exists.
  static unix_listener bind(completion_pool& pool, const unix_endpoint& address,
                            const unix_listen_options& options = {});
  /// Takes over a listening Unix socket of the stream kind. close() does not remove its path.
  ///
  /// @param descriptor  belongs to the listener from now on; becomes close-on-exec and blocking
  /// @throws            std::system_error that says what it is instead: then it is still the
  ///                    caller's; std::logic_error outside any task
  static unix_listener from_native(native_descriptor descriptor);
  /// As above, anywhere: for a pool that exists.
  static unix_listener from_native(completion_pool& pool, native_descriptor descriptor);
  /// As above, of one who owns it: closed with the owner if it is refused.
  static unix_listener from_native(owned_descriptor&& descriptor) {
    return detail::from_owned<unix_listener>(std::move(descriptor));
  }
  static unix_listener from_native(completion_pool& pool, owned_descriptor&& descriptor) {
    return detail::from_owned<unix_listener>(pool, std::move(descriptor));
  }

  /// @returns        the next connection; it is bound to the completion thread with the fewest
  /// @throws         std::system_error: too_many_files_open, ...; operation_cancelled
  /// @cancellation   may lose the race and return a connection; none is ever lost
  /// @resumes_on     the caller's home
  local_accept_awaiter<unix_stream> accept() noexcept { return {socket_, pool_}; }
};

/// As unix_listener, of sockets of the seqpacket kind.
class TANDEM_IO_API unix_seqpacket_listener : public unix_listener_base {
 public:
  unix_seqpacket_listener() noexcept = default;

  /// As those of unix_listener.
  static unix_seqpacket_listener bind(const unix_endpoint& address,
                                      const unix_listen_options& options = {});
  static unix_seqpacket_listener bind(completion_pool& pool, const unix_endpoint& address,
                                      const unix_listen_options& options = {});
  static unix_seqpacket_listener from_native(native_descriptor descriptor);
  static unix_seqpacket_listener from_native(completion_pool& pool, native_descriptor descriptor);
  /// As above, of one who owns it: closed with the owner if it is refused.
  static unix_seqpacket_listener from_native(owned_descriptor&& descriptor) {
    return detail::from_owned<unix_seqpacket_listener>(std::move(descriptor));
  }
  static unix_seqpacket_listener from_native(completion_pool& pool, owned_descriptor&& descriptor) {
    return detail::from_owned<unix_seqpacket_listener>(pool, std::move(descriptor));
  }

  /// As unix_listener::accept().
  local_accept_awaiter<unix_seqpacket> accept() noexcept { return {socket_, pool_}; }
};

}  // namespace tandem::inline v0::io
