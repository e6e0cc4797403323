// pollable.hpp: a handle by which a foreign event loop learns that there is something to do.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include <tandem/detail/platform/pollable_handle.hpp>

namespace tandem::inline v0::platform {

/// A handle for foreign event loops: readable after notify(), or once a deadline has passed.
class pollable {
 public:
  /// post: not readable, no deadline
  /// @throws  std::system_error, which names the step that was refused
  pollable();
  pollable(const pollable&) = delete;
  pollable& operator=(const pollable&) = delete;
  /// pre: nobody is in notify()
  ~pollable();

  pollable_handle handle() const noexcept;
  /// @thread_safety  any thread
  void notify() noexcept;
  /// post: not readable any more but for later calls of notify(); no deadline. By whoever drives
  void clear() noexcept;
  /// @param deadline_ns  by the steady clock; no_deadline (futex.hpp): none. By whoever drives
  void set_deadline(std::int64_t deadline_ns) noexcept;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace tandem::inline v0::platform
