// open_beneath.cpp: openat2(), and a walk that is as strict.
// SPDX-License-Identifier: MIT
#include "platform/open_beneath.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem::inline v0::io::platform {

namespace {

/// As the kernel counts them.
constexpr int most_links = 40;
constexpr unsigned all_permissions = 07777;
/// Answers of EAGAIN (a rename while ".." was looked at) after which the walk has its turn.
constexpr int most_attempts = 16;

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

std::int32_t open_by_kernel(int root, const char* path, int flags, unsigned permissions) noexcept {
  open_how how{};
  how.flags = static_cast<unsigned>(flags);
  // open() leaves out of account what this call refuses: a mode without O_CREAT, and further bits
  // in it, as stat() gives them.
  how.mode = (flags & O_CREAT) != 0 ? permissions & all_permissions : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return outcome_of(static_cast<int>(::syscall(SYS_openat2, root, path, &how, sizeof how)));
}

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
  static constexpr std::int32_t follow = INT32_MIN;  // link_ is a symbolic link

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
    owned_descriptor found(::openat(here(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (found.get() < 0) return -errno;
    struct ::stat status{};
    if (::fstat(found.get(), &status) != 0) return -errno;
    if (S_ISLNK(status.st_mode)) {
      link_ = std::move(found);
      return follow;
    }
    if (!S_ISDIR(status.st_mode)) return -ENOTDIR;
    passed_.push_back(std::move(found));
    return 0;
  }

  std::int32_t open_last(const std::string& name, bool names_folder) {
    if (names_folder && (flags_ & O_CREAT) != 0) return -EISDIR;
    const int flags = flags_ | O_NOFOLLOW | (names_folder ? O_DIRECTORY : 0);
    for (int attempt = 0; attempt < most_attempts; ++attempt) {
      const int descriptor = ::openat(here(), name.c_str(), flags, permissions_);
      if (descriptor >= 0) return descriptor;
      // A link is ELOOP, with O_DIRECTORY ENOTDIR; a new file in its place would be EEXIST.
      const int error = errno;
      if (error != ELOOP && !(error == ENOTDIR && names_folder)) return -error;
      owned_descriptor found(::openat(here(), name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
      if (found.get() < 0) {
        if (errno == ENOENT && (flags & O_CREAT) != 0) continue;  // it has gone
        return -errno;
      }
      struct ::stat status{};
      if (::fstat(found.get(), &status) != 0) return -errno;
      if (S_ISLNK(status.st_mode)) {
        link_ = std::move(found);
        if (names_folder) rest_ = "/";
        return follow;
      }
      if (error == ENOTDIR) return -ENOTDIR;
      // It was one when it was opened, and is none any more.
    }
    return -EAGAIN;
  }

  /// @returns  0 or an error number
  std::int32_t put_link_before_rest() {
    if (++links_ > most_links) return -ELOOP;
    std::array<char, PATH_MAX> target;
    const ssize_t bytes = ::readlinkat(link_.get(), "", target.data(), target.size());
    if (bytes < 0) return -errno;
    if (bytes == 0) return -ENOENT;
    if (target[0] == '/') return -EXDEV;
    std::string text(target.data(), static_cast<std::size_t>(bytes));
    if (!rest_.empty()) text += '/';
    rest_.insert(0, text);
    return rest_.size() < 2 * std::size_t{PATH_MAX} ? 0 : -ENAMETOOLONG;
  }

  const int root_;
  const int flags_;
  const unsigned permissions_;
  std::string rest_;                      // of the path; not empty while it is walked
  std::vector<owned_descriptor> passed_;  // the folders beneath the root that were come through
  owned_descriptor link_{-1};
  int links_ = 0;
};

}  // namespace

std::int32_t open_beneath(native_descriptor root, const char* path, int flags,
                          unsigned permissions) noexcept {
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const std::int32_t outcome = open_by_kernel(root, path, flags, permissions);
    if (outcome == -EAGAIN) continue;
    // Filters of containers that do not know the call answer EPERM. If the file itself is refused
    // so, the walk hears it, too.
    if (outcome != -ENOSYS && outcome != -EPERM) return outcome;
    break;
  }
  try {
    return walk(root, path, flags, permissions).open();
  } catch (const std::bad_alloc&) {
    return -ENOMEM;
  }
}

}  // namespace tandem::inline v0::io::platform
