// splice_pipe.cpp: filling and draining a pipe of the system's.
// SPDX-License-Identifier: MIT
#include <tandem/io/splice_pipe.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <tandem/config.hpp>
#include <tandem/io/file.hpp>
#include <tandem/io/socket_stream.hpp>
#include <utility>

#include "platform/error_number.hpp"
#include "platform/two_ends.hpp"

namespace tandem::inline v0::io {

using detail::file_action;
using detail::operation_kind;

splice_pipe::splice_pipe(std::size_t capacity) {
  platform::pipe_ends made;
  if (const std::int32_t outcome = platform::open_splice_pipe(capacity, made); outcome < 0) {
    throw std::system_error(platform::error_of(-outcome), "splice_pipe");
  }
  reading_ = owned_descriptor(made.reading);
  writing_ = owned_descriptor(made.writing);
  capacity_ = made.capacity;
}

splice_pipe::splice_pipe(splice_pipe&& other) noexcept
    : reading_(std::move(other.reading_)),
      writing_(std::move(other.writing_)),
      capacity_(std::exchange(other.capacity_, 0)),
      held_(std::exchange(other.held_, 0)) {
  TANDEM_ASSERT(!other.is_in_use_,
                "a splice_pipe was moved while an operation was in flight on it");
}

splice_pipe& splice_pipe::operator=(splice_pipe&& other) noexcept {
  TANDEM_ASSERT(!is_in_use_, "a splice_pipe was replaced while an operation was in flight on it");
  splice_pipe moved(std::move(other));
  std::swap(reading_, moved.reading_);
  std::swap(writing_, moved.writing_);
  std::swap(capacity_, moved.capacity_);
  std::swap(held_, moved.held_);
  return *this;
}

splice_pipe::~splice_pipe() {
  TANDEM_ASSERT(
      !is_in_use_,
      "a splice_pipe was destroyed while an operation was in flight on it: stop and await "
      "it first");
}

void splice_pipe::begin_operation() noexcept {
  TANDEM_ASSERT(!is_in_use_, "a second operation of a splice_pipe while one is under way");
  is_in_use_ = true;
}

std::size_t splice_pipe::room(std::size_t most) const noexcept {
  // copy/own_pipe. How much fits is not known while something is in there: a byte may take a page.
  return held_ == 0 ? std::min(most, capacity_) : 0;
}

std::size_t splice_pipe::rest(std::size_t most) const noexcept { return std::min(most, held_); }

splice_awaiter splice_pipe::fill_from(socket_stream& from, std::size_t most) noexcept {
  return {operation_kind::fill_pipe, *this, from.socket_, most};
}
splice_awaiter splice_pipe::drain_to(socket_stream& to, std::size_t most) noexcept {
  return {operation_kind::drain_pipe, *this, to.socket_, most};
}
splice_file_awaiter splice_pipe::fill_from(file& from, std::uint64_t offset,
                                           std::size_t most) noexcept {
  return {file_action::fill_pipe, *this, from.handle(), offset, most};
}
splice_file_awaiter splice_pipe::drain_to(file& to, std::uint64_t offset,
                                          std::size_t most) noexcept {
  return {file_action::drain_pipe, *this, to.handle(), offset, most};
}

splice_awaiter::splice_awaiter(operation_kind kind, splice_pipe& pipe, detail::socket& other,
                               std::size_t most) noexcept
    : socket_awaiter(kind, other, nullptr, 0), pipe_(&pipe), end_(no_descriptor, 0, most) {
  operation_.try_at_home();
}

void splice_awaiter::aim() noexcept {
  pipe_->begin_operation();
  const bool fills = operation_.takes();
  end_.descriptor = (fills ? pipe_->writing_ : pipe_->reading_).native_handle();
  end_.bytes = fills ? pipe_->room(end_.bytes) : pipe_->rest(end_.bytes);
  operation_.aim_at(end_);
}

std::size_t splice_awaiter::moved() noexcept {
  const auto bytes = static_cast<std::size_t>(operation_.outcome());
  pipe_->held_ = operation_.takes() ? pipe_->held_ + bytes : pipe_->held_ - bytes;
  return bytes;
}

std::size_t splice_awaiter::await_resume() {
  end_operation();
  pipe_->end_operation();
  if (operation_.failed()) operation_.throw_failure(operation_.name());
  return moved();
}

result<std::size_t> splice_awaiter::await_resume_result() {
  end_operation();
  pipe_->end_operation();
  if (operation_.failed()) return operation_.error();
  return moved();
}

splice_file_awaiter::splice_file_awaiter(file_action action, splice_pipe& pipe,
                                         detail::file_handle& other, std::uint64_t offset,
                                         std::size_t most) noexcept
    : file_awaiter(action, &other, nullptr, 0, offset),
      pipe_(&pipe),
      end_(no_descriptor, offset, most) {}

bool splice_file_awaiter::await_ready() noexcept {
  const bool fills = request_.action() == file_action::fill_pipe;
  end_.descriptor = (fills ? pipe_->writing_ : pipe_->reading_).native_handle();
  end_.bytes = fills ? pipe_->room(end_.bytes) : pipe_->rest(end_.bytes);
  if (fills && end_.bytes == 0) {
    request_.fail(EINVAL);
    return true;
  }
  request_.aim_at(end_);
  return file_awaiter::await_ready();
}

bool splice_file_awaiter::suspend(tandem::detail::promise_base& waiting) {
  pipe_->begin_operation();
  try {
    return file_awaiter::suspend(waiting);
  } catch (...) {
    pipe_->end_operation();
    throw;
  }
}

std::error_code splice_file_awaiter::end() {
  pipe_->end_operation();
  return file_awaiter::end();
}

std::size_t splice_file_awaiter::moved() noexcept {
  const bool fills = request_.action() == file_action::fill_pipe;
  pipe_->held_ = fills ? pipe_->held_ + request_.done() : pipe_->held_ - request_.done();
  return request_.done();
}

std::size_t splice_file_awaiter::await_resume() {
  if (const std::error_code failure = end()) throw_failure(failure);
  return moved();
}

result<std::size_t> splice_file_awaiter::await_resume_result() {
  if (const std::error_code failure = end()) return failure;
  return moved();
}

}  // namespace tandem::inline v0::io
