// control_slot.hpp: where workers find the control of their pool, if it has one.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>

#include "crew/awake_watch.hpp"
#include "sizing/pool_control.hpp"

namespace tandem::inline v0::detail {

/// Filled once: by the set-up of an adaptive pool, or by the first change of a fixed one's threads.
class control_slot final : public awake_watch_slot {
 public:
  control_slot() noexcept = default;

  /// Null: a fixed pool that nobody has changed.
  pool_control* get() const noexcept { return static_cast<pool_control*>(awake_watch_slot::get()); }
  /// As get(), before each item.
  pool_control* for_item() const noexcept { return static_cast<pool_control*>(get_soon()); }
  void fill(std::unique_ptr<pool_control> made) noexcept {
    own_ = std::move(made);
    awake_watch_slot::fill(*own_);
  }

 private:
  std::unique_ptr<pool_control> own_;
};

}  // namespace tandem::inline v0::detail
