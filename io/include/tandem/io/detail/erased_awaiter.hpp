// erased_awaiter.hpp: what an operation of an any_stream is awaited by, whatever the stream is.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <cstddef>
#include <exception>
#include <memory>
#include <new>
#include <span>
#include <tandem/detail/outcome.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/io/detail/frame_cache.hpp>
#include <tandem/result.hpp>
#include <tandem/task.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::io::detail {

/// A call of a stream that has awaiters of its own: made when it is awaited, so one that is dropped
/// before has done nothing.
class adapted_request {
 public:
  /// @param given  the span, which stays where it is until the call has ended: whoever takes it by
  ///               reference may keep that as long
  /// @returns      the call's frame, not started yet. @throws std::bad_alloc; what the call throws
  using begin_function = tandem::detail::promise_base& (*)(void* stream, void* given);

  adapted_request(begin_function function, void* stream, frame_cache& side) noexcept
      : begin_(function), stream_(stream), side_(&side) {}
  template <class Element>
  adapted_request(begin_function function, void* stream, frame_cache& side,
                  std::span<Element> given) noexcept
      : adapted_request(function, stream, side) {
    static_assert(sizeof given <= sizeof given_ && alignof(std::span<Element>) <= alignof(void*));
    static_assert(std::is_trivially_copyable_v<std::span<Element>>);
    ::new (static_cast<void*>(given_)) std::span<Element>(given);
  }
  tandem::detail::promise_base& begin() {
    side_->begin_operation();
    return begin_(stream_, given_);
  }
  /// After begin(), whatever came of it.
  void end() noexcept { side_->end_operation(); }

 private:
  begin_function begin_;
  void* stream_;
  frame_cache* side_;
  alignas(void*) std::byte given_[sizeof(std::span<std::byte>)]{};
};

/// Holds either tandem's own awaiter, which is all that runs then, or the request and the result of
/// an adapted call.
template <class Own, class T>
class erased_awaiter {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = std::true_type;  // race() refuses it

  /// @param make  gives the Own, which is built in its place
  template <class Make>
  erased_awaiter(std::in_place_t, const Make& make) : own_(make()), is_own_(true) {}
  explicit erased_awaiter(const adapted_request& request) noexcept
      : call_(request), is_own_(false) {}
  /// For one that has not started.
  erased_awaiter(erased_awaiter&& other) noexcept : is_own_(other.is_own_) {
    if (is_own_) {
      std::construct_at(&own_, std::move(other.own_));
    } else {
      std::construct_at(&call_, other.call_.request);
    }
  }
  ~erased_awaiter() {
    if (is_own_) {
      std::destroy_at(&own_);
    } else {
      std::destroy_at(&call_);
    }
  }

  bool await_ready() const noexcept { return false; }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (is_own_) [[likely]]
      return own_.await_suspend(self);
    return call_.start(self.promise());
  }
  T await_resume() {
    if (is_own_) [[likely]]
      return own_.await_resume();
    call_.request.end();
    return call_.ended.get();
  }
  /// As socket_awaiter; of a stream that was put in also if it has failed otherwise.
  bool was_stopped() const noexcept {
    return is_own_ ? own_.was_stopped() : call_.ended.error != nullptr;
  }
  result<T> await_resume_result() {
    if (is_own_) [[likely]]
      return own_.await_resume_result();
    call_.request.end();
    if (call_.ended.error != nullptr) return std::exchange(call_.ended.error, nullptr);
    if constexpr (std::is_void_v<T>) {
      return {};
    } else {
      return call_.ended.value();
    }
  }

 private:
  class adapted {
   public:
    explicit adapted(const adapted_request& made) noexcept : request(made) {}
    /// @returns  whether the caller suspends
    bool start(tandem::detail::promise_base& waiting) noexcept {
      try {
        return tandem::detail::call_awaited(request.begin(), waiting, ended);
      } catch (...) {
        ended.error = std::current_exception();
        return false;
      }
    }
    adapted_request request;
    tandem::detail::outcome<T> ended;
  };

  union {
    Own own_;
    adapted call_;
  };
  bool is_own_;
};

}  // namespace tandem::inline v0::io::detail
