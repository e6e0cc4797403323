// frame_cache.hpp: one operation at a time, and memory for its coroutine frame that is kept.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io::detail {

/// Lends the same block to one frame after the other. Before each stands who lent it, so it comes
/// back wherever the frame ends: before its caller hears of that, so no exchange is needed.
///
/// @thread_safety  one frame at a time
class TANDEM_IO_API frame_cache {
 public:
  frame_cache() noexcept = default;
  frame_cache(const frame_cache&) = delete;
  frame_cache& operator=(const frame_cache&) = delete;
  /// pre: no operation is under way
  ~frame_cache();

  /// Around an operation, whether it takes memory or not. pre: none is under way
  void begin_operation() noexcept;
  void end_operation() noexcept { busy_ = false; }
  /// pre: no operation is under way. A build with assertions ends here, if one is.
  void check_idle() const noexcept;

  /// @throws  std::bad_alloc
  void* take(std::size_t bytes);
  static void give_back(void* frame) noexcept;

 private:
  class block {
   public:
    static block* make(frame_cache& owner, std::size_t bytes);
    static block* of(void* frame) noexcept;
    void* frame() noexcept { return this + 1; }
    void free() noexcept;

    frame_cache* owner;
    std::size_t bytes;  // with this head
  };

  block* kept_ = nullptr;
  bool busy_ = false;
};

}  // namespace tandem::inline v0::io::detail
