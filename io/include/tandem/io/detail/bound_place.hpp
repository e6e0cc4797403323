// bound_place.hpp: the completion thread to which a socket is bound counts it, and its task.
// SPDX-License-Identifier: MIT
//
// Protocol spreading: io/src/engine/README.md.
#pragma once

#include <atomic>
#include <memory>
#include <tandem/io/export.hpp>

namespace tandem::inline v0::io {

class completion_thread;
class thread_loads;

namespace detail {

/// The owner's of the socket, but for settle().
class TANDEM_IO_API bound_place {
 public:
  bound_place() noexcept;
  explicit bound_place(completion_thread& thread) noexcept;
  bound_place(bound_place&& other) noexcept;
  bound_place& operator=(bound_place&& other) noexcept;
  ~bound_place();

  /// spreading/settle. A task on a completion thread begins an operation there.
  void settle() noexcept {
    // Both sides may come at once, on two threads: one of them counts it.
    if (!is_settled_.load(std::memory_order_relaxed)) [[unlikely]]
      settle_first();
  }
  /// The socket is closed, or given away.
  void leave() noexcept;

 private:
  void settle_first() noexcept;

  std::shared_ptr<thread_loads> loads_;  // null: of no socket
  unsigned thread_ = 0;
  std::atomic<bool> is_settled_{false};
};

}  // namespace detail
}  // namespace tandem::inline v0::io
