// callback_stream.hpp: awaits each of the many values that another library delivers by calls.
// SPDX-License-Identifier: MIT
//
// Calls put values into a ring, on their own threads; a task takes them out. The library is told to
// stop, and calls that are inside are waited for, before the ring goes. Protocol callbacks:
// runtime/src/foreign/README.md.
#pragma once

#include <atomic>
#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <type_traits>
#include <utility>

#include <tandem/as_result.hpp>
#include <tandem/callback.hpp>
#include <tandem/channel.hpp>
#include <tandem/detail/callback_conversion.hpp>
#include <tandem/detail/callback_door.hpp>
#include <tandem/detail/selection.hpp>
#include <tandem/finally.hpp>
#include <tandem/result.hpp>
#include <tandem/stop.hpp>
#include <tandem/task.hpp>
#include <tandem/with_resource.hpp>

namespace tandem::inline v0 {

/// What becomes of a value that a callback_stream has no room for. Dropped ones are counted.
enum class overflow_policy : std::uint8_t {
  drop_oldest,  ///< it takes the place of the oldest one
  drop_newest,  ///< it is dropped
  fail,         ///< it is dropped, and the stream ends, with errc::callback_overflow
};

template <class T>
class next_value_awaiter;

/// What with_callbacks() lends: values in the order in which their calls brought them.
///
/// @thread_safety  any task below with_callbacks(), also several at once: each value goes to one
template <class T>
class callback_values {
  static_assert(std::is_nothrow_move_constructible_v<result<T>> &&
                    std::is_nothrow_destructible_v<result<T>>,
                "a value of a callback_stream is moved under its lock: moving must not throw");
  static_assert(alignof(result<T>) <= 16,
                "a value aligned over 16 bytes has to live on the heap (g++ 12)");

 public:
  callback_values(std::size_t capacity, overflow_policy policy)
      : values_(capacity), policy_(policy) {}
  callback_values(const callback_values&) = delete;
  callback_values& operator=(const callback_values&) = delete;

  /// Waits for a value.
  ///
  /// @returns        std::optional<T>, or, where calls bring nothing, a bool: the next one; none
  ///                 when the library holds the callback no more, and all values were taken
  /// @throws         what the conversion of this value has thrown, or the error of its result: the
  ///                 stream goes on; operation_cancelled; std::system_error with
  ///                 errc::callback_overflow where the policy is to fail, after the values that
  ///                 there was room for
  /// @cancellation   may lose the race and return a value; none is ever lost. While it waits a
  ///                 virtual clock stands still (virtual_time.hpp)
  /// @resumes_on     the caller's home
  /// @cost           a CAS and two moves; no allocation
  next_value_awaiter<T> next() noexcept { return next_value_awaiter<T>(*this); }

  /// How many values, and failures of conversions, were dropped so far: for each call that found
  /// no room one, its own or the oldest, as the policy says; and all that came after the stream had
  /// failed. What nobody has taken when the use ends is not counted.
  ///
  /// @thread_safety  any thread, while the use runs
  std::uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

  // Implementation
 protected:
  ~callback_values() = default;

  /// Any thread, without waiting.
  void put(result<T> value) noexcept {
    std::optional<result<T>> displaced;  // destroyed when the lock is released
    auto end = detail::channel_result::closed;
    switch (policy_) {
      case overflow_policy::drop_oldest: end = values_.put_over(value, displaced); break;
      case overflow_policy::fail: end = values_.put_or_close(value, has_failed_); break;
      case overflow_policy::drop_newest: end = values_.try_put(value, detail::this_thread());
    }
    // One each: this one, or the oldest.
    if (end != detail::channel_result::done) dropped_.fetch_add(1, std::memory_order_relaxed);
  }
  void end() noexcept { values_.close(); }

 private:
  friend class next_value_awaiter<T>;

