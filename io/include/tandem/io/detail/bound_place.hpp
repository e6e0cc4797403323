// bound_place.hpp: the completion thread to which a socket is bound counts it, and its task.
// SPDX-License-Identifier: MIT
//
// Protocol spreading: io/src/engine/README.md.
#pragma once

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
    if (!is_settled_) [[unlikely]]
      settle_first();
  }
  /// The socket is closed, or given away.
  void leave() noexcept;

 private:
  void settle_first() noexcept;

  std::shared_ptr<thread_loads> loads_;  // null: of no socket
  unsigned thread_ = 0;
  bool is_settled_ = false;
};

}  // namespace detail
}  // namespace tandem::inline v0::io
