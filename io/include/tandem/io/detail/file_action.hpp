// file_action.hpp: what may be asked of a file: one row of one table for each action.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tandem/io/detail/kind_set.hpp>

namespace tandem::inline v0::io::detail {

enum class file_action : std::uint8_t {
  read,
  write,
  append,
  sync,
  sync_data,
  open,
  status,
  truncate,
  allocate,
  copy,
  fill_pipe,
  drain_pipe,
  open_beneath,
  read_on,
  write_on,
  advise,
  set_permissions,
  lock,
  status_at,
  make_directory,
  remove,
  rename,
  link,
  symlink,
  read_link,
  set_permissions_at,
  list,
  remove_tree,
  read_registered,
  write_registered,
};

struct file_row {
  file_action action;
  /// For people: the call that they made.
  const char* name;
  /// It moves bytes, in as many parts as it takes.
  bool is_transfer = false;
  /// The bytes go to the buffer.
  bool is_reading = false;
  /// A transfer at an offset: the page cache may be asked first, and a failure tells where it was.
  bool is_at_offset = false;
  /// Where the descriptor stands, and that moves on: others who have it go on from there.
  bool is_at_position = false;
  /// Its outcome is a descriptor.
  bool is_opening = false;
  /// Rings have no entry for it, or it takes several calls where the kernel is old.
  bool is_for_blocking = false;
  /// Of what a path leads to, not of an open file: a path_request says all of it.
  bool is_of_path = false;
};

inline constexpr std::array file_rows = {
    file_row{.action = file_action::read,
             .name = "file::read_at",
             .is_transfer = true,
             .is_reading = true,
             .is_at_offset = true},
    file_row{.action = file_action::write,
             .name = "file::write_at",
             .is_transfer = true,
             .is_at_offset = true},
    file_row{.action = file_action::append, .name = "file::append", .is_transfer = true},
    file_row{.action = file_action::sync, .name = "file::sync"},
    file_row{.action = file_action::sync_data, .name = "file::sync_data"},
    file_row{.action = file_action::open, .name = "file::open", .is_opening = true},
    file_row{.action = file_action::status, .name = "file::status"},
    file_row{.action = file_action::truncate, .name = "file::truncate"},
    file_row{.action = file_action::allocate, .name = "file::allocate"},
    file_row{.action = file_action::copy, .name = "copy of a file", .is_for_blocking = true},
    file_row{.action = file_action::fill_pipe, .name = "splice_pipe::fill_from a file"},
    file_row{.action = file_action::drain_pipe, .name = "splice_pipe::drain_to a file"},
    file_row{.action = file_action::open_beneath,
             .name = "file::open_beneath",
             .is_opening = true,
             .is_for_blocking = true},
    // shared/file. A ring would not take the position and move it in one step.
    file_row{.action = file_action::read_on,
             .name = "shared_input::read",
             .is_transfer = true,
             .is_reading = true,
             .is_at_position = true,
             .is_for_blocking = true},
    file_row{.action = file_action::write_on,
             .name = "shared_output::write",
             .is_transfer = true,
             .is_at_position = true,
             .is_for_blocking = true},
    file_row{.action = file_action::advise, .name = "file::advise"},
    file_row{.action = file_action::set_permissions,
             .name = "file::set_permissions",
             .is_for_blocking = true},
    file_row{.action = file_action::lock, .name = "lock_file", .is_for_blocking = true},
    file_row{.action = file_action::status_at, .name = "status_of", .is_of_path = true},
    file_row{.action = file_action::make_directory, .name = "make_directory", .is_of_path = true},
    file_row{.action = file_action::remove, .name = "remove_file", .is_of_path = true},
    file_row{.action = file_action::rename, .name = "rename_file", .is_of_path = true},
    file_row{.action = file_action::link, .name = "make_link", .is_of_path = true},
    file_row{.action = file_action::symlink, .name = "make_symbolic_link", .is_of_path = true},
    file_row{.action = file_action::read_link,
             .name = "read_link",
             .is_for_blocking = true,
             .is_of_path = true},
    file_row{.action = file_action::set_permissions_at,
             .name = "set_permissions",
             .is_for_blocking = true,
             .is_of_path = true},
    file_row{.action = file_action::list,
             .name = "directory_reader::next",
             .is_for_blocking = true,
             .is_of_path = true},
    file_row{.action = file_action::remove_tree,
             .name = "remove_tree",
             .is_for_blocking = true,
             .is_of_path = true},
    // For people they are the call that was made, which is the same.
    file_row{.action = file_action::read_registered,
             .name = "file::read_at",
             .is_transfer = true,
             .is_reading = true,
             .is_at_offset = true},
    file_row{.action = file_action::write_registered,
             .name = "file::write_at",
             .is_transfer = true,
             .is_at_offset = true},
};
static_assert(is_in_order(file_rows, &file_row::action));
static_assert(file_rows.back().action == file_action::write_registered, "a row for each action");

constexpr const file_row& row_of(file_action action) noexcept {
  return file_rows[static_cast<std::size_t>(action)];
}

/// Of read and write: the same with a part of a registered_buffer.
constexpr file_action registered(file_action plain) noexcept {
  return plain == file_action::read ? file_action::read_registered : file_action::write_registered;
}

using file_action_set = kind_set<file_action>;
inline constexpr file_action_set are_transfers{file_rows, &file_row::is_transfer};
inline constexpr file_action_set are_reading{file_rows, &file_row::is_reading};
inline constexpr file_action_set are_at_offsets{file_rows, &file_row::is_at_offset};
inline constexpr file_action_set are_at_positions{file_rows, &file_row::is_at_position};
inline constexpr file_action_set are_opening{file_rows, &file_row::is_opening};
inline constexpr file_action_set are_for_blocking{file_rows, &file_row::is_for_blocking};
/// Their paths may be relative to the process's current folder, which has no descriptor.
inline constexpr file_action_set may_have_no_descriptor{
    file_rows,
    [](const file_row& row) { return row.is_of_path || row.action == file_action::open; }};

}  // namespace tandem::inline v0::io::detail
