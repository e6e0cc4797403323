// file_awaiter.cpp: how an operation on a file gets from its task to the system and back.
// SPDX-License-Identifier: MIT
#include <cerrno>
#include <string>
#include <tandem/detail/wait_list.hpp>
#include <tandem/errors.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/io/file.hpp>
#include <tandem/stop.hpp>

#include "engine/completion_thread.hpp"
#include "platform/files.hpp"

namespace tandem::inline v0::io {

namespace detail {

namespace {

const char* name_of(file_action action) noexcept {
  switch (action) {
    case file_action::read: return "file::read_at";
    case file_action::write: return "file::write_at";
    case file_action::append: return "file::append";
    case file_action::sync: return "file::sync";
    case file_action::sync_data: return "file::sync_data";
    case file_action::open: return "file::open";
    case file_action::open_beneath: return "file::open_beneath";
    case file_action::status: return "file::status";
    case file_action::truncate: return "file::truncate";
    case file_action::allocate: return "file::allocate";
  }
  return "file";
}

bool is_transfer(file_action action) noexcept {
  return action == file_action::read || action == file_action::write ||
         action == file_action::append;
}

/// What a ring has no entry for, or what takes several calls where the kernel is old.
bool is_for_blocking(file_action action) noexcept {
  return action == file_action::truncate || action == file_action::open_beneath;
}

}  // namespace

void file_call::perform(blocking_request& self) noexcept {
  static_cast<file_call&>(self).request_->perform();
}

void file_call::end() {
  try {
    resumed();
    queued_.get();
  } catch (const operation_cancelled&) {
    request_->fail(ECANCELED);  // it was not begun
  }
}

bool file_awaiter::try_now() noexcept {
  // A loop over what is in the page cache hears of its stop, too: suspend() ends it.
  if (tandem::stop_requested() || !request_.attempt()) return false;
  if (tandem::detail::charge_ready_await()) return true;
  gives_way_ = true;
  return false;
}

bool file_awaiter::suspend(tandem::detail::promise_base& waiting) {
  if (gives_way_) {  // the await budget is used up
    tandem::detail::yield_for_budget(waiting);
    return true;
  }
  completion_pool& pool = current_completion_pool(name_of(request_.action()));
  completion_thread& thread = thread_at_hand(pool);
  if (file_ != nullptr) file_->begin_operation();
  if (is_for_blocking(request_.action()) || !thread.implementation().takes_files()) {
    return wait_.emplace<file_call>(request_).begin(waiting);  // files/blocking
  }
  auto& entry = wait_.emplace<operation>(operation_kind::file, &request_, 1);  // files/ring
  entry.aim(&thread, file_ != nullptr ? request_.descriptor() : 0);
  return entry.start(waiting);
}

std::error_code file_awaiter::end() {
  if (wait_.index() != 0) {
    if (file_ != nullptr) file_->end_operation();
    if (auto* const entry = std::get_if<operation>(&wait_)) {
      if (entry->failed()) request_.fail(-entry->outcome());
    } else {
      std::get<file_call>(wait_).end();
    }
  }
  if (request_.error() == 0) return {};
  if (request_.error() == ECANCELED) return make_error_code(tandem::current_stop_reason());
  return {request_.error(), std::generic_category()};
}

std::error_code file_awaiter::end_of_all() {
  const std::error_code failure = end();
  if (failure || request_.is_complete()) return failure;
  return stream_errc::unexpected_end;
}

void file_awaiter::throw_failure(const std::error_code& failure) const {
  if (failure == std::errc::operation_canceled) {
    throw operation_cancelled(tandem::current_stop_reason());
  }
  std::string text = name_of(request_.action());
  text += " \"" + file_->path() + '"';
  const file_action action = request_.action();
  if (action != file_action::append && action <= file_action::write) {
    text += " at offset " + std::to_string(begins_at_ + request_.done());
  }
  if (failure == std::errc::invalid_argument && file_->is_direct() && is_transfer(action)) {
    text += " (direct: buffer, offset and size have to be multiples of " +
            std::to_string(file_->direct_io_alignment()) + ")";
  }
  throw std::system_error(failure, text);
}

}  // namespace detail

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
