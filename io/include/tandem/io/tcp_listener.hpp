// tcp_listener.hpp: accepts TCP connections.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <tandem/io/detail/operation.hpp>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/tcp_stream.hpp>

namespace tandem::inline v0::io {

/// How a listener is set up.
class listen_options {
 public:
  listen_options() noexcept = default;

  int backlog = 1024;  ///< connections that wait to be accepted; the kernel limits it further
  bool reuse_address = true;  ///< a port whose old connections linger may be bound again
  bool reuse_port = false;    ///< several listeners share the port
  bool only_v6 = false;       ///< an IPv6 listener refuses IPv4 peers
};

/// Awaiter of tcp_listener::accept().
class [[nodiscard]] TANDEM_IO_API accept_awaiter {
 public:
  using tandem_awaiter = void;

  accept_awaiter(detail::socket& socket, completion_pool* pool) noexcept
      : socket_(&socket),
        pool_(pool),
        operation_(detail::operation_kind::accept, socket.thread(), socket.descriptor(), nullptr,
                   0) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    socket_->begin_operation();
    operation_.aim(socket_->thread(), socket_->descriptor());
    return operation_.start(self.promise());
  }
  tcp_stream await_resume();
  result<tcp_stream> await_resume_result();

 private:
  detail::socket* socket_;
  completion_pool* pool_;
  detail::operation operation_;
};

/// A listening TCP socket.
///
///     auto listener = tandem::io::tcp_listener::bind(tandem::io::endpoint::loopback_v4(0));
///     while (true) scope.spawn(serve(co_await listener.accept()));
///
/// @thread_safety  accept() by one task at a time; everything else by its owner
class TANDEM_IO_API tcp_listener {
 public:
  tcp_listener() noexcept = default;

  /// @throws  std::system_error naming the address: address_in_use, permission_denied, ...;
  ///          std::logic_error outside any task
  static tcp_listener bind(const endpoint& address, const listen_options& options = {});
  /// As above, anywhere: for a pool that exists.
  static tcp_listener bind(completion_pool& pool, const endpoint& address,
                           const listen_options& options = {});

  /// @returns        the next connection; it is bound to the completion threads in turn
  /// @throws         std::system_error: too_many_files_open, ...; operation_cancelled
  /// @cancellation   may lose the race and return a connection; none is ever lost
  /// @resumes_on     the caller's home
  accept_awaiter accept() noexcept { return accept_awaiter(socket_, pool_); }

  endpoint local_endpoint() const;
  /// Stops listening. No accept may be in flight.
  void close() noexcept { socket_.close(); }
  bool is_open() const noexcept { return socket_.is_open(); }

 private:
  tcp_listener(detail::socket&& socket, completion_pool& pool) noexcept
      : socket_(std::move(socket)), pool_(&pool) {}

  detail::socket socket_;
  completion_pool* pool_ = nullptr;
};

}  // namespace tandem::inline v0::io
