// entry_list.hpp: entries of directories, their names one after the other in one piece of memory.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tandem/io/file_status.hpp>
#include <tandem/io/owned_descriptor.hpp>
#include <vector>

namespace tandem::inline v0::io::detail {

/// Keeps its memory when it is cleared. Never "." and "..".
class entry_list {
 public:
  class record {
   public:
    std::uint64_t inode = 0;
    std::size_t name_at = 0;
    std::uint32_t name_bytes = 0;
    file_kind kind = file_kind::other;
  };

  /// @throws  std::bad_alloc
  void add(std::string_view name, file_kind kind, std::uint64_t inode) {
    record made;
    made.inode = inode;
    made.name_at = names_.size();
    made.name_bytes = static_cast<std::uint32_t>(name.size());
    made.kind = kind;
    names_ += name;
    names_ += '\0';  // so that each is a text that the system takes
    records_.push_back(made);
  }
  void clear() noexcept {
    records_.clear();
    names_.clear();
  }

  std::size_t size() const noexcept { return records_.size(); }
  bool empty() const noexcept { return records_.empty(); }
  const record& operator[](std::size_t index) const noexcept { return records_[index]; }
  /// Something else is known of it by now.
  void set_kind(std::size_t index, file_kind kind) noexcept { records_[index].kind = kind; }
  /// Valid until the next add(); a zero follows it.
  std::string_view name_of(const record& entry) const noexcept {
    return std::string_view(names_).substr(entry.name_at, entry.name_bytes);
  }

 private:
  std::vector<record> records_;
  std::string names_;
};

/// What file_action::list works on: a directory that is opened by the first call.
class listing {
 public:
  owned_descriptor opened;
  bool has_ended = false;
  entry_list entries;  ///< what the last call has found
};

/// What file_action::remove_tree answers.
class tree_removal {
 public:
  std::uint64_t removed = 0;  ///< entries
  std::string failed;         ///< what could not be removed, relative to the tree's root
};

}  // namespace tandem::inline v0::io::detail
