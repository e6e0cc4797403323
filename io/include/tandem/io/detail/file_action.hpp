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
  open_beneath,
};

struct file_row {
  file_action action;
  /// For people: the call that they made.
  const char* name;
  /// It moves bytes, in as many parts as it takes.
  bool is_transfer = false;
  /// A transfer at an offset: the page cache may be asked first, and a failure tells where it was.
  bool is_at_offset = false;
  /// Its outcome is a descriptor.
  bool is_opening = false;
  /// Rings have no entry for it, or it takes several calls where the kernel is old.
  bool is_for_blocking = false;
};

inline constexpr std::array file_rows = {
    file_row{.action = file_action::read,
             .name = "file::read_at",
             .is_transfer = true,
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
    file_row{.action = file_action::truncate, .name = "file::truncate", .is_for_blocking = true},
    file_row{.action = file_action::allocate, .name = "file::allocate"},
    file_row{.action = file_action::open_beneath,
             .name = "file::open_beneath",
             .is_opening = true,
             .is_for_blocking = true},
};
static_assert(is_in_order(file_rows, &file_row::action));
static_assert(file_rows.back().action == file_action::open_beneath, "a row for each action");

constexpr const file_row& row_of(file_action action) noexcept {
  return file_rows[static_cast<std::size_t>(action)];
}

using file_action_set = kind_set<file_action>;
inline constexpr file_action_set are_transfers{file_rows, &file_row::is_transfer};
inline constexpr file_action_set are_at_offsets{file_rows, &file_row::is_at_offset};
inline constexpr file_action_set are_opening{file_rows, &file_row::is_opening};
inline constexpr file_action_set are_for_blocking{file_rows, &file_row::is_for_blocking};

}  // namespace tandem::inline v0::io::detail
