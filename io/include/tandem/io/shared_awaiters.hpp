// shared_awaiters.hpp: the awaiters of shared_input and shared_output.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <span>
#include <tandem/io/detail/shared_awaiter.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/file_awaiters.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io {

/// Awaiter of shared_input::read() and shared_output::write().
class [[nodiscard]] TANDEM_IO_API shared_transfer_awaiter
    : public detail::shared_awaiter<file_transfer_awaiter> {
 public:
  using lossy_when_dropped =
      detail::lossy<detail::operation_kind::read_shared, detail::operation_kind::write_shared>;

  shared_transfer_awaiter(detail::shared_stream& stream, std::span<std::byte> room) noexcept
      : shared_awaiter(detail::operation_kind::read_shared, detail::file_action::read_on, stream,
                       room.data(), room.size()) {}
  shared_transfer_awaiter(detail::shared_stream& stream, std::span<const std::byte> bytes) noexcept
      : shared_awaiter(detail::operation_kind::write_shared, detail::file_action::write_on, stream,
                       bytes.data(), bytes.size()) {}

  std::size_t await_resume();
  result<std::size_t> await_resume_result();
};

/// Awaiter of shared_output::write_all().
class [[nodiscard]] TANDEM_IO_API shared_write_all_awaiter
    : public detail::shared_awaiter<file_transfer_all_awaiter> {
 public:
  using lossy_when_dropped = detail::lossy<detail::operation_kind::write_all_shared>;

  shared_write_all_awaiter(detail::shared_stream& stream, std::span<const std::byte> bytes) noexcept
      : shared_awaiter(detail::operation_kind::write_all_shared, detail::file_action::write_on,
                       stream, bytes.data(), bytes.size()) {}

  void await_resume();
  result<void> await_resume_result();
};

}  // namespace tandem::inline v0::io
