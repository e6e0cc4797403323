// file_awaiters.hpp: the awaiters of file.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tandem/io/detail/file_awaiter.hpp>
#include <tandem/io/detail/segment_window.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/file_status.hpp>
#include <tandem/io/open_options.hpp>
#include <tandem/io/registered_buffer.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::io {

class file;

/// Awaiter of file::read_at() and write_at().
class [[nodiscard]] TANDEM_IO_API file_transfer_awaiter : public detail::file_awaiter {
 public:
  file_transfer_awaiter(detail::file_action action, detail::file_handle& target, const void* data,
                        std::size_t bytes, std::uint64_t offset) noexcept
      : file_awaiter(action, &target, const_cast<void*>(data), bytes, offset) {}  // NOLINT
  file_transfer_awaiter(detail::file_action action, detail::file_handle& target,
                        const registered_bytes& part, std::uint64_t offset) noexcept
      : file_awaiter(action, &target, part, offset) {}

  std::size_t await_resume() { return was_ready() ? request_.done() : resume(); }
  result<std::size_t> await_resume_result();

 private:
  std::size_t resume();
};

/// Awaiter of file::read_exactly_at(), write_all_at() and append().
class [[nodiscard]] TANDEM_IO_API file_transfer_all_awaiter : public detail::file_awaiter {
 public:
  file_transfer_all_awaiter(detail::file_action action, detail::file_handle& target,
                            const void* data, std::size_t bytes, std::uint64_t offset) noexcept
      : file_awaiter(action, &target, const_cast<void*>(data), bytes, offset) {}  // NOLINT
  file_transfer_all_awaiter(detail::file_action action, detail::file_handle& target,
                            const registered_bytes& part, std::uint64_t offset) noexcept
      : file_awaiter(action, &target, part, offset) {}

  void await_resume();
  result<void> await_resume_result();
};

/// The same for several buffers.
class [[nodiscard]] TANDEM_IO_API vectored_file_transfer_awaiter : public file_transfer_awaiter {
 public:
  vectored_file_transfer_awaiter(detail::file_action action, detail::file_handle& target,
                                 const detail::segment_window& window,
                                 std::uint64_t offset) noexcept
      : file_transfer_awaiter(action, target, nullptr, 0, offset), window_(window) {}

  bool await_ready() noexcept {
    request_.aim_at(window_);
    return file_transfer_awaiter::await_ready();
  }

 private:
  detail::segment_window window_;
};

class [[nodiscard]] TANDEM_IO_API vectored_file_transfer_all_awaiter
    : public file_transfer_all_awaiter {
 public:
  vectored_file_transfer_all_awaiter(detail::file_action action, detail::file_handle& target,
                                     const detail::segment_window& window,
                                     std::uint64_t offset) noexcept
      : file_transfer_all_awaiter(action, target, nullptr, 0, offset), window_(window) {}

  bool await_ready() noexcept {
    request_.aim_at(window_);
    return file_transfer_all_awaiter::await_ready();
  }

 private:
  detail::segment_window window_;
};

/// Awaiter of file::sync(), sync_data(), truncate(), allocate(), advise() and set_permissions().
class [[nodiscard]] TANDEM_IO_API file_command_awaiter : public detail::file_awaiter {
 public:
  file_command_awaiter(detail::file_action action, detail::file_handle& target,
                       std::uint64_t offset, std::size_t bytes = 0, int flags = 0,
                       unsigned permissions = 0) noexcept
      : file_awaiter(action, &target, nullptr, bytes, offset) {
    request_.say(flags, permissions);
  }

  void await_resume();
  result<void> await_resume_result();
};

/// Awaiter of file::status().
class [[nodiscard]] TANDEM_IO_API file_status_awaiter : public detail::file_awaiter {
 public:
  explicit file_status_awaiter(detail::file_handle& target) noexcept
      : file_awaiter(detail::file_action::status, &target, nullptr, 0, 0) {}

  bool await_ready() noexcept {
    request_.aim_at_path(answer_.data(), 0, 0);
    return file_awaiter::await_ready();
  }
  file_status await_resume();
  result<file_status> await_resume_result();

 private:
  file_status answer() const noexcept;

  alignas(8) std::array<char, 256> answer_;  // a struct statx
};

/// Awaiter of file::open(), open_beneath() and directory::open_file().
class [[nodiscard]] TANDEM_IO_API file_open_awaiter : public detail::file_awaiter {
 public:
  /// @param folder  null: the process's current one
  file_open_awaiter(detail::file_action action, detail::file_handle* folder, std::string path,
                    const open_options& options);

  bool await_ready() noexcept;
  file await_resume();
  result<file> await_resume_result();

 private:
  file opened() noexcept;
  /// On what makes no sense to the system.
  const char* advice_on_path() const noexcept;

  std::string path_;
  open_options options_;
};

}  // namespace tandem::inline v0::io
