// tcp_stream.hpp: a TCP connection.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/detail/operation.hpp>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/detail/socket_awaiter.hpp>
#include <tandem/io/endpoint.hpp>
#include <tandem/io/happy_eyeballs.hpp>
#include <tandem/io/leased_buffer.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/receive_awaiter.hpp>
#include <tandem/io/tcp_options.hpp>
#include <tandem/result.hpp>
#include <tandem/task.hpp>
#include <type_traits>
#include <vector>

namespace tandem::inline v0::io {

class tcp_stream;

enum class shutdown_kind : unsigned char { read, write, both };

/// Awaiter of tcp_stream::read() and write().
class [[nodiscard]] TANDEM_IO_API transfer_awaiter : public detail::socket_awaiter {
 public:
  using lossy_when_dropped =
      detail::lossy<detail::operation_kind::receive, detail::operation_kind::send>;

  transfer_awaiter(detail::operation_kind kind, detail::socket& socket, void* buffer,
                   std::size_t bytes) noexcept
      : socket_awaiter(kind, socket, buffer, bytes) {}

  std::size_t await_resume();
  result<std::size_t> await_resume_result();
};

/// Awaiter of tcp_stream::write_all().
class [[nodiscard]] TANDEM_IO_API write_all_awaiter : public detail::socket_awaiter {
 public:
  using lossy_when_dropped = detail::lossy<detail::operation_kind::send_all>;

  write_all_awaiter(detail::socket& socket, std::span<const std::byte> bytes) noexcept
      : socket_awaiter(detail::operation_kind::send_all, socket,
                       const_cast<std::byte*>(bytes.data()),  // NOLINT: the kernel only reads it
                       bytes.size()) {}

  void await_resume();
  result<void> await_resume_result();
};

/// Awaiter of tcp_stream::read() into several buffers.
class [[nodiscard]] TANDEM_IO_API vectored_read_awaiter : public detail::vectored_awaiter {
 public:
  using lossy_when_dropped = detail::lossy<detail::operation_kind::receive_vector>;

  vectored_read_awaiter(detail::socket& socket,
                        std::span<const std::span<std::byte>> buffers) noexcept
      : vectored_awaiter(detail::operation_kind::receive_vector, socket,
                         detail::segment_window(buffers)) {}

  std::size_t await_resume();
  result<std::size_t> await_resume_result();
};

/// Awaiter of tcp_stream::write_all() of several buffers.
class [[nodiscard]] TANDEM_IO_API vectored_write_awaiter : public detail::vectored_awaiter {
 public:
  using lossy_when_dropped = detail::lossy<detail::operation_kind::send_all_vector>;

  vectored_write_awaiter(detail::socket& socket,
                         std::span<const std::span<const std::byte>> buffers) noexcept
      : vectored_awaiter(detail::operation_kind::send_all_vector, socket,
                         detail::segment_window(buffers)) {}

  void await_resume();
  result<void> await_resume_result();
};

/// A list of buffers; a braced list is none, so that `read({})` means one empty buffer.
template <class B, class Byte>
concept buffer_list = std::convertible_to<const B&, std::span<const std::span<Byte>>>;

/// Awaiter of tcp_stream::connect().
class [[nodiscard]] TANDEM_IO_API connect_awaiter {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = detail::lossy<detail::operation_kind::connect>;

  connect_awaiter(const endpoint& peer, const tcp_options& options) noexcept;
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
  tcp_options options_;
  detail::socket socket_;
  std::error_code open_error_;
  const char* refused_ = nullptr;  // with open_error_: the option
  detail::operation operation_;
};

/// A connected TCP socket, bound to one completion thread for life.
///
///     auto stream = co_await tandem::io::tcp_stream::connect(endpoint);
///     co_await stream.write_all(tandem::io::bytes_of(request));
///     std::size_t n = co_await stream.read(buffer);
///
/// A second read, or write, while one is under way would get some of the first one's bytes: a build
/// with assertions aborts and names both tasks, others fail it with errc::operation_in_progress
/// and leave the first one alone.
///
/// @thread_safety  one read and one write at a time, from any task of its runtime; everything else
///                 by its owner
class TANDEM_IO_API tcp_stream {
 public:
  /// Not open: every call fails with errc::bad_file_descriptor.
  tcp_stream() noexcept = default;
  tcp_stream(tcp_stream&&) noexcept = default;
  tcp_stream& operator=(tcp_stream&&) noexcept = default;

