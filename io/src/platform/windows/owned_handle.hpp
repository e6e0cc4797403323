// owned_handle.hpp: a handle that is closed with its owner.
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

/// Null: none.
class owned_handle {
 public:
  explicit owned_handle(HANDLE handle) noexcept : handle_(handle) {}
  owned_handle(owned_handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  owned_handle& operator=(owned_handle&&) = delete;
  ~owned_handle() {
    if (handle_ != nullptr) ::CloseHandle(handle_);
  }
  HANDLE get() const noexcept { return handle_; }
  HANDLE release() noexcept { return std::exchange(handle_, nullptr); }

 private:
  HANDLE handle_;
};

}  // namespace tandem::inline v0::io::platform
