// local_name.hpp: the path that a Unix socket has made in the file system.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <tandem/io/export.hpp>
#include <tandem/io/unix_endpoint.hpp>
#include <utility>

namespace tandem::inline v0::io::detail {

/// Which file a path leads to.
class file_identity {
 public:
  file_identity() noexcept = default;
  file_identity(std::uint64_t on_device, std::uint64_t inode) noexcept
      : device(on_device), number(inode) {}
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  friend bool operator==(const file_identity&, const file_identity&) noexcept = default;
};

/// Removes it when its socket is closed, unless it is another one's by then.
class TANDEM_IO_API local_name {
 public:
  local_name() noexcept = default;
  local_name(const unix_endpoint& at, const file_identity& made) noexcept : at_(at), made_(made) {}
  local_name(local_name&& other) noexcept : at_(std::exchange(other.at_, {})), made_(other.made_) {}
  local_name& operator=(local_name&& other) noexcept {
    at_ = std::exchange(other.at_, {});
    made_ = other.made_;
    return *this;
  }

  void remove() noexcept;
  /// Lets it be.
  void forget() noexcept { at_ = {}; }

 private:
  unix_endpoint at_;  // unnamed: there is nothing to be removed
  file_identity made_;
};

}  // namespace tandem::inline v0::io::detail
