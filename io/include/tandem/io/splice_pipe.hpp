// splice_pipe.hpp: bytes that go through a pipe of the system's, and not through the program.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <tandem/io/detail/file_awaiter.hpp>
#include <tandem/io/detail/other_end.hpp>
#include <tandem/io/detail/socket_awaiter.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/owned_descriptor.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io {

class file;
class socket_stream;
class splice_pipe;

/// Awaiter of splice_pipe::fill_from() and drain_to() of a connection.
class [[nodiscard]] TANDEM_IO_API splice_awaiter : public detail::socket_awaiter {
 public:
  using lossy_when_dropped =
      detail::lossy<detail::operation_kind::fill_pipe, detail::operation_kind::drain_pipe>;

  splice_awaiter(detail::operation_kind kind, splice_pipe& pipe, detail::socket& other,
                 std::size_t most) noexcept;

  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    aim();
    return socket_awaiter::await_suspend(self);
  }
  std::size_t await_resume();
  result<std::size_t> await_resume_result();

 private:
  void aim() noexcept;
  std::size_t moved() noexcept;

  splice_pipe* pipe_;
  detail::other_end end_;
};

/// Awaiter of splice_pipe::fill_from() and drain_to() of a file.
class [[nodiscard]] TANDEM_IO_API splice_file_awaiter : public detail::file_awaiter {
 public:
  splice_file_awaiter(detail::file_action action, splice_pipe& pipe, detail::file_handle& other,
                      std::uint64_t offset, std::size_t most) noexcept;

  bool await_ready() noexcept;
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    return suspend(self.promise());
  }
  std::size_t await_resume();
  result<std::size_t> await_resume_result();

 private:
  bool suspend(tandem::detail::promise_base& waiting);
  std::error_code end();
  std::size_t moved() noexcept;

  splice_pipe* pipe_;
  detail::other_end end_;
};

/// A pipe that is filled from a connection or a file, and drained into another one: the bytes stay
/// where the system has them. It pays for streams of some length; copy() does this by itself where
/// it does.
///
///     tandem::io::splice_pipe pipe;
///     while (co_await pipe.fill_from(client) != 0) {
///       while (pipe.held() != 0) (void)co_await pipe.drain_to(server);
///     }
///
/// Moving or destroying one with an operation in flight, or beginning a second one, is a broken
/// precondition, and aborts with a message.
///
/// @thread_safety  one call at a time
/// @source         man page splice(2)
class TANDEM_IO_API splice_pipe {
 public:
  static constexpr std::size_t all = SIZE_MAX;

  /// @param capacity  asked for; the system may give less: all pipes of a user share what it allows
  ///                  (man page pipe(7): pipe-user-pages-soft, 64 MiB)
  /// @throws          std::system_error: too_many_files_open, ...; not_supported, where the system
  ///                  has no splice(): on Linux only it has
  explicit splice_pipe(std::size_t capacity = std::size_t{256} << 10);
  splice_pipe(splice_pipe&& other) noexcept;
  splice_pipe& operator=(splice_pipe&& other) noexcept;
  ~splice_pipe();

  /// Takes what has come by a connection, without the program's seeing it. Not after receive().
  ///
  /// @param most     at most so many bytes
  /// @returns        bytes taken; 0 at the end of the stream
  /// @throws         as socket_stream::read(); std::system_error: invalid_argument if the pipe
  ///                 holds something, or `most` is 0
  /// @cancellation   may lose the race and return what was taken; no byte is lost: it is held()
  /// @thread_safety  as a read of the stream
  /// @resumes_on     the caller's home
  /// @cost           as a read; the first one sets the socket's mode
  splice_awaiter fill_from(socket_stream& from, std::size_t most = all) noexcept;
  /// Gives what it holds to a connection.
  ///
  /// @returns        bytes given, maybe fewer than held(); 0 if it holds nothing
  /// @throws         as socket_stream::write()
  /// @cancellation   may lose the race and return what was given; the rest is held()
  /// @thread_safety  as a write of the stream
  /// @resumes_on     the caller's home
  splice_awaiter drain_to(socket_stream& to, std::size_t most = all) noexcept;
  /// Takes a part of a file.
  ///
  /// @returns        bytes taken; 0 at the end of the file
  /// @throws         as file::read_at(); invalid_argument as above
  /// @cancellation   what has begun is waited for, and its result counts
  /// @resumes_on     the caller's home
  /// @cost           a ring entry and a thread of the kernel; where there are no rings a call on a
  ///                 thread of blocking()
  splice_file_awaiter fill_from(file& from, std::uint64_t offset, std::size_t most = all) noexcept;
  /// Gives what it holds to a file. @throws as file::write_at()
  splice_file_awaiter drain_to(file& to, std::uint64_t offset, std::size_t most = all) noexcept;

  /// Bytes in it.
  std::size_t held() const noexcept { return held_; }
  std::size_t capacity() const noexcept { return capacity_; }

 private:
  friend class splice_awaiter;
  friend class splice_file_awaiter;

  void begin_operation() noexcept;
  void end_operation() noexcept { is_in_use_ = false; }
  /// What one call may move; 0: it must not be made.
  std::size_t room(std::size_t most) const noexcept;
  std::size_t rest(std::size_t most) const noexcept;

  owned_descriptor reading_;
  owned_descriptor writing_;
  std::size_t capacity_ = 0;
  std::size_t held_ = 0;
  bool is_in_use_ = false;  // written by the task whose call it is
};

}  // namespace tandem::inline v0::io
