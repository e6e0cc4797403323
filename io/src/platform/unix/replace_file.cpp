// replace_file.cpp: a new file beside the old one, its contents, its owner, its name.
// SPDX-License-Identifier: MIT
#include "platform/replace_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <tandem/detail/random.hpp>
#include <tandem/stop.hpp>
#include <utility>

#include "platform/unix/sync_to_disk.hpp"

namespace tandem::inline v0::io::platform {

namespace {

[[noreturn]] void fail(int error, const char* step, const std::string& path) {
  throw failed_step(error, step, path);
}

int checked(int answer, const char* step, const std::string& path) {
  if (answer < 0) fail(errno, step, path);
  return answer;
}

/// With its last slash; empty: the current one.
std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::string() : path.substr(0, slash + 1);
}

/// Where symbolic links lead, whether there is a file or not.
std::string target_of(std::string path) {
  constexpr int most_links = 40;  // as the kernel
  std::array<char, PATH_MAX> link{};
  for (int i = 0; i < most_links; ++i) {
    const ssize_t size = ::readlink(path.c_str(), link.data(), link.size());
    if (size < 0) return path;  // no link, or an error that open() meets, too
    const std::string next(link.data(), static_cast<std::size_t>(size));
    path = next.starts_with('/') ? next : folder_of(path) + next;
  }
  fail(ELOOP, "follow", path);
}

/// A file of which nobody knows yet. Its end takes it away, unless it has got its name.
class new_file {
 public:
  new_file(const std::string& folder, unsigned permissions) {
    constexpr int most_tries = 100;
    for (int i = 0; i < most_tries; ++i) {
      std::array<char, 32> name{};
      (void)std::snprintf(name.data(), name.size(), ".tandem-%016llx.tmp",
                          static_cast<unsigned long long>(tandem::detail::random_bits()));
      path_ = folder + name.data();
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, permissions);
      if (descriptor_ >= 0) return;
      if (errno != EEXIST && errno != EINTR) break;
    }
    fail(errno, "create", path_);
  }
  new_file(const new_file&) = delete;
  new_file& operator=(const new_file&) = delete;
  ~new_file() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!path_.empty()) ::unlink(path_.c_str());
  }

  void write(std::span<const std::byte> bytes) const {
    constexpr std::size_t between_looks = std::size_t{1} << 20;
    while (!bytes.empty()) {
      tandem::throw_if_stopped();
      const ssize_t count =
          ::write(descriptor_, bytes.data(), std::min(bytes.size(), between_looks));
      if (count < 0 && errno == EINTR) continue;
      checked(static_cast<int>(count), "write", path_);
      bytes = bytes.subspan(static_cast<std::size_t>(count));
    }
  }
  /// The owner that the old file had, as far as we may give files away, and its permissions.
  void take_after(const struct ::stat& old) const {
    unsigned permissions = old.st_mode & 0777U;
    if (!give_to(old.st_uid, old.st_gid) && !give_to(keep, old.st_gid)) {
      // What the old group might do is not for another one to do.
      permissions &= ~070U | (permissions & 07U) << 3U;
    }
    checked(::fchmod(descriptor_, permissions), "chmod", path_);
  }
  void sync() const { checked(sync_to_disk(descriptor_), "sync", path_); }
  void take_name(const std::string& target) {
    // Some file systems tell only now that there was no room.
    checked(::close(std::exchange(descriptor_, -1)), "close", path_);
    tandem::throw_if_stopped();
    checked(::rename(path_.c_str(), target.c_str()), "replace", target);
    path_.clear();
  }

 private:
  static constexpr auto keep = static_cast<uid_t>(-1);
  bool give_to(uid_t owner, gid_t group) const {
    return ::fchown(descriptor_, owner, group) == 0;  // most may not: no failure
  }

  std::string path_;
  int descriptor_ = -1;
};

void sync_folder(const std::string& path) {
  const int descriptor =
      checked(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open", path);
  const int answer = sync_to_disk(descriptor);
  const int error = errno;
  ::close(descriptor);
  if (answer != 0) fail(error, "sync", path);
}

}  // namespace

void replace_file(const std::string& path, std::span<const std::byte> bytes,
                  const write_options& options) {
  const std::string target = target_of(path);
  const std::string folder = folder_of(target);
  const std::string to_sync = folder.empty() ? "." : folder;  // nothing may fail after the rename
  struct ::stat there{};
  const bool exists = ::stat(target.c_str(), &there) == 0;
  if (exists && !S_ISREG(there.st_mode)) {
    fail(S_ISDIR(there.st_mode) ? EISDIR : EINVAL, "replace", target);
  }
  // Until it is known to be for others to read, only we do.
  new_file made(folder, exists ? 0600U : options.permissions);
  made.write(bytes);
  if (exists) made.take_after(there);
  if (options.durable) made.sync();
  made.take_name(target);
  if (options.durable) sync_folder(to_sync);
}

}  // namespace tandem::inline v0::io::platform
