// socket.hpp: a descriptor bound to a completion thread for life.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io::detail {

class multishot;

/// Owns one descriptor. Closing it with an operation in flight is a broken precondition: the kernel
/// would go on writing into a buffer that nobody keeps.
class TANDEM_IO_API socket {
 public:
  socket() noexcept = default;
  socket(int descriptor, completion_thread& thread) noexcept
      : descriptor_(descriptor), thread_(&thread) {}
  socket(socket&& other) noexcept;
  socket& operator=(socket&& other) noexcept;
  ~socket() { close(); }

  int descriptor() const noexcept { return descriptor_; }
  completion_thread* thread() const noexcept { return thread_; }
  bool is_open() const noexcept { return descriptor_ >= 0; }
  void close() noexcept;
  /// Gives it up without closing it. @returns -1 if there is none
  int release() noexcept;

  /// Null before the first receive() or incoming().
  multishot* source() const noexcept { return source_; }
  void set_source(multishot& made) noexcept { source_ = &made; }
  /// It listens, and nobody else has it: close() ends that at once, whoever holds the descriptor.
  void set_listens() noexcept { listens_ = true; }

  void begin_operation() noexcept { in_flight_.fetch_add(1, std::memory_order_relaxed); }
  void end_operation() noexcept { in_flight_.fetch_sub(1, std::memory_order_relaxed); }

 private:
  int descriptor_ = -1;
  std::atomic<int> in_flight_{0};  // a check only; orders nothing
  completion_thread* thread_ = nullptr;
  bool listens_ = false;
  multishot* source_ = nullptr;  // once there is one, it closes the descriptor
};

}  // namespace tandem::inline v0::io::detail
