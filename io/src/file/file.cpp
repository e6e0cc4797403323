// file.cpp: opening, taking over and closing files; what is asked without waiting.
// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <tandem/config.hpp>
#include <tandem/io/file.hpp>
#include <utility>

namespace tandem::inline v0::io {

namespace detail {

namespace {

/// Only files in memory can be sealed. (fstatfs() would ask the server of a network's file system.)
bool has_no_disk(int descriptor) noexcept { return ::fcntl(descriptor, F_GET_SEALS) >= 0; }

}  // namespace

file_handle::file_handle(int descriptor, std::string path, bool is_direct) noexcept
    : descriptor_(descriptor),
      is_direct_(is_direct),
      is_in_memory_(has_no_disk(descriptor)),
      path_(std::move(path)) {}

file_handle::file_handle(file_handle&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      is_direct_(other.is_direct_),
      is_in_memory_(other.is_in_memory_),
      path_(std::move(other.path_)) {
  other.check_idle("a file was moved while an operation was in flight on it");
}

file_handle& file_handle::operator=(file_handle&& other) noexcept {
  if (this != &other) {
    other.check_idle("a file was moved while an operation was in flight on it");
    close();
    descriptor_ = std::exchange(other.descriptor_, -1);
    is_direct_ = other.is_direct_;
    is_in_memory_ = other.is_in_memory_;
    path_ = std::move(other.path_);
  }
  return *this;
}

void file_handle::check_idle(const char* message) const noexcept {
  TANDEM_ASSERT(in_flight_.load(std::memory_order_relaxed) == 0, message);
}

int file_handle::release() noexcept {
  check_idle("a file was released while an operation was in flight on it");
  return std::exchange(descriptor_, -1);
}

void file_handle::close() noexcept {
  if (descriptor_ < 0) return;
  check_idle("a file was closed while an operation was in flight on it: stop and await it first");
  ::close(std::exchange(descriptor_, -1));
}

std::size_t file_handle::direct_io_alignment() const noexcept {
  constexpr std::size_t usual = 4096;
#ifdef STATX_DIOALIGN
  struct ::statx answer{};
  // Since 6.1; others leave the fields alone.
  if (::statx(descriptor_, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_DIOALIGN, &answer) == 0 &&
      (answer.stx_mask & STATX_DIOALIGN) != 0 && answer.stx_dio_offset_align != 0) {
    return std::max<std::size_t>(answer.stx_dio_mem_align, answer.stx_dio_offset_align);
  }
#endif
  return usual;
}

}  // namespace detail

namespace {

int flags_of(const open_options& options) noexcept {
  // O_NOCTTY: a terminal that is opened is not to become the process's own. O_NONBLOCK: rings do
  // not wait for the other end of a pipe anyway, if they find it at once; so nobody does.
  int flags = O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  switch (options.mode) {
    case open_mode::read: flags |= O_RDONLY; break;
    case open_mode::write: flags |= O_WRONLY; break;
    case open_mode::read_write: flags |= O_RDWR; break;
  }
  if (options.create) flags |= O_CREAT;
  if (options.create && options.exclusive) flags |= O_EXCL;
  if (options.truncate) flags |= O_TRUNC;
  if (options.append) flags |= O_APPEND;
  if (options.direct) flags |= O_DIRECT;
  return flags;
}

const open_options& checked(const open_options& options) {
  if (options.truncate && options.mode == open_mode::read) {
    throw std::invalid_argument("open_options: truncate needs mode write or read_write");
  }
  if (options.exclusive && !options.create) {
    throw std::invalid_argument("open_options: exclusive says nothing without create");
  }
  return options;
}

[[noreturn]] void refuse(int descriptor) {
  throw std::system_error(errno, std::generic_category(),
                          "file::from_native: descriptor " + std::to_string(descriptor));
}

}  // namespace

file_open_awaiter::file_open_awaiter(std::string path, const open_options& options)
    : file_awaiter(detail::file_action::open, nullptr, nullptr, 0, 0),
      path_(std::move(path)),
      options_(checked(options)) {}

file_open_awaiter::file_open_awaiter(detail::file_handle& root, std::string relative,
                                     const open_options& options)
    : file_awaiter(detail::file_action::open_beneath, &root, nullptr, 0, 0),
      path_(std::move(relative)),
      options_(checked(options)) {}

bool file_open_awaiter::await_ready() noexcept {
  // A path that the system would read only up to its first zero names another file.
  if (path_.find('\0') != std::string::npos) {
    request_.fail(EINVAL);
    return true;
  }
  if (file_ != nullptr) request_.aim(*file_);
  request_.aim_at_path(path_.c_str(), flags_of(options_), options_.permissions);
  return try_now();
}

file file_open_awaiter::opened() noexcept {
  const auto descriptor = static_cast<int>(request_.done());
  constexpr int settable = O_APPEND | O_DIRECT;
  (void)::fcntl(descriptor, F_SETFL, flags_of(options_) & settable);  // blocking from here on
  return file(detail::file_handle(descriptor, std::move(path_), options_.direct));
}

result<file> file_open_awaiter::await_resume_result() {
  if (const std::error_code failure = end()) return failure;
  return opened();
}

file file_open_awaiter::await_resume() {
  if (const std::error_code failure = end()) {
    if (failure == std::errc::operation_canceled) throw_failure(failure);
    std::string text = "file::open \"" + path_ + '"';
    if (file_ != nullptr) text = "file::open_beneath \"" + file_->path() + "\": \"" + path_ + '"';
    throw std::system_error(failure, text);
  }
  return opened();
}

file file::from_native(int descriptor, std::string name) {
  const int flags = ::fcntl(descriptor, F_GETFD);
  const int status = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || status < 0) refuse(descriptor);
  if (name.empty()) name = "descriptor " + std::to_string(descriptor);
  if (::fcntl(descriptor, F_SETFL, status & ~O_NONBLOCK) != 0 ||
      ::fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) != 0) {
    refuse(descriptor);
  }
  return file(detail::file_handle(descriptor, std::move(name), (status & O_DIRECT) != 0));
}

}  // namespace tandem::inline v0::io
