// stream_limit.hpp: awaits of a stream below an environment of their own: with a deadline, or to leave it.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <concepts>
#include <coroutine>

#include <tandem/detail/border.hpp>
#include <tandem/detail/stream_promise.hpp>
#include <tandem/finally.hpp>
#include <tandem/timeout.hpp>

namespace tandem::inline v0::detail {

/// Where an item of a stream<T> lies.
template <class T>
using stream_pointer = std::add_pointer_t<std::remove_reference_t<T>>;

class TANDEM_API stream_limit : private timeout_scope {
 public:
  stream_limit(stream_cursor_base& from, std::chrono::steady_clock::time_point deadline,
               border_kind kind) noexcept
      : timeout_scope(deadline, kind), from_(&from) {}
  /// For awaiters that have not started.
  stream_limit(stream_limit&&) noexcept = default;

 protected:
  /// @returns  whether the consumer suspends
  bool next(promise_base& consumer) noexcept;
  /// streams/leave. @param inside  the consumer is left itself: no border of its own
  bool leave(promise_base& consumer, bool inside) noexcept;

  stream_cursor_base* from_;

  using timeout_scope::limit_to;

 private:
  bool start_limited(promise_base& consumer) noexcept;
};

/// As stream_step, until a deadline: then the stream is stopped where it waits.
template <class T>
class [[nodiscard]] stream_limited_step : private stream_limit {
 public:
  using tandem_awaiter = void;

  /// @param deadline  time_point::min(): it is over
  stream_limited_step(stream_cursor_base& from,
                      std::chrono::steady_clock::time_point deadline) noexcept
      : stream_limit(from, deadline, border_kind::open) {}
  bool await_ready() const noexcept { return from_->has_ended(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return next(self.promise());
  }
  stream_pointer<T> await_resume() const noexcept {
    return static_cast<stream_pointer<T>>(from_->item());
  }
};

/// Awaits the end of a stream that is left. Nothing is thrown: the cursor has what it failed with.
class [[nodiscard]] stream_leave : private stream_limit {
 public:
  using tandem_awaiter = void;

  stream_leave(stream_cursor_base& from, std::chrono::steady_clock::duration grace) noexcept
      : stream_limit(from, (std::chrono::steady_clock::time_point::min)(), border_kind::closed),
        grace_(grace) {}
  bool await_ready() const noexcept { return from_->has_ended(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    bool inside = false;
    if constexpr (std::derived_from<Promise, stream_promise_base>) {
      inside = self.promise().is_left();
    }
    if (!inside) limit_to(deadline_after(grace_));
    return leave(self.promise(), inside);
  }
  void await_resume() const noexcept {}

 private:
  std::chrono::steady_clock::duration grace_;
};

}  // namespace tandem::inline v0::detail
