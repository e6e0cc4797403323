// file_awaiter.hpp: what the awaiters of operations on files have in common.
// SPDX-License-Identifier: MIT
//
// First without waiting, in await_ready: what the page cache has costs a system call and no more
// (files/try). Else by the ring of a completion thread (files/ring), else by a thread of blocking()
// (files/blocking).
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <system_error>
#include <tandem/io/detail/file_call.hpp>
#include <tandem/io/detail/file_handle.hpp>
#include <tandem/io/detail/file_request.hpp>
#include <tandem/io/detail/operation.hpp>
#include <tandem/io/registered_buffer.hpp>
#include <variant>

namespace tandem::inline v0::io::detail {

class TANDEM_IO_API file_awaiter {
 public:
  using tandem_awaiter = void;

  bool await_ready() noexcept {
    request_.aim(*file_);
    return try_now();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    return suspend(self.promise());
  }

 protected:
  /// @param target  null for open
  file_awaiter(file_action action, file_handle* target, void* data, std::size_t bytes,
               std::uint64_t offset) noexcept
      : request_(action, data, bytes, offset), file_(target), begins_at_(offset) {}
  /// @param plain  read or write
  file_awaiter(file_action plain, file_handle* target, const registered_bytes& part,
               std::uint64_t offset) noexcept
      : file_awaiter(part.has_slot() ? registered(plain) : plain, target, part.data(), part.size(),
                     offset) {
    request_.use_slot(part.slot());
  }
  file_awaiter(file_awaiter&&) noexcept = default;
  ~file_awaiter() = default;

  /// files/try. @returns whether the await is ready
  bool try_now() noexcept;
  /// @returns  whether the task suspends. @throws what kept the operation from being begun
  bool suspend(tandem::detail::promise_base& waiting);
  /// First thing of await_resume. @returns the failure as a code, empty if there is none
  /// @throws  what kept the operation from being begun
  std::error_code end();
  /// @throws  operation_cancelled, or std::system_error saying what was tried with which file
  [[noreturn]] void throw_failure(const std::error_code& failure) const;
  /// It was done in place, as most are.
  bool was_ready() const noexcept { return wait_.index() == 0 && request_.error() == 0; }
  /// The code of a transfer of which all has to be done.
  std::error_code end_of_all();

  file_request request_;
  file_handle* file_;

 private:
  bool gives_way_ = false;
  std::uint64_t begins_at_;  // for the text of a failure
  std::variant<std::monostate, operation, file_call> wait_;
};

}  // namespace tandem::inline v0::io::detail
