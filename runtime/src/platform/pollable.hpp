// pollable.hpp: a descriptor by which a foreign event loop learns that there is something to do.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

namespace tandem::inline v0::platform {

/// A descriptor for foreign event loops: readable after notify(), or once a deadline has passed.
class pollable {
 public:
  /// post: not readable, no deadline
  /// @throws  std::system_error, which names the step that was refused
  pollable();
  pollable(const pollable&) = delete;
  pollable& operator=(const pollable&) = delete;
  /// pre: nobody is in notify()
  ~pollable();

  int descriptor() const noexcept { return set_; }
  /// @thread_safety  any thread
  void notify() noexcept;
  /// post: not readable any more but for later calls of notify(); no deadline. By whoever drives
  void clear() noexcept;
  /// @param deadline_ns  by the steady clock; no_deadline (futex.hpp): none. By whoever drives
  void set_deadline(std::int64_t deadline_ns) noexcept;

 private:
  void close() noexcept;

  int set_ = -1;
  int event_ = -1;
  int timer_ = -1;
  std::atomic<bool> notified_{false};
};

}  // namespace tandem::inline v0::platform
