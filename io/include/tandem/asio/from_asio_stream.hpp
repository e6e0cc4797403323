// from_asio_stream.hpp: a stream of Asio's as a byte stream of tandem.
// SPDX-License-Identifier: MIT
//
// Included by <tandem/asio.hpp> and <tandem/boost_asio.hpp>.
#pragma once

#include <cstddef>
#include <span>
#include <system_error>
#include <tandem/as_result.hpp>
#include <tandem/asio/detail/asio_wait.hpp>
#include <tandem/asio/use_await.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/task.hpp>
#include <utility>

namespace tandem::inline v0 {

namespace detail {

/// Which of Asio's namespaces an executor belongs to. Each adds its own.
template <class Executor>
struct executor_flavour {};

}  // namespace detail

/// A byte_stream over a stream of Asio's (a socket, TLS, a serial port, Beast's tcp_stream).
///
///     auto stream = tandem::from_asio_stream(std::move(socket));
///     co_await tandem::io::copy(stream, connection);
///
/// A TLS stream's farewell is its own operation:
/// `co_await stream.socket().async_shutdown(tandem::use_await)`.
///
/// @thread_safety  as of the stream: where a read and a write at a time need a strand (TLS), its
///                 executor has to be one
template <class AsyncStream>
class asio_byte_stream {
  using flavour = typename detail::executor_flavour<typename AsyncStream::executor_type>::type;

 public:
  explicit asio_byte_stream(AsyncStream socket) : socket_(std::move(socket)) {}

  /// @returns        bytes read; 0 at end of stream, or for an empty buffer
  /// @throws         std::system_error; operation_cancelled; as use_await
  /// @cancellation   as async_read_some's: no byte is lost
  /// @thread_safety  one read at a time
  task<std::size_t> read(std::span<std::byte> buffer) {
    if (buffer.empty()) co_return 0;
    result<std::size_t> got = co_await as_result(socket_.async_read_some(
        typename flavour::mutable_buffer(buffer.data(), buffer.size()), use_await));
    if (!got && flavour::is_end(got.error())) co_return 0;
    co_return std::move(got).value();
  }
  /// @returns        bytes that were taken
  /// @throws         as read()
  /// @cancellation   may lose the race and return what was written
  task<std::size_t> write(std::span<const std::byte> bytes) {
    if (bytes.empty()) co_return 0;
    co_return co_await socket_.async_write_some(
        typename flavour::const_buffer(bytes.data(), bytes.size()), use_await);
  }
  /// @throws         as read(); how much was written before is then unknown
  task<void> write_all(std::span<const std::byte> bytes) {
    (void)co_await flavour::write_all(
        socket_, typename flavour::const_buffer(bytes.data(), bytes.size()), use_await);
  }
  /// Ends what is written, on the socket (or the stream of tandem) below.
  ///
  /// @throws  std::system_error
  void shutdown() {
    auto& lowest = lowest_of(socket_);
    if constexpr (requires { lowest.shutdown(); }) {
      lowest.shutdown();
      return;
    } else {
      shut_down_socket(lowest);
    }
  }
  /// Closes the socket below; harmless if done before.
  void close() {
    auto& lowest = lowest_of(socket_);
    if constexpr (requires { lowest.shutdown(); }) {
      lowest.close();
    } else {
      typename flavour::error_code ignored;
      lowest.close(ignored);
    }
  }
  bool is_open() const { return lowest_of(const_cast<AsyncStream&>(socket_)).is_open(); }  // NOLINT

  /// The stream itself: it stays ours.
  AsyncStream& socket() noexcept { return socket_; }
  /// Gives it back.
  AsyncStream release() && { return std::move(socket_); }

 private:
  template <class Socket>
  static void shut_down_socket(Socket& socket) {
    typename flavour::error_code code;
    socket.shutdown(Socket::shutdown_send, code);
    if (code) throw std::system_error(std::error_code(code), "shutdown of a stream of Asio's");
  }
  template <class S>
  static auto& lowest_of(S& stream) noexcept {
    if constexpr (requires { stream.lowest_layer(); }) {
      return stream.lowest_layer();
    } else if constexpr (requires { stream.socket(); }) {
      return stream.socket();
    } else if constexpr (requires { stream.next_layer(); }) {
      return lowest_of(stream.next_layer());
    } else {
      return stream;
    }
  }

  AsyncStream socket_;
};

/// Makes a byte_stream of a stream of Asio's.
template <class AsyncStream>
asio_byte_stream<AsyncStream> from_asio_stream(AsyncStream socket) {
  return asio_byte_stream<AsyncStream>(std::move(socket));
}

}  // namespace tandem::inline v0
