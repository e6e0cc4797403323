// from_callback.hpp: awaits a function of another library that calls back when it is done.
// SPDX-License-Identifier: MIT
//
// The await ends exactly once: by the first call, by the end of the last copy of the callback, or
// by a stop; whatever comes later hits nothing. Protocol callbacks: runtime/src/foreign/README.md.
#pragma once

#include <concepts>
#include <coroutine>
#include <exception>
#include <type_traits>
#include <utility>

#include <tandem/callback.hpp>
#include <tandem/config.hpp>
#include <tandem/detail/callback_conversion.hpp>
#include <tandem/detail/callback_wait.hpp>
#include <tandem/detail/outcome.hpp>
#include <tandem/detail/wait_list.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0 {

/// Instead of a function for stops: the await lets go at once, and a call that comes later does
/// nothing. Only where the callback's side uses nothing that the task lends.
struct abandonable_t {};
inline constexpr abandonable_t abandonable{};
/// Likewise: a stop waits for the callback.
struct stop_waits_t {};

/// Awaiter of from_callback().
template <class Signature, class Start, class Convert, class OnStop>
class callback_awaiter;
template <class R, class... Args, class Start, class Convert, class OnStop>
class [[nodiscard]] callback_awaiter<R(Args...), Start, Convert, OnStop> final
    : private detail::callback_wait,
      private detail::callback_receiver<R(Args...)> {
  using stored_type = typename detail::converted<R, Convert, Args...>::type;
  using traits = detail::result_traits<stored_type>;

 public:
  using tandem_awaiter = void;
  using value_type = typename traits::value_type;

  callback_awaiter(Start start, Convert convert, OnStop on_stop)
      : start_(std::move(start)), convert_(std::move(convert)), on_stop_(std::move(on_stop)) {}
  /// For an awaiter that has not started.
  callback_awaiter(callback_awaiter&& other) noexcept
      : detail::callback_wait(std::move(other)),
        start_(std::move(other.start_)),
        convert_(std::move(other.convert_)),
        on_stop_(std::move(other.on_stop_)) {}

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) {
    if (this->start(self.promise(), *this)) return true;
    if (detail::charge_ready_await()) return false;
    detail::yield_for_budget(self.promise());
    return true;
  }
  value_type await_resume() {
    this->resumed();
    if (!this->has_outcome()) this->throw_error();
    if constexpr (traits::is_result) {
      return outcome_.get().value();
    } else {
      return outcome_.get();
    }
  }
  /// For pass_on.hpp: then await_resume_result() is the end of it.
  using detail::callback_wait::was_stopped;
  result<value_type> await_resume_result() {
    try {
      this->resumed();
      if (!this->has_outcome()) return this->error();
      if constexpr (std::is_void_v<stored_type>) {
        outcome_.get();
        return {};
      } else if constexpr (traits::is_result) {
        return outcome_.get();
      } else {
        return result<value_type>(std::in_place, outcome_.get());
      }
    } catch (...) {
      return std::current_exception();
    }
  }

 private:
  void call_start(detail::callback_ticket ticket) override { start_(callback<R(Args...)>(ticket)); }
  void call_on_stop() noexcept override {
    if constexpr (std::invocable<OnStop&>) on_stop_();
  }
  bool is_abandonable() const noexcept override { return std::is_same_v<OnStop, abandonable_t>; }

  void end_dropped() noexcept override { this->dropped(); }

  R fire(Args... args) override {
    const ends_await end{this};  // when the answer is made: the frame may be gone then
    try {
      return detail::convert_call<R, stored_type>(
          convert_,
          [this](auto&&... value) { this->keep(std::forward<decltype(value)>(value)...); },
          static_cast<Args&&>(args)...);
    } catch (...) {
      outcome_.error = std::current_exception();
    }
    return detail::late_answer<R>();
  }
  template <class... Value>
  void keep(Value&&... value) {
    if constexpr (sizeof...(Value) != 0) outcome_.set_value(std::forward<Value>(value)...);
  }
  struct ends_await {
    callback_awaiter* await;
    ~ends_await() { await->called(); }
  };

  Start start_;
  [[no_unique_address]] Convert convert_;
  [[no_unique_address]] OnStop on_stop_;
  detail::outcome<stored_type> outcome_;
};

