// multishot_source.hpp: what the backend tells of a socket that it was asked about once.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <tandem/io/native_descriptor.hpp>

namespace tandem::inline v0::io {

/// A socket from which is received, or accepted, without being asked each time. Lives with its
/// completion thread.
class multishot_source {
 public:
  enum class kind : std::uint8_t { receive, accept };
  multishot_source(kind what, native_descriptor descriptor) noexcept
      : kind_(what), descriptor_(descriptor) {}
  multishot_source(const multishot_source&) = delete;
  multishot_source& operator=(const multishot_source&) = delete;

  /// Called by the backend inside reap().
  ///
  /// @param outcome  bytes; 0: end of stream; negative: an error number (ENOBUFS: no buffer was
  ///                 left; ECANCELED: after disarm()). Accept: a descriptor, now the source's, or
  ///                 an error number
  /// @param buffer   now the source's, if bytes were received; else receive_buffers::none
  /// @param armed    whether more will come; if not, it may be armed again
  virtual void received(std::int32_t outcome, std::uint32_t buffer, bool armed) noexcept = 0;

  kind what() const noexcept { return kind_; }
  native_descriptor descriptor() const noexcept { return descriptor_; }

  // The backend's own.
  std::uint32_t backend_buffer = UINT32_MAX;
  void* backend_state = nullptr;
  bool backend_repeats = false;  // its entry asked for more than one

 protected:
  ~multishot_source() = default;

 private:
  const kind kind_;
  const native_descriptor descriptor_;
};

}  // namespace tandem::inline v0::io
