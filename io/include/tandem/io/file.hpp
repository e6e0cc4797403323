// file.hpp: a file that is open: reading, writing, and what else is asked of it.
// SPDX-License-Identifier: MIT
//
// A file belongs to no thread: what has to wait goes to the ring of the completion thread that the
// task is on, else to one of them in turn; where there are no rings, to a thread of blocking().
// Protocol files: io/src/file/README.md.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tandem/io/aligned_buffer.hpp>
#include <tandem/io/detail/file_handle.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/file_access.hpp>
#include <tandem/io/file_awaiters.hpp>
#include <tandem/io/file_status.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/io/open_options.hpp>
#include <tandem/io/owned_descriptor.hpp>
#include <tandem/io/registered_buffer.hpp>
#include <utility>

namespace tandem::inline v0::io {

/// A descriptor of a file. There is no position: every transfer says where it begins.
///
///     auto source = co_await tandem::io::file::open("data");
///     for (std::uint64_t at = 0; const std::size_t n = co_await source.read_at(buffer, at); at += n) {
///       use(std::span(buffer).first(n));
///     }
///
/// Closing or moving one with an operation in flight is a broken precondition, and aborts with a
/// message.
///
/// @thread_safety  any number of transfers and commands at a time, from any tasks of any runtime;
///                 moving and closing by its owner
class TANDEM_IO_API file {
 public:
  /// Not open: every call fails with errc::bad_file_descriptor.
  file() noexcept = default;

  /// Opens a file. Of a pipe the other end is not waited for (nor are pipes what this class is
  /// for). A folder opens for reading, too, and only its read_at() fails: where that matters ask
  /// status() for its kind.
  ///
  /// @param path     UTF-8, or whatever bytes the system takes
  /// @throws         std::system_error naming the path: no_such_file_or_directory,
  ///                 permission_denied, file_exists, is_a_directory, ...; operation_cancelled;
  ///                 std::logic_error outside any task; std::invalid_argument, at once, for options
  ///                 that contradict each other
  /// @cancellation   may lose the race and return the file
  /// @resumes_on     the caller's home
  /// @cost           one ring entry; the path is kept for error texts
  static file_open_awaiter open(std::string path, const open_options& options = {}) {
    return {detail::file_action::open, nullptr, std::move(path), options};
  }
  /// Opens a file beneath this one, which is a folder. Where the path leads is decided while it is
  /// followed, by the system itself: whoever exchanges files, folders and links beneath the folder
  /// meanwhile changes what is found, but cannot lead out of it. For paths that others have chosen.
  ///
  ///     tandem::io::file root = co_await tandem::io::file::open("/srv/files");
  ///     tandem::io::file found = co_await root.open_beneath(path_of(request));
  ///
  /// @param relative  symbolic links that stay beneath the folder are followed
  /// @throws          std::system_error naming both: cross_device_link for what leads out of the
  ///                  folder (an absolute path, a link to one, a ".." too many); else as open()
  /// @cancellation    may lose the race and return the file
  /// @thread_safety   any number at a time
  /// @resumes_on      the caller's home
  /// @cost            a call on a thread of blocking()
  /// @source          man page openat2(2): RESOLVE_BENEATH; before Linux 5.6, or where it is
  ///                  filtered, a walk of our own that is as strict
  file_open_awaiter open_beneath(std::string relative, const open_options& options = {}) {
    return {detail::file_action::open_beneath, &handle_, std::move(relative), options};
  }
  /// Takes over a descriptor, and makes it close-on-exec and blocking.
  ///
  /// @param name     for error texts; empty: the number
  /// @throws         std::system_error if it is not open: then it stays the caller's
  static file from_native(native_descriptor descriptor, std::string name = {});
  /// As above, of one who owns it: closed with the owner if it is refused.
  static file from_native(owned_descriptor&& descriptor, std::string name = {}) {
    return detail::from_owned<file>(std::move(descriptor), std::move(name));
  }

  bool is_open() const noexcept { return handle_.is_open(); }
  /// As open() was told, or from_native().
  const std::string& path() const noexcept { return handle_.path(); }
  native_descriptor native_handle() const noexcept { return handle_.descriptor(); }
  /// Gives the descriptor up without closing it. @returns no_descriptor if there is none
  native_descriptor release() noexcept { return handle_.release(); }
  /// Ends it; an error that the system tells only then (a network's disk that is full) goes unseen:
  /// sync() first, where it matters.
  void close() noexcept { handle_.close(); }

