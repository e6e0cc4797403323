// walk_batch.hpp: entries that a walk has found.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <tandem/io/detail/entry_list.hpp>
#include <tandem/io/file_status.hpp>
#include <vector>

namespace tandem::inline v0::io {

namespace detail {

/// Of one directory: the entries from `first` on, up to the next group's.
class walk_group {
 public:
  std::string path;  // of the directory, with the root
  unsigned depth = 0;
  std::size_t first = 0;
};

class walk_status {
 public:
  file_status status;
  bool is_known = false;
};

}  // namespace detail

/// One of a walk_batch; valid as long as that is.
///
/// @thread_safety  any number of readers
class walk_entry {
 public:
  /// Without directories.
  std::string_view name() const noexcept { return list_->name_of(*record_); }
  /// The directory that it is in: the root's path as walk() was given it, and what follows.
  const std::string& folder() const noexcept { return group_->path; }
  /// Both.
  std::string path() const {
    std::string all = folder();
    if (!all.ends_with('/')) all += '/';
    return all += name();
  }
  /// Of a symbolic link symlink, unless links are followed and it leads somewhere.
  file_kind kind() const noexcept { return record_->kind; }
  /// As far as the system tells it here; else 0.
  std::uint64_t inode() const noexcept { return record_->inode; }
  /// 1: it is in the root.
  unsigned depth() const noexcept { return group_->depth; }
  /// Null unless walk_options::with_status asks for it, and for what has gone meanwhile.
  const file_status* status() const noexcept { return status_; }

  // Implementation
  walk_entry(const detail::entry_list& list, const detail::entry_list::record& record,
             const detail::walk_group& group, const file_status* status) noexcept
      : list_(&list), record_(&record), group_(&group), status_(status) {}

 private:
  const detail::entry_list* list_;
  const detail::entry_list::record* record_;
  const detail::walk_group* group_;
  const file_status* status_;
};

/// What the visitor of walk() is given: entries of one or several directories, each of which may go
/// on in a later batch.
///
///     for (const tandem::io::walk_entry entry : found) bytes += entry.name().size();
///
/// @thread_safety  any number of readers
class walk_batch {
 public:
  class iterator {
   public:
    using iterator_category = std::input_iterator_tag;
    using value_type = walk_entry;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = walk_entry;

    iterator() noexcept = default;
    iterator(const walk_batch& batch, std::size_t at) noexcept : batch_(&batch), at_(at) {}

    walk_entry operator*() const noexcept { return batch_->entry(at_, group_); }
    iterator& operator++() noexcept {
      ++at_;
      while (group_ + 1 < batch_->groups_.size() && batch_->groups_[group_ + 1].first <= at_) {
        ++group_;
      }
      return *this;
    }
    iterator operator++(int) noexcept {
      const iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator& other) const noexcept { return at_ == other.at_; }

   private:
    const walk_batch* batch_ = nullptr;
    std::size_t at_ = 0;
    std::size_t group_ = 0;
  };

  std::size_t size() const noexcept { return entries_.size(); }
  bool empty() const noexcept { return entries_.empty(); }
  iterator begin() const noexcept { return {*this, 0}; }
  iterator end() const noexcept { return {*this, size()}; }

  // Implementation: by the walk only.
  void clear() noexcept {
    entries_.clear();
    groups_.clear();
    statuses_.clear();
  }
  /// No group is empty, so that the first entry's is the first.
  detail::entry_list& open_group(const std::string& path, unsigned depth) {
    if (!groups_.empty() && groups_.back().first == size()) groups_.pop_back();
    detail::walk_group& made = groups_.emplace_back();
    made.path = path;
    made.depth = depth;
    made.first = size();
    return entries_;
  }
  std::vector<detail::walk_status>& statuses() noexcept { return statuses_; }
  detail::entry_list& entries() noexcept { return entries_; }
  walk_entry entry(std::size_t at, std::size_t group) const noexcept {
    const bool has_status = at < statuses_.size() && statuses_[at].is_known;
    return {entries_, entries_[at], groups_[group], has_status ? &statuses_[at].status : nullptr};
  }
  /// Of the last group.
  walk_entry entry(std::size_t at) const noexcept { return entry(at, groups_.size() - 1); }

 private:
  detail::entry_list entries_;
  std::vector<detail::walk_group> groups_;
  std::vector<detail::walk_status> statuses_;  // of the first ones, or none
};

}  // namespace tandem::inline v0::io
