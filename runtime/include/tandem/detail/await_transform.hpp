// await_transform.hpp: what happens to an operand of co_await inside a task.
// SPDX-License-Identifier: MIT
//
// Awaiters of tandem (they name themselves by `using tandem_awaiter = void;`) pass through. Any
// other awaitable gets, instead of the real handle, a stand-in whose resume posts the task to its
// home: so the library owns every resume, and foreign code that resumes from a strange thread does
// no harm.
#pragma once

#include <concepts>
#include <coroutine>
#include <type_traits>
#include <utility>

#include <tandem/detail/promise_base.hpp>

namespace tandem::inline v0::detail {

template <class A>
concept has_member_co_await = requires(A&& a) { static_cast<A&&>(a).operator co_await(); };
template <class A>
concept has_free_co_await = requires(A&& a) { operator co_await(static_cast<A&&>(a)); };

template <class A>
decltype(auto) get_awaiter(A&& awaitable) {
  if constexpr (has_member_co_await<A>) {
    return static_cast<A&&>(awaitable).operator co_await();
  } else if constexpr (has_free_co_await<A>) {
    return operator co_await(static_cast<A&&>(awaitable));
  } else {
    return static_cast<A&&>(awaitable);
  }
}

template <class A>
using awaiter_t = decltype(get_awaiter(std::declval<A>()));
template <class A>
using await_result_t =
    decltype(std::declval<std::remove_reference_t<awaiter_t<A>>&>().await_resume());

template <class A>
concept tandem_awaitable = requires { typename std::remove_cvref_t<awaiter_t<A>>::tandem_awaiter; };

/// Laid out as the start of a coroutine frame (both compilers: resume, then destroy).
struct stand_in_frame {
  void (*resume)(void*) = nullptr;
  void (*destroy)(void*) = nullptr;
  promise_base* waiting = nullptr;
};

template <class Awaiter>
class foreign_awaiter {
 public:
  using tandem_awaiter = void;

  explicit foreign_awaiter(Awaiter&& inner) : inner_(static_cast<Awaiter&&>(inner)) {}

  bool await_ready() { return inner_.await_ready(); }

  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> self) {
    frame_.resume = [](void* frame) { static_cast<stand_in_frame*>(frame)->waiting->post(); };
    frame_.destroy = [](void*) {};
    frame_.waiting = &self.promise();
    const auto stand_in = std::coroutine_handle<>::from_address(&frame_);
    using returned = decltype(inner_.await_suspend(stand_in));
    if constexpr (std::is_void_v<returned>) {
      inner_.await_suspend(stand_in);
      return std::noop_coroutine();
    } else if constexpr (std::same_as<returned, bool>) {
      if (inner_.await_suspend(stand_in)) return std::noop_coroutine();
      return transfer(self);
    } else {
      const std::coroutine_handle<> next = inner_.await_suspend(stand_in);
      return transfer(next.address() == &frame_ ? std::coroutine_handle<>(self) : next);
    }
  }

  decltype(auto) await_resume() { return inner_.await_resume(); }

 private:
  Awaiter inner_;  // a value, or a reference to the operand
  stand_in_frame frame_;
};

template <class Awaitable>
decltype(auto) transform_awaitable(Awaitable&& awaitable) {
  if constexpr (tandem_awaitable<Awaitable>) {
    return static_cast<Awaitable&&>(awaitable);
  } else {
    static_assert(
        requires(std::remove_reference_t<awaiter_t<Awaitable&&>>& a) { a.await_ready(); },
        "this operand of co_await is not awaitable. A task is awaited once, as an rvalue: write "
        "co_await std::move(t), or co_await f(x)");
    using inner = awaiter_t<Awaitable&&>;
    static_assert(
        requires(std::remove_reference_t<inner>& a) { a.await_suspend(std::coroutine_handle<>()); },
        "this operand of co_await wants the coroutines of its own library, and a task of tandem is "
        "none. With Asio: write tandem::use_await instead of asio::use_awaitable, and for an "
        "asio::awaitable asio::co_spawn(executor, f(), tandem::use_await)");
    return foreign_awaiter<inner>(get_awaiter(static_cast<Awaitable&&>(awaitable)));
  }
}

}  // namespace tandem::inline v0::detail
