// directory_entry.hpp: a name in a directory, and what has it.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <tandem/io/file_status.hpp>
#include <utility>

namespace tandem::inline v0::io {

/// What directory_reader::next() yields.
class directory_entry {
 public:
  directory_entry(std::string called, file_kind what, std::uint64_t number) noexcept
      : name(std::move(called)), kind(what), inode(number) {}

  std::string name;     ///< without the directory; never "." or ".."
  file_kind kind;       ///< of a symbolic link: symlink. It may be something else by now
  std::uint64_t inode;  ///< as far as the system tells it here; else 0
};

}  // namespace tandem::inline v0::io
