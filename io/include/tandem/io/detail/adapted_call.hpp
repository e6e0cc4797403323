// adapted_call.hpp: a call of somebody's own stream, as a coroutine in memory that is kept for it.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <coroutine>
#include <cstddef>
#include <tandem/detail/as_task.hpp>
#include <tandem/detail/await_transform.hpp>
#include <tandem/detail/promise_base.hpp>
#include <tandem/io/detail/frame_cache.hpp>
#include <tandem/task.hpp>
#include <type_traits>
#include <utility>

namespace tandem::inline v0::io::detail {

/// As a task<T>, but that its frame lies in the frame_cache that is the coroutine's first argument,
/// and that whoever calls the coroutine starts it.
template <class T>
class adapted_call {
 public:
  class promise_type final : public tandem::detail::promise_result<T> {
   public:
    promise_type() noexcept = default;

    template <class... Given>
    static void* operator new(std::size_t bytes, frame_cache& memory, const Given&...) {
      return memory.take(bytes);
    }
    static void operator delete(void* frame, std::size_t) noexcept {
      frame_cache::give_back(frame);
    }

    adapted_call get_return_object() noexcept { return adapted_call(*this); }
    std::suspend_always initial_suspend() const noexcept { return {}; }
    tandem::detail::final_awaiter final_suspend() const noexcept {
      return tandem::detail::end_of(*this);
    }
    template <class Awaitable>
    decltype(auto) await_transform(Awaitable&& awaitable) {
      return tandem::detail::transform_awaitable(std::forward<Awaitable>(awaitable));
    }
  };

  tandem::detail::promise_base& release() const noexcept { return *promise_; }

 private:
  explicit adapted_call(promise_type& promise) noexcept : promise_(&promise) {}

  promise_type* promise_;
};

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored \
    "-Wsubobject-linkage"  // a stream may be a source's own (g++: frames)
#endif
/// @param operation  without state; called as operation(stream, given), gives what is awaited
/// @param given      stays where it is until the call has ended
template <class T, class Operation, class Stream, class Given>
adapted_call<T> adapt(frame_cache& /*memory*/, Stream& stream, Given& given) {
  if constexpr (std::is_void_v<T>) {
    (void)co_await Operation()(stream, given);
  } else {
    co_return static_cast<T>(co_await Operation()(stream, given));
  }
}

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// A frame that makes one call of `stream`, not started yet. What is a task already is its own.
///
/// @throws  std::bad_alloc; what the call throws
template <class T, class Operation, class Stream, class Given>
tandem::detail::promise_base& frame_of_call(frame_cache& memory, Stream& stream, Given& given) {
  if constexpr (std::same_as<decltype(Operation()(stream, given)), task<T>>) {
    task<T> made = Operation()(stream, given);
    TANDEM_ASSERT(made, "a stream gave an empty task for one of its operations");
    return made.release();
  } else {
    return adapt<T, Operation>(memory, stream, given).release();
  }
}

}  // namespace tandem::inline v0::io::detail
