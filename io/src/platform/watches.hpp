// watches.hpp: changes of directories and files, told by the system.
// SPDX-License-Identifier: MIT
//
// What may fail answers with a result that holds a std::error_code. Where the system tells nobody
// of changes, open_watches() answers not_supported.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <system_error>
#include <tandem/io/file_change.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io::platform {

class file_port;

/// Room for what one read gives; aligned to 8 bytes. A single change always fits.
inline constexpr std::size_t change_bytes = std::size_t{16} << 10;

/// What is watched together, and told by one descriptor. Any thread adds and removes; one at a time
/// takes changes.
class watch_set {
 public:
  watch_set() = default;
  watch_set(const watch_set&) = delete;
  watch_set& operator=(const watch_set&) = delete;
  virtual ~watch_set() = default;

  /// Looks the path up, so it waits for the disk.
  ///
  /// @param path  UTF-8 where the system has no bytes for paths
  /// @returns     the watch's number; that of an earlier one of the same file, which is changed
  virtual result<int> add(const char* path, watch_for what, bool follows_link) noexcept = 0;
  /// Nothing if there is none of that number.
  virtual void remove(int watch) noexcept = 0;
  /// pre: `read` is what is left of what one read of the descriptor gave, and not empty
  /// @returns  how many bytes of it the change takes. @throws std::bad_alloc
  virtual std::size_t next_change(std::span<const std::byte> read, file_change& out) = 0;
};

/// The descriptor is the caller's to close, after the set; it is not inherited across exec.
class opened_watches {
 public:
  native_descriptor reads = no_descriptor;
  std::unique_ptr<watch_set> set;
};

/// @param port  where packets of files come; null: the pool has none
result<opened_watches> open_watches(const file_port* port) noexcept;

}  // namespace tandem::inline v0::io::platform
