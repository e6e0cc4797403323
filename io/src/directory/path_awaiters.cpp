// path_awaiters.cpp: what each action on paths ends as.
// SPDX-License-Identifier: MIT
#include <tandem/io/path_awaiters.hpp>

#include <utility>

#include "platform/files.hpp"

namespace tandem::inline v0::io {

void path_command_awaiter::await_resume() {
  if (const std::error_code failure = end()) throw_failure(failure);
}

result<void> path_command_awaiter::await_resume_result() {
  if (const std::error_code failure = end()) return failure;
  return {};
}

file_status path_status_awaiter::await_resume() {
  static_assert(sizeof answer_ == platform::status_bytes);
  if (const std::error_code failure = end()) throw_failure(failure);
  return platform::status_from(answer_.data());
}

result<file_status> path_status_awaiter::await_resume_result() {
  if (const std::error_code failure = end()) return failure;
  return platform::status_from(answer_.data());
}

std::string read_link_awaiter::await_resume() {
  if (const std::error_code failure = end()) throw_failure(failure);
  return std::move(text_);
}

result<std::string> read_link_awaiter::await_resume_result() {
  if (const std::error_code failure = end()) return failure;
  return std::move(text_);
}

std::uint64_t remove_tree_awaiter::await_resume() {
  if (const std::error_code failure = end()) throw_failure(failure, removal_.failed);
  return removal_.removed;
}

result<std::uint64_t> remove_tree_awaiter::await_resume_result() {
  if (const std::error_code failure = end()) return failure;
  return removal_.removed;
}

}  // namespace tandem::inline v0::io