  /// Reads from `offset` until the buffer is full or the file ends.
  ///
  /// @param buffer        stays the caller's, alive until the await returns (also after a stop)
  /// @returns             bytes read: fewer than asked for at the end of the file only, or if a
  ///                      stop or an error came after some of them; 0 at the end
  /// @throws              std::system_error naming path and offset: is_a_directory,
  ///                      invalid_argument (a direct transfer that is not aligned: then the text
  ///                      says to what), bad_file_descriptor, io_error, ...; operation_cancelled;
  ///                      std::logic_error if it has to wait outside any task
  /// @cancellation        what has begun is waited for, so it ends late by design; bytes that were
  ///                      read before are returned
  /// @thread_safety       any number at a time
  /// @resumes_on          the caller's home
  /// @cost                what the page cache has: one system call, in place, charged to the await
  ///                      budget. Else a ring entry. No allocation
  /// @source              man page preadv2(2): RWF_NOWAIT
  file_transfer_awaiter read_at(std::span<std::byte> buffer, std::uint64_t offset) noexcept {
    return {detail::file_action::read, handle_, buffer.data(), buffer.size(), offset};
  }
  /// As above, into a part of a buffer that the rings know: a long direct read costs about half
  /// the CPU.
  ///
  /// @param part     the buffer is alive until the await returns (also after a stop)
  /// @source         man page io_uring_enter(2): IORING_OP_READ_FIXED
  file_transfer_awaiter read_at(registered_bytes part, std::uint64_t offset) noexcept {
    return {detail::file_action::read, handle_, part, offset};
  }
  /// As above, into one buffer after the other.
  ///
  /// @param list  any number of buffers; the list stays the caller's, too, until the await returns
  template <std::convertible_to<std::span<const std::span<std::byte>>> List>
  vectored_file_transfer_awaiter read_at(const List& list, std::uint64_t offset) noexcept {
    return {detail::file_action::read, handle_,
            detail::segment_window(std::span<const std::span<std::byte>>(list)), offset};
  }
  /// Fills the buffer.
  ///
  /// @throws         as read_at(), also if some bytes had been read; std::system_error
  ///                 (stream_errc::unexpected_end) if the file ends before
  /// @cancellation   what has begun is waited for; if that was not all, it throws
  ///                 operation_cancelled, and what the buffer holds is not told
  /// @resumes_on     the caller's home
  file_transfer_all_awaiter read_exactly_at(std::span<std::byte> buffer,
                                            std::uint64_t offset) noexcept {
    return {detail::file_action::read, handle_, buffer.data(), buffer.size(), offset};
  }
  /// As above, a part of a buffer that the rings know, as in read_at().
  file_transfer_all_awaiter read_exactly_at(registered_bytes part, std::uint64_t offset) noexcept {
    return {detail::file_action::read, handle_, part, offset};
  }
  /// As above, into one buffer after the other; the list as in read_at().
  template <std::convertible_to<std::span<const std::span<std::byte>>> List>
  vectored_file_transfer_all_awaiter read_exactly_at(const List& list,
                                                     std::uint64_t offset) noexcept {
    return {detail::file_action::read, handle_,
            detail::segment_window(std::span<const std::span<std::byte>>(list)), offset};
  }

  /// Writes from `offset` until all is written or something is in the way.
  ///
  /// @returns        bytes written: fewer than given only if a stop or an error came after some of
  ///                 them, which the next call will tell
  /// @throws         std::system_error naming path and offset: no_space_on_device, file_too_large,
  ///                 ...; as read_at()
  /// @cancellation   as read_at()
  /// @cost           as read_at(); on a file system whose writes may always wait (ext4) a ring
  ///                 entry and a thread of the kernel
  file_transfer_awaiter write_at(std::span<const std::byte> bytes, std::uint64_t offset) noexcept {
    return {detail::file_action::write, handle_, bytes.data(), bytes.size(), offset};
  }
  /// As above, from a part of a buffer that the rings know, as in read_at().
  template <class Byte>
  file_transfer_awaiter write_at(registered_part<Byte> part, std::uint64_t offset) noexcept {
    return {detail::file_action::write, handle_, part.without_const(), offset};
  }
  /// Writes all of it.
  ///
  /// @throws         as write_at(). How much was written is not known then
  /// @cancellation   as read_exactly_at()
  /// @resumes_on     the caller's home
  file_transfer_all_awaiter write_all_at(std::span<const std::byte> bytes,
                                         std::uint64_t offset) noexcept {
    return {detail::file_action::write, handle_, bytes.data(), bytes.size(), offset};
  }
  /// As above, from a part of a buffer that the rings know, as in read_at().
  template <class Byte>
  file_transfer_all_awaiter write_all_at(registered_part<Byte> part,
                                         std::uint64_t offset) noexcept {
    return {detail::file_action::write, handle_, part.without_const(), offset};
  }
  /// As above, one buffer after the other; the list as in read_at().
  template <std::convertible_to<std::span<const std::span<const std::byte>>> List>
  vectored_file_transfer_all_awaiter write_all_at(const List& list, std::uint64_t offset) noexcept {
    return {detail::file_action::write, handle_,
            detail::segment_window(std::span<const std::span<const std::byte>>(list)), offset};
  }
  /// Writes all of it at the end of the file, wherever that is by then: in one piece beside other
  /// appends, of this process or others, unless the system takes only a part (no space).
  ///
  /// @throws         as write_all_at()
  /// @cancellation   as read_exactly_at()
  /// @resumes_on     the caller's home
  /// @cost           a ring entry and a thread of the kernel
  /// @source         man page pwritev2(2): RWF_APPEND
  file_transfer_all_awaiter append(std::span<const std::byte> bytes) noexcept {
    return {detail::file_action::append, handle_, bytes.data(), bytes.size(), 0};
  }

