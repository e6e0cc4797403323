// file_lock.hpp: locks of files, and of parts of them, between processes and within one.
// SPDX-License-Identifier: MIT
//
// They belong to the file that was opened (to its open file description), not to the process: two
// files of one process that are the same exclude each other, too, and closing another one of that
// name gives nothing up. Within one process a tandem::mutex costs a hundredth.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tandem/io/export.hpp>
#include <tandem/io/file.hpp>
#include <tandem/task.hpp>
#include <utility>

namespace tandem::inline v0::io {

enum class lock_mode : std::uint8_t {
  shared,     ///< together with other shared ones; the file is open for reading
  exclusive,  ///< alone; the file is open for writing
};

/// A part of a file, which may be past its end.
class lock_range {
 public:
  constexpr lock_range() noexcept = default;  ///< all of it, however it grows
  /// @param from        more than a file can have: the lock fails with invalid_argument
  /// @param size_bytes  0: to the end, wherever that will be; so is more than a file can have
  constexpr lock_range(std::uint64_t from, std::size_t size_bytes) noexcept
      : offset(from), bytes(size_bytes) {}

  std::uint64_t offset = 0;
  std::size_t bytes = 0;
};

/// Holds a lock until it goes. The file stays open, and where it is, as long: closing or moving it
/// before is a broken precondition, and aborts with a message.
///
/// @thread_safety  as a value
class [[nodiscard]] TANDEM_IO_API file_lock {
 public:
  file_lock() noexcept = default;
  file_lock(file_lock&& other) noexcept
      : held_(std::exchange(other.held_, nullptr)), range_(other.range_) {}
  file_lock& operator=(file_lock&& other) noexcept {
    file_lock moved(std::move(other));
    std::swap(held_, moved.held_);
    std::swap(range_, moved.range_);
    return *this;
  }
  ~file_lock() { unlock(); }

  explicit operator bool() const noexcept { return held_ != nullptr; }
  /// Early; nothing if it holds none. No disk is waited for, but a network's server may be.
  void unlock() noexcept;

  // Implementation
  /// It is locked.
  file_lock(detail::file_handle& held, lock_range range) noexcept;

 private:
  detail::file_handle* held_ = nullptr;
  lock_range range_;
};

/// Waits until nobody else has a lock that is in the way, and takes it.
///
///     tandem::io::file_lock lock = co_await tandem::io::lock_file(journal);
///
/// The system tells nobody when a lock is given up without keeping a thread that no stop reaches:
/// so it is tried again, after 1 ms, later in steps of up to 50 ms: nobody is first in line.
/// A lock of a part that this file has already is changed to `mode`.
///
/// @param range    on Windows nobody else can read or write what is locked exclusively, elsewhere a
///                 lock concerns only those who ask for one
/// @throws         std::system_error naming the path: bad_file_descriptor (not open, or not
///                 for what the mode needs, which Windows does not ask for), no_lock_available, ...;
///                 not_supported where the system has no locks of open files; operation_cancelled
/// @cancellation   ends the wait
/// @thread_safety  any number at a time; of one file all succeed, as they have the same lock
/// @resumes_on     the caller's home
/// @cost           a call on a thread of blocking() for each try
/// @source         man page fcntl(2): F_OFD_SETLK
TANDEM_IO_API task<file_lock> lock_file(file& target, lock_mode mode = lock_mode::exclusive,
                                        lock_range range = {});

/// As above, without waiting.
///
/// @returns        nothing if somebody else has a lock that is in the way
/// @cancellation   before the try only
TANDEM_IO_API task<std::optional<file_lock>> try_lock_file(file& target,
                                                           lock_mode mode = lock_mode::exclusive,
                                                           lock_range range = {});

}  // namespace tandem::inline v0::io
