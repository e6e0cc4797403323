// callback_wait.hpp: the part of from_callback's awaiter that knows no types.
// SPDX-License-Identifier: MIT
//
// Protocol callbacks: runtime/src/foreign/README.md. A listener, no leaf: what a stop calls is
// foreign code, so it is called after the walk.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <system_error>

#include <tandem/config.hpp>
#include <tandem/detail/callback_slots.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/errors.hpp>
#include <tandem/stop.hpp>

namespace tandem::inline v0 {

class runtime;

namespace detail {

class TANDEM_API callback_wait : private stop_listener {
 public:
  /// callbacks/end. By whoever has claimed it by a call, when the outcome stands. The await may be
  /// gone then.
  void called() noexcept;
  /// callbacks/drop. Instead: nobody can call any more.
  void dropped() noexcept;

 protected:
  callback_wait() noexcept : stop_listener(&callback_wait::on_stop, &callback_wait::go_on) {}
  /// For awaiters that have not started.
  callback_wait(callback_wait&& other) noexcept : stop_listener(std::move(other)) {}
  virtual ~callback_wait() = default;

  /// callbacks/start. @returns whether the task suspends
  bool start(promise_base& waiting, callback_target& self) noexcept;
  /// First thing in await_resume. @throws what the start has thrown
  void resumed();
  /// Whether it was called.
  bool has_outcome() const noexcept { return end_ == how::called; }
  /// Why there is none: a stop, or a callback that was dropped.
  std::error_code error() const noexcept;
  [[noreturn]] void throw_error() const;

  /// Hands the ticket to the foreign code. @throws what the user's function throws
  virtual void call_start(callback_ticket ticket) = 0;
  /// Tells the foreign code of a stop, if it is to be told.
  virtual void tell_stop() noexcept = 0;
  /// Whether a stop lets go at once.
  virtual bool is_abandonable() const noexcept = 0;

 private:
  enum class how : std::uint8_t { waits, called, dropped, stopped, refused };
  /// callbacks/stop. A stop that comes while the foreign code is being started waits for that.
  enum class phase : std::uint8_t { starting, started, stop_came };

  static bool on_stop(stop_waiter& self) noexcept;
  static void go_on(stop_listener& self) noexcept;
  void stop_now() noexcept;
  void end_as(how ended) noexcept;
  [[nodiscard]] bool finish_unposted() noexcept;

  promise_base* waiting_ = nullptr;
  tandem::runtime* held_clock_ = nullptr;
  std::exception_ptr start_failure_;
  callback_ticket ticket_;
  how end_ = how::waits;
  std::atomic<phase> phase_{phase::starting};
  std::atomic<bool> one_is_done_{false};  // callbacks/end: of the start and the end
};

}  // namespace detail
}  // namespace tandem::inline v0
