// owned_descriptor.hpp: a descriptor that closes itself.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/export.hpp>
#include <tandem/io/native_descriptor.hpp>
#include <utility>

namespace tandem::inline v0::io {

/// Owns a descriptor that is no socket, file or listener of ours yet: one that another process has
/// sent, or that was there when this one began.
///
///     auto file = tandem::io::file::from_native(std::move(descriptor));
///
/// @thread_safety  as a value
class TANDEM_IO_API owned_descriptor {
 public:
  owned_descriptor() noexcept = default;
  explicit owned_descriptor(native_descriptor descriptor) noexcept : descriptor_(descriptor) {}
  owned_descriptor(owned_descriptor&& other) noexcept : descriptor_(other.release()) {}
  owned_descriptor& operator=(owned_descriptor&& other) noexcept {
    if (this != &other) {
      close();
      descriptor_ = other.release();
    }
    return *this;
  }
  ~owned_descriptor() { close(); }

  bool is_open() const noexcept { return detail::is_descriptor(descriptor_); }
  native_descriptor native_handle() const noexcept { return descriptor_; }
  /// Harmless if done before.
  void close() noexcept;
  /// Gives it up without closing it. @returns no_descriptor if there is none
  [[nodiscard]] native_descriptor release() noexcept {
    return std::exchange(descriptor_, no_descriptor);
  }

 private:
  native_descriptor descriptor_ = no_descriptor;
};

class completion_pool;

namespace detail {

/// What Made::from_native() makes of it. It is given up only if that succeeds.
template <class Made, class... More>
Made from_owned(owned_descriptor&& descriptor, More&&... more) {
  Made made = Made::from_native(descriptor.native_handle(), std::forward<More>(more)...);
  (void)descriptor.release();
  return made;
}
template <class Made, class... More>
Made from_owned(completion_pool& pool, owned_descriptor&& descriptor, More&&... more) {
  Made made = Made::from_native(pool, descriptor.native_handle(), std::forward<More>(more)...);
  (void)descriptor.release();
  return made;
}

}  // namespace detail

}  // namespace tandem::inline v0::io
