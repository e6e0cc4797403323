// walk_options.hpp: how a tree of directories is walked, and what the walk has met.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <system_error>
#include <tandem/io/path_options.hpp>

namespace tandem::inline v0::io {

class walk_entry;

/// A value for walk().
class walk_options {
 public:
  walk_options() noexcept {}  // NOLINT: not an aggregate, see tcp_options

  /// Directories that are read at the same time; 0: as many as there are usable CPUs.
  unsigned threads = 0;
  /// Entries that one call of the visitor gets, about; at least 1.
  std::size_t batch_entries = 4096;
  /// How many levels of directories are read; 1: the root's entries only, 0: no limit.
  unsigned max_depth = 0;
  /// follow: links that lead to directories are walked into, unless that would be a circle.
  symlinks links = symlinks::keep;
  /// Directories of other file systems are told, and not walked into.
  bool stays_on_device = false;
  /// walk_entry::status() is there. A call of the system for each entry.
  ///
  ///     options.with_status = true;
  ///     const auto add = [&](const tandem::io::walk_batch& found) {
  ///       for (const auto entry : found) {
  ///         if (const auto* const status = entry.status()) bytes += status->size;
  ///       }
  ///     };
  ///     co_await tandem::io::walk(folder, add, options);  // `bytes` is a std::atomic
  bool with_status = false;
  /// Asked of each directory before it is walked into; empty: into all. Called on threads of
  /// blocking(), by several at once, and must not wait.
  std::function<bool(const walk_entry&)> enters;
  /// Told of each directory that cannot be read; then the walk goes on. Empty: the walk fails.
  /// Called as `enters` is.
  std::function<void(const std::string& path, std::error_code failure)> on_unreadable;
};

/// What walk() yields.
class walk_summary {
 public:
  walk_summary() noexcept = default;

  std::uint64_t entries = 0;      ///< that the visitor was given
  std::uint64_t directories = 0;  ///< that were read, with the root
  std::uint64_t unreadable = 0;   ///< that on_unreadable was told of
  std::uint64_t vanished = 0;     ///< gone, or no directories any more, before they were read
};

}  // namespace tandem::inline v0::io
