// path_awaiters.hpp: the awaiters of what is done with paths.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <tandem/io/detail/entry_list.hpp>
#include <tandem/io/detail/path_awaiter.hpp>
#include <tandem/io/export.hpp>
#include <tandem/io/file_status.hpp>
#include <tandem/io/path_options.hpp>
#include <tandem/result.hpp>
#include <utility>

namespace tandem::inline v0::io {

/// Awaiter of make_directory(), remove_file(), remove_directory(), make_symbolic_link() and
/// set_permissions().
class [[nodiscard]] TANDEM_IO_API path_command_awaiter : public detail::path_awaiter {
 public:
  path_command_awaiter(detail::file_action action, detail::file_handle* folder, std::string path,
                       int flags = 0, unsigned permissions = 0) noexcept
      : path_awaiter(action, folder, std::move(path), flags, permissions) {}

  void await_resume();
  result<void> await_resume_result();
};

/// Awaiter of rename_file(), make_link() and make_symbolic_link().
class [[nodiscard]] TANDEM_IO_API path_pair_awaiter : public path_command_awaiter {
 public:
  path_pair_awaiter(detail::file_action action, detail::file_handle* folder, std::string path,
                    detail::file_handle* other_folder, std::string other_path,
                    int flags = 0) noexcept
      : path_command_awaiter(action, folder, std::move(path), flags) {
    lead_to(other_folder, std::move(other_path));
  }
};

/// Awaiter of status_of().
class [[nodiscard]] TANDEM_IO_API path_status_awaiter : public detail::path_awaiter {
 public:
  path_status_awaiter(detail::file_handle* folder, std::string path, symlinks links) noexcept
      : path_awaiter(detail::file_action::status_at, folder, std::move(path),
                     links == symlinks::follow ? detail::follows_links : 0) {}

  bool await_ready() noexcept {
    answer_to(answer_.data());
    return path_awaiter::await_ready();
  }
  file_status await_resume();
  result<file_status> await_resume_result();

 private:
  alignas(8) std::array<char, 256> answer_;  // as of file_status_awaiter
};

/// Awaiter of read_link().
class [[nodiscard]] TANDEM_IO_API read_link_awaiter : public detail::path_awaiter {
 public:
  read_link_awaiter(detail::file_handle* folder, std::string path) noexcept
      : path_awaiter(detail::file_action::read_link, folder, std::move(path)) {}

  bool await_ready() noexcept {
    answer_to(&text_);
    return path_awaiter::await_ready();
  }
  std::string await_resume();
  result<std::string> await_resume_result();

 private:
  std::string text_;
};

/// Awaiter of remove_tree().
class [[nodiscard]] TANDEM_IO_API remove_tree_awaiter : public detail::path_awaiter {
 public:
  remove_tree_awaiter(detail::file_handle* folder, std::string path) noexcept
      : path_awaiter(detail::file_action::remove_tree, folder, std::move(path)) {}

  bool await_ready() noexcept {
    answer_to(&removal_);
    return path_awaiter::await_ready();
  }
  std::uint64_t await_resume();
  result<std::uint64_t> await_resume_result();

 private:
  detail::tree_removal removal_;
};

}  // namespace tandem::inline v0::io
