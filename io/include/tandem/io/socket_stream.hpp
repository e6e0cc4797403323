// socket_stream.hpp: what connections of every kind of socket have in common.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/detail/operation.hpp>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/detail/socket_awaiter.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/receive_awaiter.hpp>
#include <tandem/result.hpp>
#include <tandem/task.hpp>
#include <utility>

namespace tandem::inline v0::io {

class file;
class splice_pipe;

enum class shutdown_kind : unsigned char { read, write, both };

/// Awaiter of socket_stream::read() and write(), and of those of pipes.
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

/// Awaiter of socket_stream::write_all(), and of that of pipes.
class [[nodiscard]] TANDEM_IO_API write_all_awaiter : public detail::socket_awaiter {
 public:
  using lossy_when_dropped = detail::lossy<detail::operation_kind::send_all>;

  write_all_awaiter(detail::socket& socket, std::span<const std::byte> bytes,
                    detail::operation_kind kind = detail::operation_kind::send_all) noexcept
      : socket_awaiter(kind, socket,
                       const_cast<std::byte*>(bytes.data()),  // NOLINT: the kernel only reads it
                       bytes.size()) {}

  void await_resume();
  result<void> await_resume_result();
};

/// Awaiter of socket_stream::write_all_zero_copy().
class [[nodiscard]] TANDEM_IO_API zero_copy_awaiter : public detail::socket_awaiter {
 public:
  using lossy_when_dropped =
      detail::lossy<detail::operation_kind::send_zero_copy, detail::operation_kind::send_all>;

  zero_copy_awaiter(detail::socket& socket, std::span<const std::byte> bytes) noexcept;

  void await_resume();
  result<void> await_resume_result();

 private:
  /// Whether it pays, as far as is known.
  static bool pays(detail::socket& socket, std::size_t bytes) noexcept;
  void end();
};

/// Awaiter of socket_stream::read() into several buffers.
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

/// Awaiter of socket_stream::write_all() of several buffers.
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

/// Base of tcp_stream and unix_stream: bytes in both directions, by one socket, which is bound to one
/// completion thread for life. It is made as one of those.
///
/// A second read, or write, while one is under way would get some of the first one's bytes: a build
/// with assertions aborts and names both tasks, others fail it with errc::operation_in_progress
/// and leave the first one alone.
///
/// @thread_safety  one read and one write at a time, from any task of its runtime; everything else
///                 by its owner
class TANDEM_IO_API socket_stream {
 public:
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

  /// As write_all(), without the copy into the kernel, where that pays: from 32 KiB on, by a ring
  /// of Linux 6.0, over a network whose hardware takes it. Else it is write_all(): also from then
  /// on, for this connection, once the system has said that it copies on the way (as loopback has
  /// to).
  ///
  /// @param bytes         alive until the await returns (also after a stop), which is when the
  ///                      peer's system has acknowledged them
  /// @throws              as write_all()
  /// @cancellation        ends it. A part may have been sent, and what the peer has not
  ///                      acknowledged is taken back: then the connection is reset, as by abort(),
  ///                      so that the await does not last until a peer answers that may never do so
  /// @thread_safety       one write at a time, beside a read
  /// @resumes_on          the caller's home
  /// @cost                one ring entry and two completions, no allocation; the wait for the peer
  /// @source              man page io_uring_enter(2): IORING_OP_SEND_ZC
  zero_copy_awaiter write_all_zero_copy(std::span<const std::byte> bytes) noexcept {
    return zero_copy_awaiter(socket_, bytes);
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

  /// Sends a part of a file, which goes from the page cache to the socket without passing through
  /// the program. What is not in memory is read first, by a ring or a thread of blocking(): neither
  /// a worker nor a completion thread waits for a disk.
  ///
  ///     std::uint64_t sent = co_await stream.send_file(page);
  ///
  /// @param from          stays open until the await returns
  /// @param bytes         at most so many: where the file ends before, up to there
  /// @returns             bytes sent: fewer than asked for at the end of the file only
  /// @throws              as write_all(), also after some were sent: copy() counts them
  ///                      (copy_options::progress); of reading, as file::read_at();
  ///                      std::bad_alloc
  /// @cancellation        as that of write_all()
  /// @thread_safety       as a write; of the file any number at a time
  /// @resumes_on          the caller's home
  /// @cost                a frame; a call for each 256 KiB, and two that ask whether they are in
  ///                      memory. A buffer of 256 KiB where a part of it is not, or the system has
  ///                      no such call (on Linux only it has)
  /// @source              man page sendfile(2)
  task<std::uint64_t> send_file(file& from, std::uint64_t offset = 0,
                                std::uint64_t bytes = UINT64_MAX);
  /// As above, but what a stop or an error has left is told as fewer bytes, as write() does: for
  /// whoever goes on where it ended.
  ///
  /// @returns       bytes sent: fewer than asked for at the end of the file, or if a stop or an
  ///                error came after some of them, which the next call tells; 0 at the end
  /// @throws        as write(); of reading, as file::read_at(); std::bad_alloc
  /// @cancellation  ends it between and during the parts: what was sent before is returned
  task<std::uint64_t> send_file_some(file& from, std::uint64_t offset = 0,
                                     std::uint64_t bytes = UINT64_MAX);

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

  /// The executor of the completion thread that serves this socket: the cheapest home for its task.
  /// pre: it was opened.
  tandem::executor& thread_executor() noexcept {
    TANDEM_ASSERT(socket_.thread() != nullptr,
                  "thread_executor() of a stream that was never opened");
    return socket_.thread()->executor();
  }

 protected:
  socket_stream() noexcept = default;
  explicit socket_stream(detail::socket&& socket) noexcept : socket_(std::move(socket)) {}
  socket_stream(socket_stream&&) noexcept = default;
  socket_stream& operator=(socket_stream&&) noexcept = default;
  ~socket_stream() = default;
  friend class splice_pipe;

  detail::socket socket_;
};

}  // namespace tandem::inline v0::io
