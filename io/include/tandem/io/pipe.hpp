// pipe.hpp: pipes, whose ends are streams of bytes.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <tandem/io/detail/operation_kind.hpp>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/owned_descriptor.hpp>
#include <tandem/io/socket_stream.hpp>
#include <utility>

namespace tandem::inline v0::io {

class completion_pool;

/// Awaiter of pipe_reader::read() and pipe_writer::write().
class [[nodiscard]] TANDEM_IO_API pipe_transfer_awaiter : public transfer_awaiter {
 public:
  pipe_transfer_awaiter(detail::operation_kind kind, detail::socket& end, void* buffer,
                        std::size_t bytes) noexcept
      : transfer_awaiter(kind, end, buffer, bytes) {
    operation_.try_at_home();
  }
  std::size_t await_resume();
};

/// Awaiter of pipe_writer::write_all().
class [[nodiscard]] TANDEM_IO_API pipe_write_all_awaiter : public write_all_awaiter {
 public:
  pipe_write_all_awaiter(detail::socket& end, std::span<const std::byte> bytes) noexcept
      : write_all_awaiter(end, bytes, detail::operation_kind::write_all_pipe) {
    operation_.try_at_home();
  }
  void await_resume();
};

/// What both ends of a pipe have in common.
class TANDEM_IO_API pipe_end {
 public:
  /// Gives the descriptor back; harmless if done before. No operation may be in flight.
  void close() noexcept { end_.close(); }
  /// Gives the descriptor up without closing it: it is the caller's now, and calls on it block. No
  /// operation may be in flight. (On Windows it is overlapped as before, and has left our
  /// completion port.)
  ///
  /// @returns  no_descriptor if it is not open
  [[nodiscard]] native_descriptor release() noexcept;
  bool is_open() const noexcept { return end_.is_open(); }
  /// The descriptor, for calls that are not offered here: it stays ours, and does not block.
  /// @returns  no_descriptor if there is none
  native_descriptor native_handle() const noexcept { return end_.descriptor(); }
  /// The executor of the completion thread that serves it: the cheapest home for its task.
  /// pre: it was opened.
  tandem::executor& thread_executor() noexcept {
    TANDEM_ASSERT(end_.thread() != nullptr, "thread_executor() of a pipe that was never opened");
    return end_.thread()->executor();
  }

 protected:
  pipe_end() noexcept = default;
  explicit pipe_end(detail::socket&& end) noexcept : end_(std::move(end)) {}
  pipe_end(pipe_end&&) noexcept = default;
  pipe_end& operator=(pipe_end&&) noexcept = default;
  ~pipe_end() = default;

  detail::socket end_;
};

/// The end of a pipe that is read: a readable_stream, so that buffered_reader, read_frame() and
/// copy() take it. A second read while one is under way is refused as that of a socket_stream.
///
/// @thread_safety  one read at a time, from any task of its runtime; everything else by its owner
class TANDEM_IO_API pipe_reader : public pipe_end {
 public:
  /// Not open: a read fails with errc::bad_file_descriptor.
  pipe_reader() noexcept = default;
  pipe_reader(pipe_reader&&) noexcept = default;
  pipe_reader& operator=(pipe_reader&&) noexcept = default;

  /// Takes over the reading end of a pipe, or a FIFO that was opened to be read. On Windows a pipe
  /// of bytes, not of messages, that was opened with FILE_FLAG_OVERLAPPED, so none of CreatePipe(),
  /// and belongs to no other completion port.
  ///
  /// @param descriptor  belongs to the pipe_reader from now on; becomes close-on-exec and
  ///                    non-blocking, also for whoever else has this end of it
  /// @throws            std::system_error that says what it is instead: then it is still the
  ///                    caller's; std::logic_error outside any task
  static pipe_reader from_native(native_descriptor descriptor);
  /// As above, anywhere: for a pool that exists.
  static pipe_reader from_native(completion_pool& pool, native_descriptor descriptor);
  /// As above, of one who owns it: closed with the owner if it is refused.
  static pipe_reader from_native(owned_descriptor&& descriptor) {
    return detail::from_owned<pipe_reader>(std::move(descriptor));
  }
  static pipe_reader from_native(completion_pool& pool, owned_descriptor&& descriptor) {
    return detail::from_owned<pipe_reader>(pool, std::move(descriptor));
  }

