// file.cpp: opening, taking over and closing files; what is asked without waiting.
// SPDX-License-Identifier: MIT
#include <cerrno>
#include <tandem/config.hpp>
#include <tandem/io/file.hpp>
#include <utility>

#include "platform/files.hpp"

namespace tandem::inline v0::io {

namespace detail {

file_handle::file_handle(native_descriptor descriptor, std::string path, bool is_direct) noexcept
    : descriptor_(descriptor),
      is_direct_(is_direct),
      is_in_memory_(platform::has_no_disk(descriptor)),
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

native_descriptor file_handle::release() noexcept {
  check_idle("a file was released while an operation was in flight on it");
  return std::exchange(descriptor_, -1);
}

void file_handle::close() noexcept {
  if (descriptor_ < 0) return;
  check_idle("a file was closed while an operation was in flight on it: stop and await it first");
  platform::close(std::exchange(descriptor_, -1));
}

std::size_t file_handle::direct_io_alignment() const noexcept {
  return platform::direct_io_alignment_of(descriptor_);
}

}  // namespace detail

namespace {

const open_options& checked(const open_options& options) {
  if (options.truncate && options.mode == open_mode::read) {
    throw std::invalid_argument("open_options: truncate needs mode write or read_write");
  }
  if (options.exclusive && !options.create) {
    throw std::invalid_argument("open_options: exclusive says nothing without create");
  }
  return options;
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
  request_.aim_at_path(path_.c_str(), platform::open_flags(options_), options_.permissions);
  return try_now();
}

file file_open_awaiter::opened() noexcept {
  const auto descriptor = static_cast<int>(request_.done());
  platform::settle_opened(descriptor, options_);
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

file file::from_native(native_descriptor descriptor, std::string name) {
  bool is_direct = false;
  if (!platform::adopt_file(descriptor, is_direct)) {
    platform::throw_last_error("file::from_native: descriptor " + std::to_string(descriptor));
  }
  if (name.empty()) name = "descriptor " + std::to_string(descriptor);
  return file(detail::file_handle(descriptor, std::move(name), is_direct));
}

}  // namespace tandem::inline v0::io
