// quit_signal.hpp: the signal by which people ask a program what it is doing.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>

namespace tandem::inline v0::platform {

/// While it lives a thread of its own calls `told` whenever the signal has come: SIGQUIT, on Windows
/// Ctrl+Break. A handler that the program had before is called as well. One at a time.
class quit_signal {
 public:
  /// @throws  std::system_error, std::bad_alloc
  explicit quit_signal(std::function<void()> told);
  quit_signal(const quit_signal&) = delete;
  quit_signal& operator=(const quit_signal&) = delete;
  /// Waits for a call that runs.
  ~quit_signal();

 private:
  class state;
  std::unique_ptr<state> state_;
};

}  // namespace tandem::inline v0::platform
