// file_watch.hpp: waits for changes of directories and files.
// SPDX-License-Identifier: MIT
//
// The system writes changes to a descriptor, or a completion port, of a completion thread: nothing
// is polled.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/detail/socket_awaiter.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/file_change.hpp>
#include <tandem/io/path_options.hpp>
#include <tandem/result.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::io {

class file_watch;
namespace platform {
class watch_set;
}

/// Awaiter of file_watch::next().
class [[nodiscard]] TANDEM_IO_API file_change_awaiter : public detail::socket_awaiter {
 public:
  using lossy_when_dropped = detail::lossy<detail::operation_kind::read_own>;

  explicit file_change_awaiter(file_watch& watch) noexcept;
  file_change_awaiter(file_change_awaiter&& other) noexcept : file_change_awaiter(*other.watch_) {}

  bool await_ready() noexcept;
  file_change await_resume();
  result<file_change> await_resume_result();

 private:
  file_watch* watch_;
  bool is_there_ = false;  // more is left of what was read
};

/// Changes of the directories and files that were added to it, in the order in which they came.
///
///     tandem::io::file_watch watch;
///     co_await watch.add("inbox", tandem::io::watch_for::names | tandem::io::watch_for::writers);
///     while (true) {
///       const tandem::io::file_change change = co_await watch.next();
///       const bool is_whole = change.kind == tandem::io::change_kind::closed_by_writer ||
///                             change.kind == tandem::io::change_kind::moved_to;
///       if (is_whole) handle(change.name);
///     }
///
/// What was `created` has no contents yet. write_file(), and most editors, make a file of another
/// name, which is told, too, and then `moved_to` the one that it is to have.
/// A directory is watched without those beneath it. What happened before add() had returned is not
/// told, so look after it. Some ten thousand changes are kept that nobody has asked for, then
/// `overflow` takes the place of the others. A change that is equal to the one before it, which was
/// not read yet, the system drops: so they cannot be counted.
///
/// Windows tells less, and some of it otherwise: what moves from one directory to another one is
/// `removed` here and `created` there; that a directory that is watched has moved is not told, but
/// its watch goes on; a file's watch ends where it leaves its directory, or another one takes its
/// name. Attributes may be told before what came earlier, or after what came later.
///
/// Destroying one with a next() or an add() in flight is a broken precondition, and aborts with a
/// message.
///
/// @thread_safety  next() by one task at a time; add() and remove() any number beside it
class TANDEM_IO_API file_watch {
 public:
  /// @throws  std::system_error: not_supported where the system has nothing of the kind (Linux and
  ///          Windows have), too_many_files_open; std::logic_error outside any task
  file_watch();
  file_watch(const file_watch&) = delete;
  file_watch& operator=(const file_watch&) = delete;
  ~file_watch();

  /// Begins to watch a directory or a file, wherever it is moved.
  ///
  /// @param what     of one that is watched already: instead of what it was watched for
  /// @returns        a number that its changes have; the same for one that is watched already
  /// @throws         std::system_error naming the path: no_such_file_or_directory,
  ///                 no_space_on_device (as many watches as a user may have), not_supported
  ///                 (`writers` on Windows, unless `what` is `everything`), ...;
  ///                 operation_cancelled; as blocking()
  /// @cancellation   what has begun is waited for, and its result counts; else it is not begun
  /// @resumes_on     the caller's home
  /// @cost           a call on a thread of blocking(); on Windows memory of 64 KiB, or twice that
  /// @source         man page inotify(7); ReadDirectoryChangesW() of Windows
  task<int> add(std::string path, watch_for what, symlinks links = symlinks::follow);
  /// The watch ends, which is told. Nothing if it has ended already.
  void remove(int watch) noexcept;

  /// Waits for ever where nothing is watched.
  ///
  /// @returns        the next change
  /// @throws         operation_cancelled; std::system_error
  /// @cancellation   ends the wait; no change is lost
  /// @resumes_on     the caller's home
  /// @cost           a ring entry for as many changes as have come; no allocation but for names. On
  ///                 Windows a receive of a byte for as many
  file_change_awaiter next() noexcept { return file_change_awaiter(*this); }

 private:
  friend class file_change_awaiter;

  file_change take();

  detail::socket changes_;
  std::unique_ptr<platform::watch_set> set_;  // ends before the descriptor that tells its changes
  std::unique_ptr<std::byte[]> room_;
  std::size_t next_ = 0;  // what of the room was not handed out yet
  std::size_t end_ = 0;
  std::atomic<int> adds_{0};  // in flight: a check only
};

}  // namespace tandem::inline v0::io
