// copy_awaiters.hpp: parts of copies and of sent files. Awaited by tasks of the library only.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <tandem/io/detail/file_awaiter.hpp>
#include <tandem/io/detail/other_end.hpp>
#include <tandem/io/detail/socket_awaiter.hpp>
#include <tandem/io/export.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io::detail {

/// As many bytes of a file as the system takes at once.
class [[nodiscard]] TANDEM_IO_API send_piece_awaiter : public socket_awaiter {
 public:
  using lossy_when_dropped = lossy<operation_kind::send_file>;

  send_piece_awaiter(socket& by, const file_handle& from, std::uint64_t offset,
                     std::size_t bytes) noexcept
      : socket_awaiter(operation_kind::send_file, by, nullptr, 0),
        file_(from.descriptor(), offset, bytes) {
    file_.is_in_memory = from.is_in_memory();
    operation_.try_at_home();
  }

  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    operation_.aim_at(file_);
    return socket_awaiter::await_suspend(self);
  }
  moved_part await_resume();
  result<moved_part> await_resume_result();

 private:
  moved_part moved() const noexcept;

  other_end file_;
};

/// A part of a file into another one, by the system.
class [[nodiscard]] TANDEM_IO_API copy_range_awaiter : public file_awaiter {
 public:
  copy_range_awaiter(file_handle& from, std::uint64_t offset, std::size_t bytes,
                     const file_handle& to, std::uint64_t to_offset) noexcept
      : file_awaiter(file_action::copy, &from, nullptr, bytes, offset),
        to_(to.descriptor(), to_offset, bytes) {}

  bool await_ready() noexcept {
    request_.aim_at(to_);
    return file_awaiter::await_ready();
  }
  moved_part await_resume();
  result<moved_part> await_resume_result();

 private:
  other_end to_;
};

}  // namespace tandem::inline v0::io::detail