  /// Reads up to `buffer.size()` bytes.
  ///
  /// @param buffer        stays the caller's, alive until the await returns (also after a stop)
  /// @returns             bytes read; 0 when nobody has the writing end any more, or for an empty
  ///                      buffer
  /// @throws              std::system_error: bad_file_descriptor, ...; operation_cancelled
  /// @cancellation        may lose the race and return data; no byte is ever lost
  /// @thread_safety       one read at a time
  /// @resumes_on          the caller's home
  /// @cost                a non-blocking try first; else one wait for readiness; no allocation
  pipe_transfer_awaiter read(std::span<std::byte> buffer) noexcept {
    return {detail::operation_kind::read_pipe, end_, buffer.data(), buffer.size()};
  }

  // Implementation
  explicit pipe_reader(detail::socket&& end) noexcept : pipe_end(std::move(end)) {}
};

/// The end of a pipe that is written: a counting_stream, so that buffered_writer, write_frame() and
/// copy() take it. No SIGPIPE comes of it, whatever thread the task runs on.
///
/// @thread_safety  one write at a time, from any task of its runtime; everything else by its owner
class TANDEM_IO_API pipe_writer : public pipe_end {
 public:
  /// Not open: a write fails with errc::bad_file_descriptor.
  pipe_writer() noexcept = default;
  pipe_writer(pipe_writer&&) noexcept = default;
  pipe_writer& operator=(pipe_writer&&) noexcept = default;

  /// As pipe_reader::from_native(), of the writing end.
  static pipe_writer from_native(native_descriptor descriptor);
  /// As above, anywhere: for a pool that exists.
  static pipe_writer from_native(completion_pool& pool, native_descriptor descriptor);
  /// As above, of one who owns it: closed with the owner if it is refused.
  static pipe_writer from_native(owned_descriptor&& descriptor) {
    return detail::from_owned<pipe_writer>(std::move(descriptor));
  }
  static pipe_writer from_native(completion_pool& pool, owned_descriptor&& descriptor) {
    return detail::from_owned<pipe_writer>(pool, std::move(descriptor));
  }

  /// Writes up to `bytes.size()` bytes; fewer than that is no error.
  ///
  /// @param bytes         alive until the await returns (also after a stop)
  /// @returns             bytes that the pipe has taken. What is no longer than PIPE_BUF (4096 on
  ///                      Linux) goes in one piece
  /// @throws              std::system_error: broken_pipe (nobody has the reading end any more),
  ///                      ...; operation_cancelled
  /// @cancellation        may lose the race and return what was written. On Windows a part of the
  ///                      last piece of up to 4096 bytes may have been read by then, and is not
  ///                      counted
  /// @thread_safety       one write at a time
  /// @resumes_on          the caller's home
  /// @cost                a non-blocking try first; else one wait for readiness; no allocation. On
  ///                      Windows no try, and 4096 bytes at most each time
  pipe_transfer_awaiter write(std::span<const std::byte> bytes) noexcept {
    return {detail::operation_kind::write_pipe, end_,
            const_cast<std::byte*>(bytes.data()),  // NOLINT: the kernel only reads it
            bytes.size()};
  }
  /// Writes all of `bytes`.
  ///
  /// @throws         as write(); how much was written before is then unknown
  /// @cancellation   between and during the writes: a part may have been written. write() says how
  ///                 much it was
  /// @cost           one await, however many transfers it takes; no allocation
  pipe_write_all_awaiter write_all(std::span<const std::byte> bytes) noexcept {
    return {end_, bytes};
  }
  /// Ends what is written, as that of a byte_stream does: whoever reads comes to the end after it.
  /// A pipe has nothing else to offer, so this is close().
  void shutdown() noexcept { close(); }

  // Implementation
  explicit pipe_writer(detail::socket&& end) noexcept : pipe_end(std::move(end)) {}
};

/// Both ends of a new pipe.
///
///     auto [reader, writer] = tandem::io::make_pipe();
///     co_await writer.write_all(tandem::io::bytes_of("to myself"));
///
/// On Windows it is a pipe with a name, which nobody else is told: those without one cannot be
/// waited for.
///
/// @throws  std::system_error: too_many_files_open, ...; std::logic_error outside any task
/// @cost    one system call, or two; no wait
/// @source  man page pipe(7); Windows: CreateNamedPipeW
TANDEM_IO_API std::pair<pipe_reader, pipe_writer> make_pipe();
/// As above, anywhere: for a pool that exists.
TANDEM_IO_API std::pair<pipe_reader, pipe_writer> make_pipe(completion_pool& pool);

}  // namespace tandem::inline v0::io
