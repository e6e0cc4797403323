// owned_handle.hpp: a handle that is closed with its owner.
// SPDX-License-Identifier: MIT
#pragma once

#include <utility>

#include "platform/windows/system.hpp"

namespace tandem::inline v0::io::platform {

/// None: null or INVALID_HANDLE_VALUE, as the system's calls have it.
class owned_handle {
 public:
  explicit owned_handle(HANDLE handle = nullptr) noexcept : handle_(handle) {}
  owned_handle(owned_handle&& other) noexcept : handle_(other.release()) {}
  owned_handle& operator=(owned_handle&& other) noexcept {
    if (this != &other) {
      (void)close();
      handle_ = other.release();
    }
    return *this;
  }
  ~owned_handle() { (void)close(); }

  bool is_open() const noexcept { return handle_ != nullptr && handle_ != INVALID_HANDLE_VALUE; }
  HANDLE get() const noexcept { return handle_; }
  HANDLE release() noexcept { return std::exchange(handle_, nullptr); }
  /// @returns  false if the system says that something went wrong
  bool close() noexcept { return !is_open() || ::CloseHandle(release()) != 0; }

 private:
  HANDLE handle_;
};

}  // namespace tandem::inline v0::io::platform
