// path_awaiter.cpp: how an action on paths begins, and what a failure of it says.
// SPDX-License-Identifier: MIT
#include <tandem/io/detail/path_awaiter.hpp>

#include <cerrno>
#include <string>
#include <tandem/errors.hpp>
#include <tandem/stop.hpp>
#include <utility>

namespace tandem::inline v0::io::detail {

path_awaiter::path_awaiter(file_action action, file_handle* folder, std::string path, int flags,
                           unsigned permissions) noexcept
    : file_awaiter(action, folder, nullptr, 0, 0),
      flags_(flags),
      permissions_(permissions),
      path_(std::move(path)) {}

void path_awaiter::lead_to(file_handle* folder, std::string path) noexcept {
  other_folder_ = folder;
  other_path_ = std::move(path);
  has_other_ = true;
}

bool path_awaiter::await_ready() noexcept {
  const auto refuse = [this](int error) {
    request_.fail(error);
    return true;
  };
  // A path that the system would read only up to its first zero names another file.
  if (path_.find('\0') != std::string::npos || other_path_.find('\0') != std::string::npos) {
    return refuse(EINVAL);
  }
  // A number that is no descriptor would stand for the current folder.
  if (file_ != nullptr) {
    if (!file_->is_open()) return refuse(EBADF);
    request_.aim(*file_);
  }
  if (other_folder_ != nullptr) {
    if (!other_folder_->is_open()) return refuse(EBADF);
    what_.other_folder = other_folder_->descriptor();
  }
  what_.path = path_.c_str();
  what_.other_path = other_path_.c_str();
  request_.aim_at(what_, flags_, permissions_);
  return try_now();
}

bool path_awaiter::suspend(tandem::detail::promise_base& waiting) {
  if (other_folder_ == nullptr) return file_awaiter::suspend(waiting);
  other_folder_->begin_operation();
  is_other_in_use_ = true;
  try {
    return file_awaiter::suspend(waiting);
  } catch (...) {
    other_folder_->end_operation();
    throw;
  }
}

std::error_code path_awaiter::end() {
  if (is_other_in_use_) other_folder_->end_operation();
  return file_awaiter::end();
}

void path_awaiter::throw_failure(const std::error_code& failure, const std::string& entry) const {
  if (failure == std::errc::operation_canceled) {
    throw operation_cancelled(tandem::current_stop_reason());
  }
  const auto quoted = [](const file_handle* folder, const std::string& path) {
    std::string text = " \"";
    if (folder != nullptr) text += folder->path() + "\": \"";
    return text + path + '"';
  };
  const bool is_of_directory =
      request_.action() == file_action::remove && (flags_ & names_directory) != 0;
  std::string text = is_of_directory ? "remove_directory" : row_of(request_.action()).name;
  text += quoted(file_, path_);
  if (has_other_) text += " to" + quoted(other_folder_, other_path_);
  if (!entry.empty() && entry != path_) text += ": \"" + entry + '"';
  throw std::system_error(failure, text);
}

}  // namespace tandem::inline v0::io::detail
