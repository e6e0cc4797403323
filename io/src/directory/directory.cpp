// directory.cpp: opening a directory.
// SPDX-License-Identifier: MIT
#include <tandem/io/directory.hpp>

#include <cerrno>
#include <string>
#include <tandem/io/owned_descriptor.hpp>
#include <utility>

#include "platform/directories.hpp"

namespace tandem::inline v0::io {

bool directory_open_awaiter::await_ready() noexcept {
  const int error = path_.find('\0') != std::string::npos   ? EINVAL
                    : file_ != nullptr && !file_->is_open() ? EBADF
                                                            : 0;
  if (error != 0) {
    request_.fail(error);
    return true;
  }
  if (file_ != nullptr) request_.aim(*file_);
  request_.aim_at_path(path_.c_str(), platform::directory_open_flags(links_ == symlinks::follow),
                       0);
  return try_now();
}

directory directory_open_awaiter::opened() {
  owned_descriptor made(detail::descriptor_of(static_cast<std::int32_t>(request_.done())));
  // For the texts of errors; there may be no memory for it.
  if (file_ != nullptr && !platform::is_absolute(path_)) path_ = file_->path() + "/" + path_;
  return directory(detail::file_handle(made.release(), std::move(path_), false));
}

result<directory> directory_open_awaiter::await_resume_result() {
  if (const std::error_code failure = end()) return failure;
  return opened();
}

directory directory_open_awaiter::await_resume() {
  if (const std::error_code failure = end()) {
    if (failure == std::errc::operation_canceled) throw_failure(failure);
    std::string text = "directory::open";
    if (file_ != nullptr) text += " \"" + file_->path() + "\":";
    throw std::system_error(failure, text + " \"" + path_ + '"');
  }
  return opened();
}

}  // namespace tandem::inline v0::io
