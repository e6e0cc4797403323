// shared_awaiter.hpp: what the awaiters of shared streams have in common.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <tandem/io/detail/file_action.hpp>
#include <tandem/io/detail/operation_kind.hpp>
#include <tandem/io/detail/shared_stream.hpp>
#include <tandem/io/detail/socket_awaiter.hpp>
#include <variant>

namespace tandem::inline v0::io::detail {

/// Of a stream that can be waited for.
class shared_wait : public socket_awaiter {
 public:
  shared_wait(operation_kind kind, socket& target, void* buffer, std::size_t bytes) noexcept
      : socket_awaiter(kind, target, buffer, bytes) {}
  /// First thing of await_resume. @returns what has ended
  operation& end() noexcept {
    end_operation();
    return operation_;
  }
};

/// Base: what is waited for, or a file, whichever the stream has turned out to be.
///
/// @tparam OfFile  the awaiter of files that does the same
template <class OfFile>
class shared_awaiter {
 public:
  using tandem_awaiter = void;

  bool await_ready() noexcept {
    OfFile* const file = std::get_if<OfFile>(&way_);
    return file != nullptr && file->await_ready();
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    if (OfFile* const file = std::get_if<OfFile>(&way_)) return file->await_suspend(self);
    return std::get<shared_wait>(way_).await_suspend(self);
  }

  /// As socket_awaiter; of a file never.
  bool was_stopped() const noexcept {
    const shared_wait* const wait = std::get_if<shared_wait>(&way_);
    return wait != nullptr && wait->was_stopped();
  }

 protected:
  shared_awaiter(operation_kind kind, file_action action, shared_stream& stream, const void* data,
                 std::size_t bytes) noexcept
      : way_(std::in_place_type<shared_wait>, kind, stream.as_socket(),
             const_cast<void*>(data),  // NOLINT: of what is written the kernel only reads it
             bytes) {
    if (stream.is_file()) way_.template emplace<OfFile>(action, stream.as_file(), data, bytes, 0);
  }

  std::variant<shared_wait, OfFile> way_;
};

}  // namespace tandem::inline v0::io::detail
