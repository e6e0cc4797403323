// file_awaiter.cpp: how an operation on a file gets from its task to the system and back.
// SPDX-License-Identifier: MIT
#include <cerrno>
#include <string>
#include <string_view>
#include <tandem/detail/wait_list.hpp>
#include <tandem/errors.hpp>
#include <tandem/io/byte_stream.hpp>
#include <tandem/io/file.hpp>
#include <tandem/stop.hpp>

#include "engine/completion_thread.hpp"
#include "platform/error_number.hpp"
#include "platform/files.hpp"

namespace tandem::inline v0::io {

namespace detail {

namespace {

/// files/port, where rings take no files. @param first  the pool's first thread
platform::file_way way_past_rings(completion_thread& first, file_request& request,
                                  file_handle* file) noexcept {
  const platform::file_port* const port = first.implementation().port_of_files();
  if (port == nullptr || !request.is_transfer()) return platform::file_way::blocking;
  return platform::way_of(request, file->joined_port(), *port);
}

}  // namespace

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
  completion_pool& pool = current_completion_pool(row_of(request_.action()).name);
  completion_thread* thread = &thread_at_hand(pool);
  if (are_for_blocking.has(request_.action()) ||
      !thread->implementation().file_actions().has(request_.action())) {
    thread = &pool.thread(0);
    switch (way_past_rings(*thread, request_, file_)) {
      case platform::file_way::port: break;
      case platform::file_way::blocking:
        if (file_ != nullptr) file_->begin_operation();
        return wait_.emplace<file_call>(request_).begin(waiting);  // files/blocking
      case platform::file_way::refused: request_.fail(EBUSY); return false;
    }
  }
  if (file_ != nullptr) file_->begin_operation();
  auto& entry = wait_.emplace<operation>(operation_kind::file, &request_, 1);  // files/ring
  entry.aim(thread, file_ != nullptr ? request_.descriptor() : 0);
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
  return platform::error_of(request_.error());
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
  const file_row& row = row_of(request_.action());
  std::string text = row.name;
  text += " \"" + file_->path() + '"';
  if (row.is_at_offset) {
    text += " at offset " + std::to_string(begins_at_ + request_.done());
  }
  if (failure == std::errc::invalid_argument && file_->is_direct() && row.is_transfer) {
    text += " (direct: buffer, offset and size have to be multiples of " +
            std::to_string(file_->direct_io_alignment()) + ")";
  }
  if (failure == std::errc::bad_file_descriptor) {
    if (!file_->is_open()) {
      text += " (it is not open)";
    } else if (row.is_transfer && !are_at_positions.has(request_.action())) {
      text += request_.is_reading() ? " (it was opened for writing only)"
                                    : " (it was opened for reading only)";
    }
  }
  if (const std::string_view cure = platform::cure_of(failure); !cure.empty()) {
    (text += " (") += cure;
    text += ')';
  }
  throw std::system_error(failure, text);
}

}  // namespace detail

}  // namespace tandem::inline v0::io
