// count_awaiter.hpp: a count that tasks wait for to be zero; latch and wait_group are its two faces.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>

#include <tandem/config.hpp>
#include <tandem/detail/wait_list.hpp>

namespace tandem::inline v0::detail {

/// Word: the value is the count.
class TANDEM_API waited_count {
 public:
  explicit waited_count(std::size_t count) noexcept : word_(static_cast<lock_word::word>(count)) {
    TANDEM_ASSERT(count <= lock_word::max_value, "a count was given that is too large");
  }
  waited_count(const waited_count&) = delete;
  waited_count& operator=(const waited_count&) = delete;

  std::size_t value() const noexcept { return word_.load() / lock_word::one; }
  /// waiting/unlock. If so, whoever counted down last is done with the object.
  bool is_zero() const noexcept { return word_.load() < lock_word::one; }
  void add(std::size_t n) noexcept;
  void subtract(std::size_t n) noexcept;

 private:
  friend class count_awaiter;

  lock_word word_;
  wait_list waiting_;
};

class [[nodiscard]] TANDEM_API count_awaiter {
 public:
  using tandem_awaiter = void;

  explicit count_awaiter(waited_count& target) noexcept : target_(&target) {}
  count_awaiter(count_awaiter&&) noexcept = default;

  bool await_ready() noexcept { return !must_stop() && target_->is_zero() && room_.ready(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return start(self.promise());
  }
  std::exception_ptr await_failure() const noexcept { return room_.failure_if_cancelled(); }
  void await_resume() const { room_.throw_if_cancelled(); }

  // As a branch of select() (protocol selecting).
  bool select_try() noexcept { return target_->is_zero(); }
  bool select_arm(select_place& as) noexcept;
  void select_disarm() noexcept { (void)room_.disarm(); }
  void select_reset() noexcept { room_.reset(); }

 private:
  bool start(promise_base& waiting) noexcept;

  waited_count* target_;
  waiter_room<waiter> room_;
};

}  // namespace tandem::inline v0::detail
