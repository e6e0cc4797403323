// tree_walk.hpp: one walk: the directories that are still to be read, and who reads them.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tandem/detail/futex_mutex.hpp>
#include <tandem/io/detail/file_handle.hpp>
#include <tandem/io/owned_descriptor.hpp>
#include <tandem/io/walk.hpp>
#include <tandem/task.hpp>
#include <tandem/task_scope.hpp>
#include <utility>
#include <vector>

namespace tandem::inline v0::io {

/// It outlives its pumps (directories/pump).
class tree_walk {
 public:
  tree_walk(detail::file_handle* folder, std::string root, detail::walk_visitor& visitor,
            walk_options&& options);

  /// In a scope of its own. Reads and visits until nothing is left for it, and brings more of its
  /// kind where there is something for them.
  task<void> pump(task_scope& scope);
  walk_summary summary() const noexcept;

 private:
  /// A directory that is open; those that were found in it refer to it until they are open, too.
  class open_folder {
   public:
    open_folder(native_descriptor descriptor, std::atomic<unsigned>& count) noexcept
        : directory(descriptor), count_(&count) {
      count_->fetch_add(1, std::memory_order_relaxed);
    }
    open_folder(const open_folder&) = delete;
    open_folder& operator=(const open_folder&) = delete;
    ~open_folder() { count_->fetch_sub(1, std::memory_order_relaxed); }

    owned_descriptor directory;

   private:
    std::atomic<unsigned>* count_;  // how many there are: no more than that is known of it
  };
  using shared_folder = std::shared_ptr<const open_folder>;

  /// What names a directory, whatever it is called.
  class identity {
   public:
    identity(std::uint64_t on, std::uint64_t number) noexcept : device(on), inode(number) {}
    auto operator<=>(const identity&) const = default;

    std::uint64_t device;
    std::uint64_t inode;
  };
  using identities = std::set<identity>;

  /// directories/circle. A directory, and those above it up to the last link that was followed.
  class level {
   public:
    level(identity what, std::shared_ptr<const level> up) noexcept
        : own(what), above(std::move(up)) {}
    level(const level&) = delete;
    level& operator=(const level&) = delete;
    ~level();

    const identity own;
    std::shared_ptr<const level> above;
  };

  /// A directory that is to be read.
  class found_folder {
   public:
    std::string path;                         // with the root
    std::size_t name_at = 0;                  // in the path
    unsigned depth = 0;                       // 0: the root
    bool is_link = false;                     // it was found as one
    shared_folder above;                      // null: to be found by its path, as too many are open
    std::uint64_t device = 0;                 // of the one above; unless all are entered
    std::shared_ptr<const level> since_link;  // of those above it, where links are followed
    std::shared_ptr<const identities> before_link;  // of those that only a link leads back to
  };
  /// What a pump is at.
  class reading {
   public:
    shared_folder directory;  // null: at none
    std::string path;
    unsigned depth = 0;
    std::uint64_t device = 0;
    std::shared_ptr<const level> since_link;  // its own, and those above it
    std::shared_ptr<const identities> before_link;
  };

  // On threads of blocking().
  /// @returns  whether there may be more for this pump
  bool collect(reading& at, walk_batch& found);
  bool take(reading& at);
  bool open(found_folder& what, reading& at);
  std::int32_t open_one(const found_folder& what) const;
  std::int32_t open_by_path(const std::string& relative) const;
  bool may_be_entered(reading& at, const found_folder& what);
  static std::shared_ptr<const identities> all_above(const found_folder& what);
  void read(reading& at, walk_batch& found);
  void look_at(const reading& at, walk_batch& found, std::size_t entry);
  void note(const reading& at, const walk_entry& directory, bool is_link);
  void could_not_read(const std::string& path, unsigned depth, std::int32_t outcome);

  void bring_others(task_scope& scope);
  bool has_work_for_others(const reading& at) const noexcept;
  int link_flags() const noexcept;

  detail::file_handle* const folder_;
  const std::string root_;
  detail::walk_visitor& visitor_;
  const walk_options options_;
  const unsigned most_pumps_;

  std::atomic<unsigned> open_{0};  // before those that count it down as they go

  tandem::detail::futex_mutex lock_;
  std::vector<found_folder> pending_;          // under the lock; the last one found is read first
  shared_folder root_folder_;                  // written by the first pump, before there are others
  std::atomic<std::size_t> pending_count_{1};  // a hint
  std::atomic<unsigned> pumps_{1};

  // Counters.
  std::atomic<std::uint64_t> entries_{0};
  std::atomic<std::uint64_t> directories_{0};
  std::atomic<std::uint64_t> unreadable_{0};
  std::atomic<std::uint64_t> vanished_{0};
};

}  // namespace tandem::inline v0::io
