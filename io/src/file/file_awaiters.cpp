// file_awaiters.cpp: what each call on a file begins with, and what it ends as.
// SPDX-License-Identifier: MIT
#include <tandem/io/file_awaiters.hpp>

#include <cerrno>
#include <cstdint>
#include <stdexcept>
#include <tandem/io/file.hpp>
#include <utility>

#include "platform/files.hpp"

namespace tandem::inline v0::io {

namespace {

const open_options& checked(const open_options& options) {
  if (options.truncate && options.mode == open_mode::read) {
    throw std::invalid_argument("open_options: truncate needs mode write or read_write");
  }
  if (options.unnamed && (options.mode == open_mode::read || options.create)) {
    throw std::invalid_argument("open_options: unnamed needs mode write or read_write, no create");
  }
  if (options.exclusive && !options.create) {
    throw std::invalid_argument("open_options: exclusive says nothing without create");
  }
  return options;
}

}  // namespace

file_open_awaiter::file_open_awaiter(detail::file_action action, detail::file_handle* folder,
                                     std::string path, const open_options& options)
    : file_awaiter(action, folder, nullptr, 0, 0),
      path_(std::move(path)),
      options_(checked(options)) {}

bool file_open_awaiter::await_ready() noexcept {
  // A path that the system would read only up to its first zero names another file.
  if (path_.find('\0') != std::string::npos) {
    request_.fail(EINVAL);
    return true;
  }
  if (file_ != nullptr) {
    request_.aim(*file_);
    if (!file_->is_open()) {
      request_.fail(EBADF);
      return true;
    }
  }
  request_.aim_at_path(path_.c_str(), platform::open_flags(options_), options_.permissions);
  return try_now();
}

file file_open_awaiter::opened() noexcept {
  const auto descriptor = detail::descriptor_of(static_cast<std::int32_t>(request_.done()));
  platform::settle_opened(descriptor, options_);
  return file(detail::file_handle(descriptor, std::move(path_), options_.direct));
}

const char* file_open_awaiter::advice_on_path() const noexcept {
  if (path_.find('\0') != std::string::npos) return " (the path has a zero byte)";
  return options_.direct ? " (direct: its file system may have no direct transfers)" : "";
}

result<file> file_open_awaiter::await_resume_result() {
  if (const std::error_code failure = end()) return failure;
  return opened();
}

file file_open_awaiter::await_resume() {
  if (const std::error_code failure = end()) {
    if (failure == std::errc::operation_canceled) throw_failure(failure);
    std::string text = detail::row_of(request_.action()).name;
    if (file_ != nullptr) text += " \"" + file_->path() + "\":";
    text += std::string(" \"") + path_.c_str() + '"';  // up to a zero, behind which none would read
    if (failure == std::errc::invalid_argument) text += advice_on_path();
    throw std::system_error(failure, text);
  }
  return opened();
}

std::size_t file_transfer_awaiter::resume() {
  const std::error_code failure = end();
  if (failure && request_.done() == 0) throw_failure(failure);
  return request_.done();
}

result<std::size_t> file_transfer_awaiter::await_resume_result() {
  const std::error_code failure = end();
  if (failure && request_.done() == 0) return failure;
  return request_.done();
}

void file_transfer_all_awaiter::await_resume() {
  if (const std::error_code failure = end_of_all()) throw_failure(failure);
}

result<void> file_transfer_all_awaiter::await_resume_result() {
  if (const std::error_code failure = end_of_all()) return failure;
  return {};
}

void file_command_awaiter::await_resume() {
  if (const std::error_code failure = end()) throw_failure(failure);
}

result<void> file_command_awaiter::await_resume_result() {
  if (const std::error_code failure = end()) return failure;
  return {};
}

file_status file_status_awaiter::answer() const noexcept {
  static_assert(sizeof answer_ == platform::status_bytes);
  return platform::status_from(answer_.data());
}

file_status file_status_awaiter::await_resume() {
  if (const std::error_code failure = end()) throw_failure(failure);
  return answer();
}

result<file_status> file_status_awaiter::await_resume_result() {
  if (const std::error_code failure = end()) return failure;
  return answer();
}

}  // namespace tandem::inline v0::io
