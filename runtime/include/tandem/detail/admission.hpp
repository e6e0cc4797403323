// admission.hpp: a spawned task's entry into the count of its home.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/config.hpp>
#include <tandem/executor.hpp>

namespace tandem::inline v0::detail {

/// Counted in from here; counted out by its end, unless kept: then by the task's.
class admission {
 public:
  /// @throws  executor_closed
  explicit admission(executor& home) : home_(home.counts_tasks() ? &home : nullptr) {
    if (home_ != nullptr && !home_->begin_task()) [[unlikely]]
      refuse(home);
  }
  admission(const admission&) = delete;
  admission& operator=(const admission&) = delete;
  ~admission() {
    if (home_ != nullptr) [[unlikely]]
      home_->end_task();
  }

  /// The task has been launched, and may have ended: the home is not touched any more.
  void keep() noexcept { home_ = nullptr; }

 private:
  [[noreturn]] TANDEM_API static void refuse(const executor& home);

  executor* home_;
};

}  // namespace tandem::inline v0::detail
