// tcp_stream.hpp: a TCP connection.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <span>
#include <tandem/io/detail/operation.hpp>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io {

class tcp_stream;

enum class shutdown_kind : unsigned char { read, write, both };

/// Awaiter of tcp_stream::read() and write().
class [[nodiscard]] TANDEM_IO_API transfer_awaiter {
 public:
  using tandem_awaiter = void;

  transfer_awaiter(detail::operation_kind kind, detail::socket& socket, void* buffer,
                   std::size_t bytes) noexcept
      : socket_(&socket), operation_(kind, socket.thread(), socket.descriptor(), buffer, bytes) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    socket_->begin_operation();
    operation_.aim(socket_->thread(), socket_->descriptor());
    return operation_.start(self.promise());
  }
  std::size_t await_resume();
  result<std::size_t> await_resume_result();

 private:
  detail::socket* socket_;
  detail::operation operation_;
};

/// Awaiter of tcp_stream::write_all().
class [[nodiscard]] TANDEM_IO_API write_all_awaiter {
 public:
  using tandem_awaiter = void;

  write_all_awaiter(detail::socket& socket, std::span<const std::byte> bytes) noexcept
      : socket_(&socket),
        operation_(detail::operation_kind::send_all, socket.thread(), socket.descriptor(),
                   const_cast<std::byte*>(bytes.data()),  // NOLINT: the kernel only reads it
                   bytes.size()) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    socket_->begin_operation();
    operation_.aim(socket_->thread(), socket_->descriptor());
    return operation_.start(self.promise());
  }
  void await_resume();
  result<void> await_resume_result();

 private:
  detail::socket* socket_;
  detail::operation operation_;
};

/// Awaiter of tcp_stream::connect().
class [[nodiscard]] TANDEM_IO_API connect_awaiter {
 public:
  using tandem_awaiter = void;

  explicit connect_awaiter(const endpoint& peer) noexcept;
  connect_awaiter(connect_awaiter&& other) noexcept = default;
  ~connect_awaiter();

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    return start(self.promise());
  }
  tcp_stream await_resume();
  result<tcp_stream> await_resume_result();

 private:
  bool start(tandem::detail::promise_base& waiting);
  endpoint peer_;
  detail::socket socket_;
  int open_error_ = 0;
  detail::operation operation_;
};

/// A connected TCP socket, bound to one completion thread for life. Nagle's algorithm is off.
///
///     auto stream = co_await tandem::io::tcp_stream::connect(endpoint);
///     co_await stream.write_all(std::as_bytes(std::span(request)));
///     std::size_t n = co_await stream.read(buffer);
///
/// @thread_safety  one read and one write at a time, from any task; everything else by its owner
class TANDEM_IO_API tcp_stream {
 public:
  /// Not open: every call fails with errc::bad_file_descriptor.
  tcp_stream() noexcept = default;
  tcp_stream(tcp_stream&&) noexcept = default;
  tcp_stream& operator=(tcp_stream&&) noexcept = default;

  /// @throws         std::system_error: connection_refused, network_unreachable, ...;
  ///                 operation_cancelled; std::logic_error outside any task
  /// @cancellation   may lose the race and return the connection
  /// @resumes_on     the caller's home
  static connect_awaiter connect(const endpoint& peer) noexcept { return connect_awaiter(peer); }

  /// Reads up to `buffer.size()` bytes.
  ///
  /// @param buffer        stays the caller's, alive until the await returns (also after a stop)
  /// @returns             bytes read; 0 at end of stream, or for an empty buffer
  /// @throws              std::system_error: connection_reset, ...; operation_cancelled
  /// @cancellation        may lose the race and return data; no byte is ever lost
  /// @thread_safety       one read at a time
  /// @resumes_on          the caller's home
  /// @cost                on a worker a non-blocking try first; else one ring entry, no allocation
  transfer_awaiter read(std::span<std::byte> buffer) noexcept {
    return transfer_awaiter(detail::operation_kind::receive, socket_, buffer.data(), buffer.size());
  }

  /// Writes up to `bytes.size()` bytes; fewer than that is no error.
  ///
  /// @param bytes         alive until the await returns (also after a stop)
  /// @returns             bytes taken by the kernel
  /// @throws              std::system_error: broken_pipe, connection_reset, ...; operation_cancelled
  /// @cancellation        may lose the race and return what was written
  /// @thread_safety       one write at a time, beside a read
  transfer_awaiter write(std::span<const std::byte> bytes) noexcept {
    return transfer_awaiter(
        detail::operation_kind::send, socket_,
        const_cast<std::byte*>(bytes.data()),  // NOLINT: the kernel only reads it
        bytes.size());
  }

  /// Writes all of `bytes`.
  ///
  /// @throws         as write(); how much was written before is then unknown
  /// @cancellation   between and during the writes
  /// @cost           one await, however many transfers it takes; no allocation
  write_all_awaiter write_all(std::span<const std::byte> bytes) noexcept {
    return write_all_awaiter(socket_, bytes);
  }

  /// Ends one direction; the peer reads end of stream.
  /// @throws  std::system_error
  void shutdown(shutdown_kind kind = shutdown_kind::write);
  /// Gives the descriptor back; harmless if done before. No operation may be in flight.
  void close() noexcept { socket_.close(); }
  bool is_open() const noexcept { return socket_.is_open(); }

  /// @throws  std::system_error
  endpoint local_endpoint() const;
  endpoint remote_endpoint() const;

  /// The executor of the completion thread that serves this socket: the cheapest home for its task.
  /// pre: it was opened.
  tandem::executor& thread_executor() noexcept {
    TANDEM_ASSERT(socket_.thread() != nullptr,
                  "thread_executor() of a stream that was never opened");
    return socket_.thread()->executor();
  }

  // Implementation
  explicit tcp_stream(detail::socket&& socket) noexcept : socket_(std::move(socket)) {}

 private:
  detail::socket socket_;
};

}  // namespace tandem::inline v0::io
