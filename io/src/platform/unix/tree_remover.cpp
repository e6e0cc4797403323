// tree_remover.cpp: a stack of directories that are being emptied; its top is the one that is read.
// SPDX-License-Identifier: MIT
#include "platform/unix/tree_remover.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <deque>
#include <new>
#include <string>
#include <string_view>
#include <tandem/io/owned_descriptor.hpp>
#include <tandem/stop.hpp>
#include <utility>

#include "platform/directories.hpp"
#include "platform/unix/path_flags.hpp"

namespace tandem::inline v0::io::platform {

namespace {

/// Of the levels of a deep tree the lowest ones only are open: all others are found again by "..".
constexpr std::size_t most_open = 64;
/// How often a directory is emptied again because somebody has put something into it.
constexpr int most_attempts = 32;

class level {
 public:
  explicit level(std::string called) : name(std::move(called)) {}

  std::string name;            // in the level above
  owned_descriptor directory;  // none: it was closed, as too many are open
  ::dev_t device = 0;          // known as soon as it has been closed
  ::ino_t inode = 0;
  detail::entry_list entries;
  std::size_t next = 0;  // of them
  bool has_ended = false;
  int attempts = 0;
};

class remover {
 public:
  remover(int folder, std::string path, detail::tree_removal& answer)
      : folder_(folder), answer_(answer), root_(std::move(path)) {}

  std::int32_t run() {
    std::int32_t outcome = remove(folder_, root_, true);
    while (outcome == 0 && !levels_.empty()) {
      if (tandem::stop_requested()) return -ECANCELED;
      level& here = levels_.back();
      if (here.next < here.entries.size()) {
        const auto& entry = here.entries[here.next++];
        const std::string name(here.entries.name_of(entry));
        outcome = remove(here.directory.native_handle(), name, entry.kind == file_kind::directory);
      } else if (!here.has_ended) {
        outcome = read_more(here);
      } else {
        outcome = leave();
      }
    }
    return outcome;
  }

 private:
  /// Removes what is no directory, and goes down into what is one.
  /// @param is_directory  what the listing has said: it may be something else by now, and again
  std::int32_t remove(int folder, const std::string& name, bool is_directory) {
    for (int attempt = 0; attempt < most_attempts; ++attempt, is_directory = false) {
      if (!is_directory) {
        if (unlink(folder, name, 0)) return 0;
        // Of a directory Linux says EISDIR, others EPERM.
        if (errno != EISDIR && errno != EPERM) break;
      }
      const int error = errno;
      const int opened = open_folder(folder, name);
      if (opened >= 0) return enter(name, opened);
      if (errno == ENOENT) return 0;
      if (!is_no_directory(errno)) break;
      if (!is_directory) errno = error;
    }
    return failed(name);
  }

  /// What systems answer where a directory, and no link to one, was asked for.
  static bool is_no_directory(int error) noexcept {
    return error == ELOOP || error == ENOTDIR || error == EMLINK;
  }

  /// Where no descriptor is left, one that is not needed now is given up for it.
  int open_folder(int folder, const std::string& name) noexcept {
    while (true) {
      const int opened = ::openat(folder, name.c_str(), listing_flags_of(0));
      if (opened >= 0 || (errno != EMFILE && errno != ENFILE)) return opened;
      const int error = errno;
      if (!close_uppermost()) {
        errno = error;
        return -1;
      }
    }
  }
  /// The last level stays open, since it is worked on.
  bool close_uppermost() noexcept {
    for (std::size_t i = 0; i + 1 < levels_.size(); ++i) {
      if (levels_[i].directory.is_open()) return close_level(levels_[i]);
    }
    return false;
  }
  /// @returns  false: it is still open
  static bool close_level(level& which) noexcept {
    struct ::stat known{};
    if (::fstat(which.directory.native_handle(), &known) != 0) return false;
    which.device = known.st_dev;
    which.inode = known.st_ino;
    which.directory.close();
    return true;
  }

  /// @returns  whether there is nothing of that name any more
  bool unlink(int folder, const std::string& name, int flags) noexcept {
    if (::unlinkat(folder, name.c_str(), flags) != 0) return errno == ENOENT;
    ++answer_.removed;
    return true;
  }

  std::int32_t enter(const std::string& name, int opened) {
    owned_descriptor owned(opened);
    level& made = levels_.emplace_back(name);
    made.directory = std::move(owned);
    if (levels_.size() <= most_open) return 0;
    level& closed = levels_[levels_.size() - 1 - most_open];
    if (!closed.directory.is_open() || close_level(closed)) return 0;
    return failed("");
  }

  std::int32_t read_more(level& here) noexcept {
    here.entries.clear();
    here.next = 0;
    std::int32_t outcome = 0;
    do {  // where that takes a descriptor of its own
      outcome = read_entries(here.directory.native_handle(), here.entries);
    } while ((outcome == -EMFILE || outcome == -ENFILE) && close_uppermost());
    if (outcome < 0) {
      errno = -outcome;
      return failed("");
    }
    here.has_ended = outcome == 0;
    return 0;
  }

  /// It is empty: the level above can remove it.
  std::int32_t leave() {
    level& done = levels_.back();
    if (levels_.size() == 1) return leave_to(folder_, done);
    level& above = levels_[levels_.size() - 2];
    if (!above.directory.is_open()) {
      const std::int32_t outcome = reopen(above, done.directory.native_handle());
      if (outcome != 0) return outcome;
    }
    return leave_to(above.directory.native_handle(), done);
  }

  std::int32_t leave_to(int folder, level& done) {
    while (!unlink(folder, done.name, AT_REMOVEDIR)) {
      if (++done.attempts == most_attempts) return failed("");
      if (errno == ENOTEMPTY || errno == EEXIST) {
        // Somebody has put something into it. Or it is another one by now, which is opened anew.
        const int opened = open_folder(folder, done.name);
        if (opened < 0) continue;
        done.directory = owned_descriptor(opened);
        done.has_ended = false;
        return 0;
      }
      // A link, or a file, has taken its place.
      if (!is_no_directory(errno)) return failed("");
      if (unlink(folder, done.name, 0)) break;
      if (errno != EISDIR && errno != EPERM) return failed("");
    }
    levels_.pop_back();
    return 0;
  }

  /// The directory above one that is open, unless that has been moved elsewhere.
  std::int32_t reopen(level& above, int below) {
    const int opened = ::openat(below, "..", listing_flags_of(0));
    if (opened < 0) return failed("");
    above.directory = owned_descriptor(opened);
    struct ::stat found{};
    if (::fstat(opened, &found) != 0) return failed("");
    if (found.st_dev == above.device && found.st_ino == above.inode) return 0;
    errno = EBUSY;
    return failed("");
  }

  /// Of an entry of the last level, or with no name of that itself.
  std::int32_t failed(std::string_view name) noexcept {
    const int error = errno;
    try {
      for (const level& each : levels_) (answer_.failed += each.name) += '/';
      answer_.failed += name;
      if (name.empty() && !answer_.failed.empty()) answer_.failed.pop_back();
    } catch (const std::bad_alloc&) {
      answer_.failed.clear();
    }
    return -error;
  }

  const int folder_;
  detail::tree_removal& answer_;
  const std::string root_;
  std::deque<level> levels_;  // a level's address stays
};

}  // namespace

std::int32_t remove_tree(int folder, const char* path, detail::tree_removal& answer) noexcept {
  try {
    const std::string_view name = tree_path(path);
    if (name.empty()) return -EINVAL;
    return remover(folder, std::string(name), answer).run();
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

}  // namespace tandem::inline v0::io::platform
