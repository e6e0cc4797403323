// stream.hpp: an asynchronous generator, and how its items are taken.
// SPDX-License-Identifier: MIT
//
// A stream is a coroutine that awaits whatever a task may, and yields items. It runs in the task of
// its consumer, as a function that the consumer calls: nothing is spawned, and no item is made
// before it is asked for. Ends are awaited: a consumer that leaves early waits for the clean-up.
// Protocol streams: runtime/src/stream/README.md.
#pragma once

#include <chrono>
#include <concepts>
#include <coroutine>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <ranges>
#include <source_location>
#include <type_traits>
#include <utility>

#include <tandem/detail/as_task.hpp>
#include <tandem/detail/stream_call.hpp>
#include <tandem/detail/stream_coroutine.hpp>
#include <tandem/detail/stream_cursor.hpp>
#include <tandem/elements_of.hpp>
#include <tandem/task.hpp>
#include <tandem/with_resource.hpp>

namespace tandem::inline v0 {

/// What yields items of type T, one at a time, to one consumer.
///
///     tandem::stream<row> rows(connection& c) {
///       auto cursor = co_await c.open("select * from orders");
///       while (auto next = co_await cursor.fetch()) co_yield std::move(*next);
///     }
///     co_await tandem::for_each(rows(c), [](const row& r) { print(r); });
///
/// Taken by for_each(), with_stream(), what stands in tandem::streams, or co_yield elements_of() in
/// another stream. It begins with the first item that is asked for; before that it may be dropped.
///
/// @tparam T         an item: a value, which is moved out of a co_yield's temporary, and copied
///                   from an lvalue; or a reference, to what stays until the next item is asked for
/// @cancellation     A stop ends the await that the stream stands at. A consumer that leaves early,
///                   for whatever reason, has operation_cancelled thrown at the stream's co_yield,
///                   and waits for its end; awaits in there are out of reach of stops, for a grace
///                   period. A stream that yields once more then hears std::logic_error, and is
///                   destroyed where it yields again
/// @thread_safety    one consumer at a time
/// @resumes_on       the home of whoever asks for an item, unless it has moved by resume_on(): then
///                   there. The consumer goes on at its own home
/// @cost             one frame from a free list; an item: two calls, no allocation, no atomic
///                   operation
template <class T>
class [[nodiscard]] stream {
  static_assert(!std::is_void_v<T> && !std::is_rvalue_reference_v<T> && !std::is_const_v<T>,
                "a stream yields values, or lvalue references");

 public:
  using promise_type = detail::stream_promise<T>;
  using value_type = std::remove_cvref_t<T>;

  stream(stream&& other) noexcept : frame_(std::exchange(other.frame_, {})) {}
  stream& operator=(stream&& other) noexcept {
    stream moved(std::move(other));
    std::swap(frame_, moved.frame_);
    return *this;
  }
  ~stream() {
    if (frame_) detail::destroy_unstarted(frame_.promise());
  }

  /// @returns  whether there is a coroutine to start: not after it was given away
  explicit operator bool() const noexcept { return frame_ != nullptr; }

  template <class Self = stream>
  detail::stream_step<T> operator co_await() const {
    static_assert(!std::same_as<Self, stream>,
                  "a stream is not awaited: co_await for_each(s, f), or with_stream(s, use). And "
                  "co_await binds more tightly than |: co_await (s | streams::collect())");
    throw std::exception();
  }

  // Implementation
  /// For whoever starts it: from now on the frame belongs to itself.
  promise_type& release() noexcept {
    TANDEM_ASSERT(frame_, "a stream that was moved from has no items");
    return std::exchange(frame_, {}).promise();
  }

 private:
  friend promise_type;
  explicit stream(std::coroutine_handle<promise_type> frame) noexcept : frame_(frame) {}

  std::coroutine_handle<promise_type> frame_;
};

template <class T>
detail::stream_cursor<T>::stream_cursor(stream<T>&& source) noexcept
    : stream_cursor_base(source.release()) {}

template <class T>
stream<T> detail::stream_promise<T>::get_return_object() noexcept {
  return stream<T>(std::coroutine_handle<stream_promise>::from_promise(*this));
}

namespace detail {
template <class R, class T, class Use>
task<R> run_with_stream(stream<T> source, Use use, std::chrono::steady_clock::duration grace);
}

/// Awaiter of stream_items::next().
template <class T>
class [[nodiscard]] next_item_awaiter : private detail::charged_step<T> {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = std::true_type;  // race() refuses it

  using detail::charged_step<T>::charged_step;
  using detail::charged_step<T>::await_ready;
  using detail::charged_step<T>::await_suspend;
  std::exception_ptr await_failure() noexcept {
    return this->is_stopped_ ? detail::cancellation(current_stop_reason())
                             : this->from_->take_failure();
  }
  detail::stream_pointer<T> await_resume() {
    void* const item = this->is_stopped_ ? nullptr : this->from_->item();
    if (item == nullptr) [[unlikely]] {
      if (std::exception_ptr failure = await_failure()) {
        std::rethrow_exception(std::move(failure));
      }
    }
    return static_cast<detail::stream_pointer<T>>(item);
  }
};

/// What with_stream() lends.
template <class T>
class stream_items : private detail::stream_cursor<T> {
  using cursor = detail::stream_cursor<T>;