  /// A task that lives on a completion thread has its connection there; of any other, it goes to
  /// the thread with the fewest.
  ///
  /// @throws         std::system_error: connection_refused, network_unreachable, ...;
  ///                 operation_cancelled; std::logic_error outside any task
  /// @cancellation   may lose the race and return the connection
  /// @resumes_on     the caller's home
  static connect_awaiter connect(const endpoint& peer, const tcp_options& options = {}) noexcept {
    return connect_awaiter(peer, options);
  }

  /// Connects to whichever of several addresses answers first: the families in turn, a further
  /// attempt each time that the last one has failed or has had `attempt_delay`; the others are
  /// given up then.
  ///
  ///     auto stream = co_await tcp_stream::connect(co_await resolve("example.org", 443));
  ///
  /// @param candidates  in the order of preference, as resolve() gives them
  /// @throws            std::system_error with the code of the first candidate's failure, and the
  ///                    failure of each in its text; operation_cancelled; std::invalid_argument if
  ///                    there is none
  /// @cancellation      ends all attempts; may lose the race and return the connection
  /// @resumes_on        the caller's home, after all attempts have ended
  /// @cost              a scope, and a task for each attempt
  /// @source            RFC 8305, "Happy Eyeballs", section 5
  static task<tcp_stream> connect(std::vector<endpoint> candidates,
                                  happy_eyeballs_options options = {});
  /// resolve(), then as above.
  static task<tcp_stream> connect(std::string host, std::uint16_t port,
                                  happy_eyeballs_options options = {});

  /// Takes over a connected TCP socket, with the options that it has.
  ///
  /// @param descriptor  belongs to the stream from now on; becomes close-on-exec and blocking
  /// @throws            std::system_error that says what it is instead of a connected TCP socket:
  ///                    then it is still the caller's; std::logic_error outside any task
  static tcp_stream from_native(native_descriptor descriptor);
  /// As above, anywhere: for a pool that exists.
  static tcp_stream from_native(completion_pool& pool, native_descriptor descriptor);

  /// Reads up to `buffer.size()` bytes. Not after receive(): see there.
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

  /// Takes what has come, up to `buffer.size()` bytes, and never waits: for whoever was told by a
  /// read() that there is more, and decodes straight from the socket. Not after receive().
  ///
  /// @returns        bytes read, 0 at end of stream or for an empty buffer; else why not:
  ///                 errc::operation_would_block, operation_in_progress while a read is under way,
  ///                 connection_reset, ...
  /// @thread_safety  as a read
  /// @cost           one system call
  result<std::size_t> try_read(std::span<std::byte> buffer) noexcept;

  /// Waits for bytes in a buffer of the completion thread: an idle connection holds none, and the
  /// kernel is not asked for each read. After the first receive() a stream is only received from:
  /// the runtime reads ahead, so a read() of any form (buffered_reader, read_frame() and copy() do
  /// that) aborts with a message, and so does release().
  ///
  /// @returns             at least one byte, at most completion_options::receive_buffer_bytes;
  ///                      empty at end of stream, then again and again
  /// @throws              std::system_error: connection_reset, ...; operation_cancelled;
  ///                      std::bad_alloc
  /// @cancellation        ends the wait at once; no byte is ever lost: the next call has what came
  /// @thread_safety       one receive at a time
  /// @resumes_on          the caller's home
  /// @cost                no entry, no system call, no allocation (but one by the first call)
  receive_awaiter receive() noexcept { return receive_awaiter(socket_); }

