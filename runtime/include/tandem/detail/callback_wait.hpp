// callback_wait.hpp: the part of from_callback's awaiter that knows no types.
// SPDX-License-Identifier: MIT
//
// Protocol callbacks: runtime/src/foreign/README.md.
#pragma once

#include <system_error>

#include <tandem/config.hpp>
#include <tandem/detail/callback_slots.hpp>
#include <tandem/detail/foreign_wait.hpp>
#include <tandem/detail/promise_base.hpp>

namespace tandem::inline v0::detail {

class TANDEM_API callback_wait : private foreign_wait {
 public:
  /// callbacks/fire. By whoever has claimed it by a call, when the outcome stands. The await may be
  /// gone then.
  void called() noexcept { end_and_post(how::called); }
  /// callbacks/drop. Instead: nobody can call any more.
  void dropped() noexcept { end_and_post(how::dropped); }

 protected:
  callback_wait() noexcept = default;
  /// For awaiters that have not started.
  callback_wait(callback_wait&& other) noexcept : foreign_wait(std::move(other)) {}

  /// callbacks/start. @returns whether the task suspends
  bool start(promise_base& waiting, callback_target& self) noexcept;
  /// First thing in await_resume. @throws what the start has thrown
  void resumed();
  /// Whether it was called.
  bool has_outcome() const noexcept { return was_called(); }
  /// Why there is none: a stop, or a callback that was dropped.
  using foreign_wait::error;
  using foreign_wait::was_stopped;
  [[noreturn]] void throw_error() const;

  /// Hands the ticket to the foreign code. @throws what the user's function throws
  virtual void call_start(callback_ticket ticket) = 0;
  /// Tells the foreign code of a stop, if the user gave a function for that.
  virtual void call_on_stop() noexcept = 0;
  /// Whether a stop lets go at once.
  virtual bool is_abandonable() const noexcept = 0;

 private:
  told tell_stop() noexcept override;

  callback_ticket ticket_;
};

}  // namespace tandem::inline v0::detail