  /// Ends when what was written is on the disk, and with it whatever is needed to find it.
  ///
  /// @throws         std::system_error: an error of an earlier write, too, that was told to nobody
  /// @cancellation   what has begun is waited for, and its result counts; else it is not begun
  /// @resumes_on     the caller's home
  /// @source         man pages fsync(2), fdatasync(2)
  file_command_awaiter sync() noexcept { return {detail::file_action::sync, handle_, 0}; }
  /// As above, without times and permissions.
  file_command_awaiter sync_data() noexcept { return {detail::file_action::sync_data, handle_, 0}; }
  /// Cuts the file off, or lengthens it by a hole.
  ///
  /// @throws         std::system_error: bad_file_descriptor, invalid_argument (not writable), ...
  /// @cancellation   as sync()
  /// @resumes_on     the caller's home
  /// @cost           a ring entry (Linux 6.9), else a call on a thread of blocking()
  file_command_awaiter truncate(std::uint64_t size) noexcept {
    return {detail::file_action::truncate, handle_, size};
  }
  /// Takes room on the disk for a part of the file, which grows if that is past its end.
  ///
  /// @throws         std::system_error: no_space_on_device, operation_not_supported, ...
  /// @cancellation   as sync()
  /// @resumes_on     the caller's home
  file_command_awaiter allocate(std::uint64_t offset, std::size_t bytes) noexcept {
    return {detail::file_action::allocate, handle_, offset, bytes};
  }
  /// Says how a part of the file is going to be read. Only a hint: where the system takes none,
  /// nothing happens.
  ///
  /// @param bytes    0: to the end
  /// @throws         std::system_error: bad_file_descriptor, invalid_seek (a pipe), ...
  /// @cancellation   as sync()
  /// @resumes_on     the caller's home
  /// @cost           a ring entry
  /// @source         man page posix_fadvise(2)
  file_command_awaiter advise(file_access how, std::uint64_t offset = 0,
                              std::size_t bytes = 0) noexcept;
  /// Sets who may do what with it, whatever it is called by now.
  ///
  /// @param permissions  as in open_options, with the set-id and sticky bits; no umask is taken
  ///                     off. On Windows only whether anybody may write
  /// @throws         std::system_error: operation_not_permitted, ...
  /// @cancellation   as sync()
  /// @resumes_on     the caller's home
  /// @cost           a call on a thread of blocking()
  file_command_awaiter set_permissions(unsigned permissions) noexcept {
    return {detail::file_action::set_permissions, handle_, 0, 0, 0, permissions};
  }
  /// Size, kind, permissions, times.
  ///
  /// @throws         std::system_error: bad_file_descriptor, ...; operation_cancelled
  /// @cancellation   as sync()
  /// @resumes_on     the caller's home
  file_status_awaiter status() noexcept { return file_status_awaiter(handle_); }

  /// What buffers, offsets and sizes of direct transfers have to be multiples of: as the file
  /// system says, else 4096. Does not wait.
  std::size_t direct_io_alignment() const noexcept { return handle_.direct_io_alignment(); }

  // Implementation
  explicit file(detail::file_handle handle) noexcept : handle_(std::move(handle)) {}
  detail::file_handle& handle() noexcept { return handle_; }

 private:
  detail::file_handle handle_;
};

}  // namespace tandem::inline v0::io
