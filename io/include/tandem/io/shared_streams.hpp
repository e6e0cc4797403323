// shared_streams.hpp: bytes from and to descriptors that other processes use, too.
// SPDX-License-Identifier: MIT
//
// What a process inherits - its standard input, above all - is shared with whoever has started it.
// So its mode is not changed: a program that makes its standard input non-blocking leaves the
// shell, and all that the shell starts, with calls that fail. How it is done instead:
// io/src/terminal/README.md.
#pragma once

#include <cstddef>
#include <span>
#include <tandem/io/bytes_of.hpp>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/detail/shared_stream.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/shared_awaiters.hpp>
#include <utility>

namespace tandem::inline v0::io {

/// Reads from a terminal, pipe, socket, device or file that is others' as well.
///
///     auto input = tandem::io::standard_input();
///     std::array<std::byte, 4096> room;
///     while (const std::size_t n = co_await input.read(room)) use(std::span(room).first(n));
///
/// @thread_safety  one read at a time, from any task of its runtime; everything else by its owner
class TANDEM_IO_API shared_input {
 public:
  /// Not open: every call fails with errc::bad_file_descriptor.
  shared_input() noexcept = default;
  /// For a descriptor of the caller's, which stays as it is, and may be closed at once.
  ///
  /// @param pool  whose threads wait for it; left out: that of the task
  /// @throws      std::system_error: bad_file_descriptor (also if it is not open for this
  ///              direction), too_many_files_open, ...; not_supported on Windows for sockets,
  ///              and for files opened with FILE_FLAG_OVERLAPPED, which have no position;
  ///              std::logic_error outside any task if no pool is given
  /// @cost        some system calls, none of which waits, and a descriptor
  static shared_input of(native_descriptor descriptor);
  static shared_input of(completion_pool& pool, native_descriptor descriptor);

  /// Waits until there is something to read, and takes up to `buffer.size()` bytes of it: of a
  /// terminal one line, unless its mode is another one (terminal_scope). A file is read on from
  /// where it stands, until the buffer is full or the file ends.
  ///
  /// @param buffer        stays the caller's, alive until the await returns (also after a stop)
  /// @returns             bytes read; 0 at the end (of a terminal Ctrl-D, or it is gone), or for an
  ///                      empty buffer
  /// @throws              std::system_error: io_error (a process in the background that asks its
  ///                      terminal), is_a_directory, ...; operation_in_progress for a
  ///                      second read; operation_cancelled
  /// @cancellation        may lose the race and return bytes; none is ever lost. Of a file, what
  ///                      has begun is waited for. A console of Windows may drop the part of a line
  ///                      that was typed so far
  /// @thread_safety       one read at a time. Another process may read the same pipe or terminal:
  ///                      each byte goes to one of them
  /// @resumes_on          the caller's home
  /// @cost                on a worker a try first; else one ring entry. Of a file what the page
  ///                      cache has is read in place; else a call on a thread of blocking(), as
  ///                      everything on Windows, where a read that waits keeps that thread. No
  ///                      allocation
  /// @source              man pages preadv2(2): RWF_NOWAIT; proc_pid_fd(5); on Windows
  ///                      CancelSynchronousIo()
  shared_transfer_awaiter read(std::span<std::byte> buffer) noexcept { return {stream_, buffer}; }

  bool is_open() const noexcept { return stream_.is_open(); }
  /// For terminal_scope and terminal_size, and for calls that are not offered here.
  /// @returns  no_descriptor if there is none
  native_descriptor native_handle() const noexcept { return stream_.descriptor(); }
  /// Gives ours back; the others' stays open. Harmless if done before. No read may be in flight.
  void close() noexcept { stream_.close(); }

 private:
  explicit shared_input(detail::shared_stream stream) noexcept : stream_(std::move(stream)) {}

  detail::shared_stream stream_;
};

/// Writes to a terminal, pipe, socket, device or file that is others' as well.
///
///     auto output = tandem::io::standard_output();
///     co_await output.write_all(tandem::io::bytes_of("done\n"));
///
/// @thread_safety  one write at a time, from any task of its runtime; everything else by its owner
class TANDEM_IO_API shared_output {
 public:
  /// Not open: every call fails with errc::bad_file_descriptor.
  shared_output() noexcept = default;
  /// These as those of shared_input.
  static shared_output of(native_descriptor descriptor);
  static shared_output of(completion_pool& pool, native_descriptor descriptor);

  /// Writes what there is room for, and waits only where there is none: a slow reader of a pipe, a
  /// terminal that is halted (Ctrl-S), holds up nobody but this task. To a file all of it is
  /// written, where that stands, or at its end if it was opened so (`>>`).
  ///
  /// @param bytes         stays the caller's, alive until the await returns (also after a stop)
  /// @returns             bytes written
  /// @throws              std::system_error: broken_pipe (never a SIGPIPE), no_space_on_device,
  ///                      io_error, ...; operation_in_progress for a second write;
  ///                      operation_cancelled
  /// @cancellation        may lose the race and return how much was written; of a file, what has
  ///                      begun is waited for. On Windows a pipe is written to until all of it is
  ///                      in there, and what a stopped write has left in it is not known
  /// @thread_safety       one write at a time. Where other processes write to the same pipe, up to
  ///                      512 bytes stay in one piece (PIPE_BUF: 4096 on Linux)
  /// @resumes_on          the caller's home
  /// @cost                as shared_input::read(); four calls more, which keep SIGPIPE back
  shared_transfer_awaiter write(std::span<const std::byte> bytes) noexcept {
    return {stream_, bytes};
  }
  /// Writes all of it.
  ///
  /// @throws         as write(). How much was written is not known then
  /// @cancellation   what was written before a stop was written, and not told
  /// @resumes_on     the caller's home
  shared_write_all_awaiter write_all(std::span<const std::byte> bytes) noexcept {
    return {stream_, bytes};
  }

  /// These as those of shared_input.
  bool is_open() const noexcept { return stream_.is_open(); }
  native_descriptor native_handle() const noexcept { return stream_.descriptor(); }
  void close() noexcept { stream_.close(); }

 private:
  explicit shared_output(detail::shared_stream stream) noexcept : stream_(std::move(stream)) {}

  detail::shared_stream stream_;
};

/// The process's own, each time anew.
///
/// @throws         as shared_input::of(); bad_file_descriptor if it was started without, also where
///                 the number has gone to a descriptor that is close-on-exec since
/// @thread_safety  any
TANDEM_IO_API shared_input standard_input();
TANDEM_IO_API shared_output standard_output();
TANDEM_IO_API shared_output standard_error();

}  // namespace tandem::inline v0::io
