// file_handle.hpp: a file's descriptor, and how many operations are in flight on it.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tandem/io/export.hpp>
#include <tandem/io/native_descriptor.hpp>

namespace tandem::inline v0::io::detail {

/// Owns one descriptor. Closing it with an operation in flight is a broken precondition: its number
/// may be another file's before the operation begins.
class TANDEM_IO_API file_handle {
 public:
  file_handle() noexcept = default;
  file_handle(native_descriptor descriptor, std::string path, bool is_direct) noexcept;
  file_handle(file_handle&& other) noexcept;
  file_handle& operator=(file_handle&& other) noexcept;
  ~file_handle() { close(); }

  native_descriptor descriptor() const noexcept { return descriptor_; }
  bool is_open() const noexcept { return is_descriptor(descriptor_); }
  bool is_direct() const noexcept { return is_direct_; }
  /// On a file system without a disk: a transfer waits for nothing, but knows no RWF_NOWAIT.
  bool is_in_memory() const noexcept { return is_in_memory_; }
  const std::string& path() const noexcept { return path_; }
  /// Of buffers, offsets and sizes; as the file system says, else 4096.
  std::size_t direct_io_alignment() const noexcept;
  void close() noexcept;
  /// Gives it up without closing it. @returns no_descriptor if there is none
  native_descriptor release() noexcept;

  /// Which port its packets go to, where the system has ports for files (files/port).
  std::atomic<std::uint64_t>& joined_port() noexcept { return joined_port_; }

  void begin_operation() noexcept { in_flight_.fetch_add(1, std::memory_order_relaxed); }
  void end_operation() noexcept { in_flight_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  void check_idle(const char* message) const noexcept;

  native_descriptor descriptor_ = no_descriptor;
  bool is_direct_ = false;
  bool is_in_memory_ = false;
  std::atomic<int> in_flight_{0};              // a check only; orders nothing
  std::atomic<std::uint64_t> joined_port_{0};  // platform::way_of()
  std::string path_;
};

}  // namespace tandem::inline v0::io::detail
