// pool_settings.hpp: what a pool is set to, which may be replaced while it runs. changes/handlers.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include <tandem/detail/futex_mutex.hpp>
#include <tandem/pool_options.hpp>

namespace tandem::inline v0::detail {

/// Any thread.
class pool_settings {
 public:
  explicit pool_settings(std::shared_ptr<const pool_options> first) noexcept
      : now_(std::move(first)) {}
  pool_settings(const pool_settings&) = delete;
  pool_settings& operator=(const pool_settings&) = delete;

  /// What is held lives on, also if it is replaced meanwhile.
  std::shared_ptr<const pool_options> get() const noexcept {
    const std::lock_guard lock(lock_);
    return now_;
  }
  /// @param next  afterwards what was replaced, for the caller to let go of
  void exchange(std::shared_ptr<const pool_options>& next) noexcept {
    const std::lock_guard lock(lock_);
    now_.swap(next);
  }

 private:
  mutable futex_mutex lock_;  // taken after all others
  std::shared_ptr<const pool_options> now_;
};

}  // namespace tandem::inline v0::detail
