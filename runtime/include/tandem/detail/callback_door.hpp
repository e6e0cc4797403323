// callback_door.hpp: the part of callback_stream that knows no types: its slot, and the wait for whoever is inside.
// SPDX-License-Identifier: MIT
//
// Protocol callbacks: runtime/src/foreign/README.md.
#pragma once

#include <coroutine>

#include <tandem/config.hpp>
#include <tandem/detail/callback_slots.hpp>
#include <tandem/detail/promise_base.hpp>

namespace tandem::inline v0 {

class runtime;

namespace detail {

/// Keeps a virtual clock from moving while a task waits for foreign code.
class TANDEM_API clock_held_for_callback {
 public:
  clock_held_for_callback() noexcept = default;
  /// For awaiters that have not started.
  clock_held_for_callback(clock_held_for_callback&&) noexcept {}
  clock_held_for_callback& operator=(clock_held_for_callback&&) = delete;
  ~clock_held_for_callback() = default;

  void begin(promise_base& waiting) noexcept;
  void end() noexcept;

 private:
  tandem::runtime* held_ = nullptr;
};

/// Open from open() until its close is awaited.
class TANDEM_API callback_door {
 public:
  callback_door() noexcept = default;
  callback_door(const callback_door&) = delete;
  callback_door& operator=(const callback_door&) = delete;
  ~callback_door() { TANDEM_ASSERT(!ticket_, "a stream of callbacks went before its end"); }

  /// callbacks/take. @throws  as take_callback_slot()
  callback_ticket open(callback_target& target) {
    return ticket_ = take_callback_slot(target, callback_use::stream);
  }
  /// callbacks/drop. The last handle has ended. The stream may be gone afterwards.
  void last_handle_gone() noexcept {
    close_callbacks(ticket_);
    if (leave_callbacks(ticket_)) all_left();
  }
  /// callbacks/leave. By the last call that was inside.
  void all_left() noexcept { waiting_->post(); }

  /// callbacks/close. What await_suspend returns.
  bool close(promise_base& waiting) noexcept;
  bool is_open() const noexcept { return static_cast<bool>(ticket_); }
  void closed() noexcept;

 private:
  callback_ticket ticket_;
  promise_base* waiting_ = nullptr;
  clock_held_for_callback wait_;
};

/// Awaits the end of a door. No stop ends it: a call that is inside uses what the frame lends.
class [[nodiscard]] door_awaiter {
 public:
  using tandem_awaiter = void;

  explicit door_awaiter(callback_door& door) noexcept : door_(&door) {}

  bool await_ready() const noexcept { return !door_->is_open(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return door_->close(self.promise());
  }
  void await_resume() const noexcept { door_->closed(); }

 private:
  callback_door* door_;
};

}  // namespace detail
}  // namespace tandem::inline v0