/// Starts an operation of another library, and waits for its callback.
///
///     auto [status, page] = co_await tandem::from_callback<void(int, std::string)>(
///         [&](auto done) { client.fetch("index.html", std::move(done)); });
///     auto text = co_await tandem::from_callback<std::size_t(const char*, std::size_t)>(
///         [&](auto done) { load("notes", done.c_function(), done.c_data()); },
///         [](const char* data, std::size_t size) {
///           return tandem::returning(size, std::string(data, size));
///         });
///
/// The callback may come before `start` returns, from any thread, twice, or never: the first call
/// counts. While the await is open a virtual clock stands still (virtual_time.hpp).
///
/// @tparam Signature  of the callback, without the `void*` of a C function
/// @param start    gets the callback (`callback<Signature>`) and begins the operation; called
///                 once, on the task's thread; not at all if there was a stop before
///                 (with g++ 12 a temporary lambda that captures objects with destructors does not
///                 compile here: give it a name; convert and on_stop likewise)
/// @param convert  makes the await's value of the arguments, inside the callback, where borrowed
///                 ones are still there; without it (`as_values`) they are kept as they are, and
///                 must not be pointers or views. It returns a value, a result, or, where the
///                 callback returns something, returning(that, value)
/// @param on_stop  told of a stop, on the stopper's thread or, if the stop comes while `start`
///                 runs, on the task's: the operation is to end early, and calls back. `noexcept`,
///                 and it may call the callback itself. Or `abandonable`. Without it a stop waits
///                 for the callback, since what was lent is in use. A library that belongs to one
///                 thread (io::foreign_loop) has to be told there, while the await is open: write
///                 to an eventfd that its loop watches, as examples/foreign_loop.cpp does
/// @returns        one argument as its value, several as a tuple, none as nothing; or what
///                 `convert` says
/// @throws         what `start` or `convert` throws (to the task: the library sees nothing of it),
///                 as it is: a std::system_error with operation_canceled (ECANCELED) stays one. Or
///                 the error of a result, of which that code is a cancellation: it arrives as
///                 operation_cancelled; std::system_error with errc::callback_dropped if the
///                 callback was destroyed without a call (with a stop: operation_cancelled)
/// @cancellation   as on_stop says; a call that wins the race counts
/// @thread_safety  the callback: any thread, also none of the runtime's
/// @resumes_on     the caller's home
/// @cost           no allocation; a slot under a short lock, twice; a post if the call comes later
template <class Signature, class Start, class Convert = as_values_t, class OnStop = stop_waits_t>
callback_awaiter<Signature, std::decay_t<Start>, std::decay_t<Convert>, std::decay_t<OnStop>>
from_callback(Start&& start, Convert&& convert = {}, OnStop&& on_stop = {}) {
  static_assert(detail::safe_in_co_await<Start&&> && detail::safe_in_co_await<Convert&&> &&
                    detail::safe_in_co_await<OnStop&&>,
                "g++ 12 would destroy these temporary lambdas' captures twice: give them names "
                "first (a named one is moved by tandem::moved(f)), or capture by reference");
  static_assert(std::is_invocable_v<std::decay_t<Start>&, callback<Signature>>,
                "from_callback: start is called with one argument, the callback: [&](auto done) { "
                "... }");
  static_assert(std::is_same_v<std::decay_t<OnStop>, abandonable_t> ||
                    std::is_same_v<std::decay_t<OnStop>, stop_waits_t> ||
                    std::is_invocable_v<std::decay_t<OnStop>&>,
                "from_callback: on_stop is called without arguments (or is tandem::abandonable)");
  return {std::forward<Start>(start), std::forward<Convert>(convert),
          std::forward<OnStop>(on_stop)};
}

}  // namespace tandem::inline v0
