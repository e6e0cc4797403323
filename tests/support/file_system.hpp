// file_system.hpp: what tests ask of the system about files and processes, in one place for each: linux/ and windows/.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace tandem::test {

/// From now on what was written to it is read from the disk, as far as the system can.
void drop_from_cache(const std::string& path);
/// A new file of so many zeros, which take no room on the disk where the file system has holes.
void put_zeros(const std::string& path, std::uint64_t bytes);
/// A file whose path may be longer than Windows's own limit. @returns  whether it was there
bool take_away(const std::string& path);
/// Another one when a file was replaced; 0: there is none.
std::uint64_t number_of_file(const std::string& path);

/// A descriptor or a handle.
using any_handle = long long;
/// A part of a file that is open, as far as it is on the disk already and the system can.
void drop_part_from_cache(any_handle file, std::uint64_t at, std::size_t bytes);
/// Whether a program that this one starts has it, too.
bool is_inherited(any_handle handle);
void let_inherit(any_handle handle);

/// This program once more, for the laws of a filter.
class child_process {
 public:
  explicit child_process(const std::string& filter);
  child_process(const child_process&) = delete;
  child_process& operator=(const child_process&) = delete;
  ~child_process();
  /// At once, whatever it does. @returns  whether that has ended it
  bool kill();

 private:
  any_handle process_;
};

}  // namespace tandem::test
