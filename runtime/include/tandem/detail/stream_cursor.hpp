// stream_cursor.hpp: how the library's own consumers take items, and leave a stream.
// SPDX-License-Identifier: MIT
//
// A consumer of the library is a coroutine that ends like this, whatever has become of it:
//
//     stream_cursor<T> from(std::move(source));
//     try {
//       while (auto* const item = co_await from.next()) ...    // null: the end, or a failure
//     } catch (...) { from.note_failure(); }
//     co_await from.leave();                                   // nothing if it has ended
//     ... from.conclude() ...                                  // what to end with
#pragma once

#include <chrono>
#include <coroutine>
#include <type_traits>

#include <tandem/detail/stream_limit.hpp>
#include <tandem/detail/stream_promise.hpp>
#include <tandem/detail/wait_list.hpp>

namespace tandem::inline v0 {

template <class T>
class stream;

namespace detail {

/// Awaits an item without a throw: null is the end, or a failure, which stays in the cursor.
template <class T>
class [[nodiscard]] stream_step {
 public:
  using tandem_awaiter = void;

  explicit stream_step(stream_cursor_base& from) noexcept : from_(&from) {}
  bool await_ready() const noexcept { return from_->has_ended(); }
  template <class Promise>
  TANDEM_ALWAYS_INLINE bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return from_->call(this_thread(), self.promise());
  }
  stream_pointer<T> await_resume() const noexcept {
    return static_cast<stream_pointer<T>>(from_->item());
  }

 private:
  stream_cursor_base* from_;
};

/// As above, for the end of a chain of streams: it is charged to the await budget like a leaf, so a
/// loop over items that are all ready gives way, and hears of a stop.
template <class T>
class [[nodiscard]] charged_step {
 public:
  using tandem_awaiter = void;

  explicit charged_step(stream_cursor_base& from) noexcept : from_(&from) {}
  /// For an awaiter that has not started. (By hand: g++ copies what it may copy bit by bit out of
  /// its members' stores, which costs a stall.)
  charged_step(charged_step&& other) noexcept : from_(other.from_) {}
  bool await_ready() noexcept {
    is_stopped_ = must_stop();
    return is_stopped_ || from_->has_ended();
  }
  template <class Promise>
  TANDEM_ALWAYS_INLINE bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    thread_context& context = this_thread();
    if (from_->call(context, self.promise())) return true;
    if (charge_ready_await(context)) [[likely]]
      return false;
    yield_for_budget(self.promise());
    return true;
  }
  stream_pointer<T> await_resume() noexcept {
    if (is_stopped_) [[unlikely]] {
      from_->note_failure(cancellation(current_stop_reason()));
      return nullptr;
    }
    return static_cast<stream_pointer<T>>(from_->item());
  }

 protected:
  stream_cursor_base* from_;
  bool is_stopped_ = false;
};

template <class T>
class stream_cursor : public stream_cursor_base {
 public:
  explicit stream_cursor(stream<T>&& source) noexcept;

  stream_step<T> next() noexcept { return stream_step<T>(*this); }
  charged_step<T> next_charged() noexcept { return charged_step<T>(*this); }
  stream_limited_step<T> next_until(std::chrono::steady_clock::time_point deadline) noexcept {
    return stream_limited_step<T>(*this, deadline);
  }
  /// streams/leave. By a consumer that is a stream itself, and is left: as part of that.
  stream_leave leave(std::chrono::steady_clock::duration grace = default_grace) noexcept {
    return stream_leave(*this, grace);
  }
};

/// The first one is what a stream ends with, others are reported.
inline void add_failure(std::exception_ptr& first, std::exception_ptr&& more) noexcept {
  if (more == nullptr) return;
  if (first == nullptr) {
    first = std::move(more);
  } else {
    report_clean_up(more);
  }
}

}  // namespace detail
}  // namespace tandem::inline v0
