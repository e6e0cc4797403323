// file_change.hpp: what has happened to a file or a directory that is watched.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace tandem::inline v0::io {

/// Which changes a file_watch tells; several by `|`. That a watch has ended is always told.
enum class watch_for : std::uint8_t {
  names = 1,        ///< of a directory: what is created, removed and renamed in it
  contents = 2,     ///< written or cut off
  writers = 4,      ///< closed by somebody who had it open for writing; not on Windows (see add())
  attributes = 8,   ///< permissions, times, owner, number of names
  everything = 15,  ///< all of these that the system tells
};
constexpr watch_for operator|(watch_for a, watch_for b) noexcept {
  return static_cast<watch_for>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool has(watch_for set, watch_for what) noexcept {
  return (static_cast<unsigned>(set) & static_cast<unsigned>(what)) != 0;
}

enum class change_kind : std::uint8_t {
  created,     ///< also by a hard link
  removed,     ///< a name in the directory
  moved_from,  ///< a name in the directory became another one, here or elsewhere (see file_watch)
  moved_to,    ///< with the cookie of the moved_from, if that directory is watched, too
  contents,
  closed_by_writer,
  attributes,
  moved_itself,  ///< what is watched has another path now; the watch goes on
  unmounted,     ///< its file system is gone; then the watch ends, too
  ended,         ///< the watch is over: what it was on has gone, or it was removed
  overflow,      ///< more has happened than the system keeps: look at everything anew
};

/// What file_watch::next() yields.
class file_change {
 public:
  file_change() noexcept = default;

  int watch = -1;  ///< as file_watch::add() said; -1: of none (overflow)
  change_kind kind = change_kind::overflow;
  bool is_directory =
      false;                 ///< what has the name is one; Windows does not tell, it is false there
  std::uint32_t cookie = 0;  ///< the same for moved_from and moved_to of one rename
  std::string name;          ///< in the directory that is watched; empty: itself
};

}  // namespace tandem::inline v0::io
