// beneath_walk.cpp: a path, one component after the other, of which no link is followed unseen.
// SPDX-License-Identifier: MIT
#include "platform/unix/beneath_walk.hpp"

#include <fcntl.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "platform/unix/calls.hpp"

namespace tandem::inline v0::io::platform {

namespace {

/// As Linux counts them.
constexpr int most_links = 40;
/// For what is exchanged each time that it is looked at.
constexpr int most_attempts = 16;

constexpr int folder_flags = folder_access | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

class owned_descriptor {
 public:
  explicit owned_descriptor(int number) noexcept : number_(number) {}
  owned_descriptor(owned_descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  owned_descriptor& operator=(owned_descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~owned_descriptor() {
    const int error = errno;
    if (number_ >= 0) ::close(number_);
    errno = error;
  }
  int get() const noexcept { return number_; }

 private:
  int number_;
};

std::int32_t outcome_of(int descriptor) noexcept { return descriptor >= 0 ? descriptor : -errno; }

class walk {
 public:
  walk(int root, const char* path, int flags, unsigned permissions)
      : root_(root), flags_(flags), permissions_(permissions), rest_(path) {}

  std::int32_t open() {
    if (rest_.empty()) return -ENOENT;
    if (rest_.size() >= PATH_MAX) return -ENAMETOOLONG;
    if (rest_.front() == '/') return -EXDEV;
    while (true) {
      const bool names_folder = rest_.back() == '/';  // then, and only then, a file is none
      const std::string name = take_component();
      if (name.empty() || name == ".") {
        if (rest_.empty()) return open_here();
        continue;
      }
      if (name == "..") {
        if (passed_.empty()) return -EXDEV;
        passed_.pop_back();
        if (rest_.empty()) return open_here();
        continue;
      }
      const bool is_last = rest_.empty();
      const std::int32_t outcome = is_last ? open_last(name, names_folder) : enter(name);
      if (outcome != follow) {
        if (is_last || outcome < 0) return outcome;
        continue;
      }
      if (const std::int32_t error = put_link_before_rest(); error != 0) return error;
    }
  }

 private:
  // Answers that are no outcome.
  static constexpr std::int32_t follow = INT32_MIN;  // it is a symbolic link, to link_
  static constexpr std::int32_t is_none = INT32_MIN + 1;

  int here() const noexcept { return passed_.empty() ? root_ : passed_.back().get(); }

  /// Up to the next slash; takes the slashes behind it, too.
  std::string take_component() {
    std::size_t end = rest_.find('/');
    if (end == std::string::npos) end = rest_.size();
    std::string name = rest_.substr(0, end);
    end = rest_.find_first_not_of('/', end);
    rest_.erase(0, end);
    return name;
  }

  /// The path ends with a folder that was come through.
  std::int32_t open_here() const noexcept {
    return outcome_of(::openat(here(), ".", flags_, permissions_));
  }

  /// A component that others follow. @returns 0, follow, or an error number
  std::int32_t enter(const std::string& name) {
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      owned_descriptor found(::openat(here(), name.c_str(), folder_flags));
      if (found.get() >= 0) {
        passed_.push_back(std::move(found));
        return 0;
      }
      const int error = errno;
      if (!may_be_link(error)) return -error;
      const std::int32_t outcome = look_for_link(name);
      if (outcome != is_none) return outcome;
      if (error == ENOTDIR) return -ENOTDIR;
      // It was a link when it was opened, and is none any more.
    }
    return -EAGAIN;
  }

  std::int32_t open_last(const std::string& name, bool names_folder) {
    if (names_folder && (flags_ & O_CREAT) != 0) return -EISDIR;
    const int flags = flags_ | O_NOFOLLOW | (names_folder ? O_DIRECTORY : 0);
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      const int descriptor = ::openat(here(), name.c_str(), flags, permissions_);
      if (descriptor >= 0) return descriptor;
      // A link is ELOOP, with O_DIRECTORY ENOTDIR; a new file in its place would be EEXIST.
      const int error = errno;
      if (!may_be_link(error) || (error == ENOTDIR && !names_folder)) return -error;
      const std::int32_t outcome = look_for_link(name);
      if (outcome == -ENOENT && (flags & O_CREAT) != 0) continue;  // it has gone
      if (outcome == follow && names_folder) rest_ = "/";
      if (outcome != is_none) return outcome;
      if (error == ENOTDIR) return -ENOTDIR;
      // It was one when it was opened, and is none any more.
    }
    return -EAGAIN;
  }

  /// What systems answer for a link that is not to be followed.
  static bool may_be_link(int error) noexcept {
#if defined(EFTYPE)
    if (error == EFTYPE) return true;  // NetBSD
#endif
    return error == ELOOP || error == ENOTDIR || error == EMLINK;
  }

  /// @returns  follow, and its text is in link_; is_none; or an error number
  std::int32_t look_for_link(const std::string& name) {
    std::array<char, PATH_MAX> target;
    const ssize_t bytes = ::readlinkat(here(), name.c_str(), target.data(), target.size());
    if (bytes < 0) return errno == EINVAL ? is_none : -errno;
    link_.assign(target.data(), static_cast<std::size_t>(bytes));
    return follow;
  }

  /// @returns  0 or an error number
  std::int32_t put_link_before_rest() {
    if (++links_ > most_links) return -ELOOP;
    if (link_.empty()) return -ENOENT;
    if (link_.front() == '/') return -EXDEV;
    if (!rest_.empty()) link_ += '/';
    rest_.insert(0, link_);
    return rest_.size() < 2 * std::size_t{PATH_MAX} ? 0 : -ENAMETOOLONG;
  }

  const int root_;
  const int flags_;
  const unsigned permissions_;
  std::string rest_;                      // of the path; not empty while it is walked
  std::vector<owned_descriptor> passed_;  // the folders beneath the root that were come through
  std::string link_;
  int links_ = 0;
};

}  // namespace

std::int32_t walk_beneath(native_descriptor root, const char* path, int flags,
                          unsigned permissions) noexcept {
  try {
    return walk(root, path, flags, permissions).open();
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

}  // namespace tandem::inline v0::io::platform