 public:
  /// Asks for the next item.
  ///
  /// @returns        a pointer to it, which is good until the next call; null at the end
  /// @throws         what the stream throws: it has ended then; operation_cancelled
  /// @cancellation   a stop ends what the stream waits for, and with it mostly the stream; so does
  ///                 a limit around this call (to go on after a limit: streams::chunks, or a
  ///                 channel). One that is ready may go through in a stopped task, up to 128 in a
  ///                 row
  /// @thread_safety  one task at a time
  /// @resumes_on     the caller's home
  /// @cost           two calls; no allocation
  next_item_awaiter<T> next() noexcept { return next_item_awaiter<T>(*this); }
  /// @returns  whether the end, or a failure, has come
  bool has_ended() const noexcept { return cursor::has_ended(); }

  // Implementation
 private:
  template <class R, class U, class Use>
  friend task<R> detail::run_with_stream(stream<U> source, Use use,
                                         std::chrono::steady_clock::duration grace);
  explicit stream_items(stream<T>&& source) noexcept : cursor(std::move(source)) {}
};

/// What a function that is called for each item may return: whether to go on.
enum class flow : std::uint8_t {
  go_on,
  leave,  ///< no more items: the stream is left, as by `break`
};

namespace detail {

template <class R, class T, class Use>
task<R> run_with_stream(stream<T> source, Use use, std::chrono::steady_clock::duration grace) {
  stream_items<T> items(std::move(source));
  auto inner = as_task(std::invoke(use, items)).operator co_await();
  co_await wait_for(inner);
  if (std::exception_ptr failure = inner.await_failure()) items.note_failure(std::move(failure));
  co_await items.leave(grace);
  co_await pass_on(items.conclude());
  co_return inner.await_resume();
}

/// What `f` makes of an item.
template <class F, class T>
using per_item = std::remove_cvref_t<stream_call_result<F, T>>;

template <class T, class F>
task<void> run_for_each_item(stream<T> source, F f, std::chrono::steady_clock::duration grace) {
  stream_cursor<T> from(std::move(source));
  try {
    while (auto* const item = co_await from.next_charged()) {
      if constexpr (std::is_void_v<per_item<F, T>>) {
        co_await call_with_item<T>(f, item);
      } else {
        const flow then = co_await call_with_item<T>(f, item);
        if (then == flow::leave) break;
      }
    }
  } catch (...) {
    from.note_failure();
  }
  co_await from.leave(grace);
  co_await pass_on(from.conclude());
}

}  // namespace detail

/// Calls `f` for each item of `source`.
///
///     co_await tandem::for_each(rows(c), [&](const row& r) -> tandem::task<tandem::flow> {
///       co_await store(r);
///       co_return full() ? tandem::flow::leave : tandem::flow::go_on;
///     });
///
/// @param f        gets an item: `T&&`, or `T&` where it takes only that; may return a task; yields
///                 nothing, or a flow. The next item is asked for when it has ended. With g++ 12 a
///                 lambda that captures objects with destructors needs a name
/// @param grace    when it leaves early: after which the stream's clean-up is stopped
/// @returns        a task
/// @throws         what `f` or the stream throws, after the stream's end; if `f` has failed, a
///                 failure of the clean-up goes to runtime_options::on_suppressed_exception
/// @cancellation   a stop ends the wait of `f`, or of the stream; the stream's clean-up is awaited
/// @resumes_on     the caller's home
/// @cost           one frame
template <class T, class F>
task<void> for_each(stream<T> source, F&& f,
                    std::chrono::steady_clock::duration grace = default_grace) {
  static_assert(detail::safe_in_co_await<F&&>,
                "g++ 12 would destroy this temporary lambda's captures twice: give it a name "
                "first, or capture by reference");
  static_assert(detail::callable_with_item<std::decay_t<F>, T>,
                "for_each: f is called with one argument, an item of the stream");
  using yields = detail::per_item<std::decay_t<F>, T>;
  static_assert(std::is_void_v<yields> || std::same_as<yields, flow>,
                "for_each: f returns nothing, or tandem::flow::go_on / leave (or a task of it)");
  return detail::run_for_each_item<T, std::decay_t<F>>(std::move(source), std::forward<F>(f),
                                                       grace);
}

/// Runs `use(items)`, which takes items by hand, and then awaits the stream's end, however the use
/// has ended.
///
///     const auto first = [](auto& items) -> tandem::task<row> {
///       auto* const one = co_await items.next();
///       if (one == nullptr) throw no_rows();
///       co_return std::move(*one);
///     };
///     const row r = co_await tandem::with_stream(rows(c), first);
///
/// @param use      called with a stream_items<T>&, returns a task; not to be used after that
/// @param grace    when items are left: after which the stream's clean-up is stopped
/// @returns        a task with the value of the use
/// @throws         as for_each()
/// @cancellation   as for_each()
/// @resumes_on     the caller's home
/// @cost           one frame
template <class T, class Use>
auto with_stream(stream<T> source, Use&& use,
                 std::chrono::steady_clock::duration grace = default_grace) {
  static_assert(detail::safe_in_co_await<Use&&>,
                "g++ 12 would destroy this temporary lambda's captures twice: give it a name "
                "first, or capture by reference");
  using use_type = std::decay_t<Use>;
  static_assert(std::invocable<use_type&, stream_items<T>&>,
                "with_stream: use is called with one argument, the items: [&](auto& items) -> "
                "tandem::task<void> { ... }");
  using value = detail::awaited_t<detail::use_task<use_type, stream_items<T>>>;
  return detail::run_with_stream<value, T, use_type>(std::move(source), std::forward<Use>(use),
                                                     grace);
}

}  // namespace tandem::inline v0