  detail::channel_core<result<T>> values_;
  const overflow_policy policy_;
  bool has_failed_ = false;  // written under the lock, before the close; read after it
  std::atomic<std::uint64_t> dropped_{0};
};

namespace detail {

[[noreturn]] TANDEM_API void throw_callback_overflow();

/// What a stream's slot leads to: values, and the door through which they come.
template <class Signature, class Convert>
class callback_intake;
template <class R, class... Args, class Convert>
class callback_intake<R(Args...), Convert> final
    : public callback_receiver<R(Args...)>,
      public callback_values<
          typename result_traits<typename converted<R, Convert, Args...>::type>::value_type> {
  using stored_type = typename converted<R, Convert, Args...>::type;
  using traits = result_traits<stored_type>;

 public:
  using value_type = typename traits::value_type;
  using values = callback_values<value_type>;

  callback_intake(std::size_t capacity, overflow_policy policy, Convert&& convert)
      : values(capacity, policy), convert_(std::move(convert)) {}

  callback<R(Args...)> open() { return callback<R(Args...)>(door_.open(*this)); }
  door_awaiter closed() noexcept { return door_awaiter(door_); }

 private:
  R fire(Args... args) override {
    try {
      return convert_call<R, stored_type>(
          convert_,
          [this](auto&&... value) { this->keep(std::forward<decltype(value)>(value)...); },
          static_cast<Args&&>(args)...);
    } catch (...) {
      this->put(std::current_exception());
    }
    return late_answer<R>();
  }
  template <class... Value>
  void keep(Value&&... value) {
    if constexpr (traits::is_result) {
      this->put(std::forward<Value>(value)...);
    } else if constexpr (sizeof...(Value) == 0) {
      this->put(result<void>());
    } else {
      this->put(result<value_type>(std::in_place, std::forward<Value>(value)...));
    }
  }
  void end_dropped() noexcept override { door_.last_handle_gone(); }
  void end_values() noexcept override { this->end(); }
  void all_left() noexcept override { door_.all_left(); }

  [[no_unique_address]] Convert convert_;
  callback_door door_;
};

template <class T>
struct callback_signature {
  using type = void(T);
};
template <class R, class... Args>
struct callback_signature<R(Args...)> {
  using type = R(Args...);
};

}  // namespace detail

/// Awaiter of callback_values::next().
template <class T>
class [[nodiscard]] next_value_awaiter : private receive_awaiter<result<T>> {
  using receive = receive_awaiter<result<T>>;

 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = std::true_type;  // race() refuses it
  using value_type = std::conditional_t<std::is_void_v<T>, bool, std::optional<T>>;

  explicit next_value_awaiter(callback_values<T>& source) noexcept
      : receive(source.values_), source_(&source) {}
  /// For an awaiter that has not started.
  next_value_awaiter(next_value_awaiter&&) noexcept = default;

  using receive::await_ready;
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    wait_.begin(self.promise());
    return receive::await_suspend(self);
  }
  value_type await_resume() {
    wait_.end();
    std::optional<result<T>> got = receive::await_resume();
    if (!got) {
      if (source_->has_failed_) detail::throw_callback_overflow();
      return value_type();
    }
    if constexpr (std::is_void_v<T>) {
      got->value();
      return true;
    } else {
      return std::move(*got).value();
    }
  }

  // As a branch of select() (protocol selecting).
  using select_leaves = void;  // the clock goes on between two turns of a selector
  using receive::select_try;
  bool select_arm(detail::select_place& as) noexcept {
    wait_.end();
    wait_.begin(as.of->waiting());
    return receive::select_arm(as);
  }
  void select_disarm() noexcept {
    wait_.end();
    receive::select_disarm();
  }
  using receive::select_reset;

 private:
  callback_values<T>* source_;
  detail::clock_held_for_callback wait_;
};

/// What callback_stream() returns: how to subscribe, for with_callbacks().
template <class Signature, class Subscribe, class Convert>
class [[nodiscard]] callback_source {
 public:
  using intake = detail::callback_intake<Signature, Convert>;

  callback_source(std::size_t capacity, overflow_policy policy, Subscribe subscribe,
                  Convert convert)
      : capacity_(capacity),
        policy_(policy),
        subscribe_(std::move(subscribe)),
        convert_(std::move(convert)) {}

  // Implementation
  template <class R, class Use>
  static task<R> run(callback_source source, Use use, std::chrono::steady_clock::duration grace) {
    throw_if_stopped();
    intake calls(source.capacity_, source.policy_, std::move(source.convert_));
    task<R> inner = subscribe_and_use<R>(calls, source.subscribe_, use, grace);
    result<R> ended = co_await as_result(std::move(inner));
    co_await calls.closed();
    co_return std::move(ended).value();
  }

