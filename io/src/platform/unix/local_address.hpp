// local_address.hpp: a unix_endpoint as the operating system writes it.
// SPDX-License-Identifier: MIT
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>
#include <string_view>
#include <tandem/io/unix_endpoint.hpp>

namespace tandem::inline v0::io::platform {

class local_address {
 public:
  /// For the system to write into.
  local_address() noexcept : size_(sizeof address_) {}
  /// One that does not fit has size 0: fits().
  explicit local_address(const unix_endpoint& from) noexcept : size_(0) {
    const std::string_view name = from.name();
    const std::size_t before = from.is_abstract() ? 1 : 0;
    // A path ends with a zero; an abstract name, and no name, end where the size says.
    const std::size_t after = from.is_path() ? 1 : 0;
    if (before + name.size() + after > sizeof address_.sun_path) return;
    address_.sun_family = AF_UNIX;
    std::memcpy(address_.sun_path + before, name.data(), name.size());
    size_ = static_cast<socklen_t>(path_begin + before + name.size() + after);
  }

  bool fits() const noexcept { return size_ != 0; }
  sockaddr* data() noexcept { return reinterpret_cast<sockaddr*>(&address_); }  // NOLINT
  const sockaddr* data() const noexcept {
    return reinterpret_cast<const sockaddr*>(&address_);  // NOLINT
  }
  socklen_t size() const noexcept { return size_; }
  socklen_t* capacity() noexcept { return &size_; }
  /// What the system has written. A name that is longer than ours may be, which no process makes by
  /// our calls, comes as unnamed.
  unix_endpoint to_endpoint() const noexcept {
    if (size_ <= path_begin) return {};
    std::string_view name(address_.sun_path, size_ - path_begin);
    const bool is_abstract = name.front() == '\0';
    if (is_abstract) {
      name.remove_prefix(1);
    } else {
      name = name.substr(0, name.find('\0'));
    }
    if (name.size() > unix_endpoint::most_bytes || (name.empty() && !is_abstract)) return {};
    return is_abstract ? unix_endpoint::abstract(name) : unix_endpoint::path(name);
  }

 private:
  static constexpr std::size_t path_begin = offsetof(sockaddr_un, sun_path);

  sockaddr_un address_{};
  socklen_t size_;
};

}  // namespace tandem::inline v0::io::platform
