// foreign_wait.hpp: an await that foreign code ends: its start, its end and its stop.
// SPDX-License-Identifier: MIT
//
// Protocol foreign_waits: runtime/src/foreign/README.md. A listener, no leaf: what a stop calls is
// foreign code, so it is called after the walk.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <system_error>

#include <tandem/config.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/errors.hpp>
#include <tandem/stop.hpp>

namespace tandem::inline v0 {

class runtime;

namespace detail {

class TANDEM_API foreign_wait : private stop_listener {
 protected:
  enum class how : std::uint8_t { waits, called, dropped, stopped, refused };
  /// Whether whoever was told of a stop is through with it.
  enum class told : std::uint8_t { yes, later };

  foreign_wait() noexcept : stop_listener(waits_for_call, &foreign_wait::go_on) {}
  /// For awaiters that have not started.
  foreign_wait(foreign_wait&& other) noexcept : stop_listener(std::move(other)) {}
  virtual ~foreign_wait() = default;

  /// foreign_waits/listen. @returns false if there was a stop already: nothing may be started
  [[nodiscard]] bool listen(promise_base& waiting) noexcept;
  /// foreign_waits/started. The foreign code has been started; the await may be gone afterwards,
  /// unless this returns true. @returns whether the await has ended: the caller goes on with it
  [[nodiscard]] bool started() noexcept;
  /// foreign_waits/end. Once, when the outcome stands. @returns as started()
  [[nodiscard]] bool end_as(how ended) noexcept;
  /// The same, and posts the task if it is to go on.
  void end_and_post(how ended) noexcept;
  /// The same from inside a loop in which the task may live: then it goes on here
  /// (foreign_homes/in_place).
  void end_in_loop(how ended) noexcept;
  /// foreign_waits/stop. After told::later, once.
  void told_stop() noexcept;
  /// First thing in await_resume. @throws what the start has thrown
  void resumed();

  bool was_called() const noexcept { return end_ == how::called; }
  /// Whether there is no outcome because of a stop; false where the start has failed.
  bool was_stopped() const noexcept;
  /// Why there is no outcome: a stop, or a callback that was dropped.
  std::error_code error() const noexcept;
  /// @param dropped  says what was destroyed
  [[noreturn]] void throw_error(const char* dropped) const;
  promise_base& waiting() const noexcept { return *waiting_; }
  bool stop_came() const noexcept;

  /// Tells the foreign code of a stop, if it is to be told.
  virtual told tell_stop() noexcept = 0;

  std::exception_ptr start_failure_;  // of the start, until resumed()

 private:
  // Bits of the word. foreign_waits/end: of start and end the second one goes on. foreign_waits/stop:
  // a stop that comes before the start is over leaves itself to the starter.
  static constexpr std::uint8_t started_bit = 1;
  static constexpr std::uint8_t ended_bit = 2;
  static constexpr std::uint8_t stop_bit = 4;

  static bool on_stop(stop_waiter& self) noexcept;
  static const wait_kind waits_for_call;
  static void go_on(stop_listener& self) noexcept;
  told tell_stop_as_task() noexcept;
  bool finish_unposted() noexcept;

  promise_base* waiting_ = nullptr;
  tandem::runtime* held_clock_ = nullptr;
  how end_ = how::waits;
  std::atomic<std::uint8_t> word_{0};
};

}  // namespace detail
}  // namespace tandem::inline v0