 private:
  template <class R, class Use>
  static task<R> subscribe_and_use(intake& calls, Subscribe& subscribe, Use& use,
                                   std::chrono::steady_clock::duration grace) {
    typename intake::values& values = calls;
    using unsubscribe_type = std::decay_t<std::invoke_result_t<Subscribe&, callback<Signature>>>;
    if constexpr (std::is_void_v<unsubscribe_type>) {
      std::invoke(subscribe, calls.open());
      co_return co_await std::invoke(use, values);
    } else {
      // All frames are made before: whatever has subscribed can be unsubscribed.
      std::optional<unsubscribe_type> unsubscribe;
      task<R> used =
          finally(detail::use_resource<R>(values, use), call_unsubscribe(unsubscribe), grace);
      unsubscribe.emplace(std::invoke(subscribe, calls.open()));
      co_return co_await std::move(used);
    }
  }
  template <class Unsubscribe>
  static task<void> call_unsubscribe(std::optional<Unsubscribe>& unsubscribe) {
    if constexpr (std::is_void_v<std::invoke_result_t<Unsubscribe&>>) {
      std::invoke(*unsubscribe);
      co_return;
    } else {
      (void)co_await std::invoke(*unsubscribe);
    }
  }

  std::size_t capacity_;
  overflow_policy policy_;
  Subscribe subscribe_;
  Convert convert_;
};

/// How to subscribe to something that another library delivers by many calls, for with_callbacks().
///
///     auto subscribe = [&](auto on_reading) {
///       source.listen(std::move(on_reading));
///       return [&] { source.ignore(); };
///     };
///     co_await tandem::with_callbacks(
///         tandem::callback_stream<int>(8, tandem::overflow_policy::drop_oldest, subscribe),
///         [&](auto& readings) -> tandem::task<void> {
///           while (auto one = co_await readings.next()) {
///             last = *one;
///             if (last > 1000) break;  // unsubscribes
///           }
///         });
///
/// @tparam T         what a call brings; or the callback's signature: callback_stream<int(int, event*)>
/// @param capacity   how many values may wait to be taken; 0: none, a call brings one only to a
///                   next() that waits already
/// @param policy     for values that come when there is no room
/// @param subscribe  gets the callback (`callback<Signature>`), which may be called at once, from
///                   any thread, also from several at once. Called once, on the task's thread. It
///                   returns a callable that unsubscribes, which returns nothing or an awaitable;
///                   or nothing
/// @param convert    as in from_callback(), on the threads of the calls, at once if they are: makes
///                   a value of the arguments; borrowed ones need one. `T` has to be movable without
///                   throwing
/// @throws           std::bad_alloc
template <class T, class Subscribe, class Convert = as_values_t>
callback_source<typename detail::callback_signature<T>::type, std::decay_t<Subscribe>,
                std::decay_t<Convert>>
callback_stream(std::size_t capacity, overflow_policy policy, Subscribe&& subscribe,
                Convert&& convert = {}) {
  static_assert(
      detail::safe_in_co_await<Subscribe&&> && detail::safe_in_co_await<Convert&&>,
      "g++ 12 would destroy these temporary lambdas' captures twice: give them names first, or "
      "capture by reference");
  static_assert(
      std::is_invocable_v<std::decay_t<Subscribe>&,
                          callback<typename detail::callback_signature<T>::type>>,
      "callback_stream: subscribe is called with one argument, the callback: [&](auto on_value) { "
      "... }");
  return {capacity, policy, std::forward<Subscribe>(subscribe), std::forward<Convert>(convert)};
}

/// Subscribes, runs `use(values)`, and unsubscribes, however the use ended; then waits for calls
/// that are still inside. Later calls hit nothing, and are counted (late_callbacks()).
///
/// Until it is unsubscribed calls are converted and answered as before; what nobody takes goes with
/// the stream.
///
/// @param source   callback_stream()
/// @param use      called with a callback_values<T>&, returns a task
/// @param grace    after which the unsubscribing is stopped (reason deadline)
/// @returns        a task with the value of the use
/// @throws         what subscribing throws: then neither of the others is called; else as finally()
/// @cancellation   a stop of the caller reaches the use, not the unsubscribing; one that came before
///                 it began ends it
/// @resumes_on     the caller's home
/// @cost           six frames, one timer and the ring; a call: a short lock, no allocation
template <class Signature, class Subscribe, class Convert, class Use>
auto with_callbacks(callback_source<Signature, Subscribe, Convert> source, Use&& use,
                    std::chrono::steady_clock::duration grace = default_grace) {
  static_assert(detail::safe_in_co_await<Use&&>,
                "g++ 12 would destroy this temporary lambda's captures twice: give it a name "
                "first, or capture by reference");
  using source_type = callback_source<Signature, Subscribe, Convert>;
  using use_type = std::decay_t<Use>;
  using value = detail::awaited_t<detail::use_task<use_type, typename source_type::intake::values>>;
  return source_type::template run<value, use_type>(std::move(source), std::forward<Use>(use),
                                                    grace);
}

}  // namespace tandem::inline v0