  /// Writes up to `bytes.size()` bytes; fewer than that is no error.
  ///
  /// @param bytes         alive until the await returns (also after a stop)
  /// @returns             bytes taken by the kernel
  /// @throws              std::system_error: broken_pipe, connection_reset, ...;
  ///                      operation_cancelled
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
  /// @cancellation   between and during the writes. A part may have been sent, in the middle of a
  ///                 message: then only close() or abort() is right. write() says how much it was
  /// @cost           one await, however many transfers it takes; no allocation
  write_all_awaiter write_all(std::span<const std::byte> bytes) noexcept {
    return write_all_awaiter(socket_, bytes);
  }

  /// As read(), into several buffers, one after the other.
  ///
  ///     std::array<std::span<std::byte>, 2> parts{header, body};
  ///     std::size_t n = co_await stream.read(parts);
  ///
  /// @param buffers  the list and the buffers stay the caller's, alive until the await returns
  /// @returns        bytes read in all; one call fills at most 16 buffers
  template <buffer_list<std::byte> B>
  vectored_read_awaiter read(const B& buffers) noexcept {
    return vectored_read_awaiter(socket_, std::span<const std::span<std::byte>>(buffers));
  }

  /// As write_all(), of any number of buffers, one after the other.
  ///
  /// @param buffers  the list and the buffers stay the caller's, alive until the await returns
  /// @cost           one await; 16 buffers go with one system call; no allocation
  template <buffer_list<const std::byte> B>
  vectored_write_awaiter write_all(const B& buffers) noexcept {
    return vectored_write_awaiter(socket_, std::span<const std::span<const std::byte>>(buffers));
  }

  /// Ends one direction. write: the peer reads what was written, then end of stream, and may go on
  /// writing (half-close). read: a read that waits, and later ones, end with 0 after what has come.
  /// What has ended already, by an earlier call or by the peer's reset, is no error here; a reset
  /// is told by the next read or write.
  ///
  /// @throws         std::system_error: bad_file_descriptor
  /// @thread_safety  beside a read and a write
  void shutdown(shutdown_kind kind = shutdown_kind::write);
  /// Gives the descriptor back; harmless if done before. No operation may be in flight.
  void close() noexcept { socket_.close(); }
  /// Closes it with a reset: what was not sent yet is dropped, and the peer's next call fails with
  /// errc::connection_reset.
  void abort() noexcept;
  /// Gives the descriptor up without closing it: it is the caller's now, and it is blocking
  /// (whoever gives it to an event loop sets that). No operation may be in flight, nor any
  /// receive() have been awaited: either aborts with a message.
  ///
  /// @returns  no_descriptor if the stream is not open
  [[nodiscard]] native_descriptor release() noexcept { return socket_.release(); }
  bool is_open() const noexcept { return socket_.is_open(); }
  /// The descriptor, for calls that are not offered here: it stays ours.
  /// @returns  no_descriptor if there is none
  native_descriptor native_handle() const noexcept { return socket_.descriptor(); }

  /// Sets what `options` has, on a connection that lives.
  ///
  /// @throws  std::system_error naming the option
  void set_options(const tcp_options& options);
  /// As the system has them: all are set but those that are off. Linux counts its own bookkeeping
  /// in the buffers, so it names twice what was asked for. @throws std::system_error
  tcp_options options() const;
  /// One of them, as in tcp_options. @throws std::system_error
  void set_no_delay(bool on);
  void set_keep_alive(const std::optional<keep_alive>& alive);
  void set_linger(const std::optional<std::chrono::seconds>& span);
  void set_receive_buffer_bytes(std::size_t bytes);
  void set_send_buffer_bytes(std::size_t bytes);
  void set_user_timeout(std::chrono::milliseconds span);
  void set_quick_ack(bool on);

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
