// stream_call.hpp: calls of the user's functions for an item: plain ones, and those that return a task.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <coroutine>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <tandem/detail/as_task.hpp>
#include <tandem/detail/stream_limit.hpp>

namespace tandem::inline v0::detail {

/// An item is the callee's to move from, if it takes it so.
template <class F, class T>
inline constexpr bool takes_rvalue = std::invocable<F&, T&&>;
template <class F, class T>
concept callable_with_item = takes_rvalue<F, T> || std::invocable<F&, std::remove_reference_t<T>&>;

template <class F, class T>
struct item_call : std::invoke_result<F&, T&&> {};
template <class F, class T>
  requires(!takes_rvalue<F, T>)
struct item_call<F, T> : std::invoke_result<F&, std::remove_reference_t<T>&> {};
template <class F, class T>
using item_call_t = typename item_call<F, T>::type;

template <class R>
struct awaited_result {
  using type = R;
};
template <class T>
struct awaited_result<task<T>> {
  using type = T;
};
/// What a call of F with an item yields, awaited if it is a task.
template <class F, class T>
using stream_call_result = typename awaited_result<item_call_t<F, T>>::type;

template <class T, class F>
decltype(auto) invoke_with_item(F& f, stream_pointer<T> item) {
  if constexpr (takes_rvalue<F, T>) {
    return std::invoke(f, static_cast<T&&>(*item));
  } else {
    return std::invoke(f, *item);
  }
}

/// Never suspends: the call is made as the await ends.
template <class T, class F>
class [[nodiscard]] plain_item_call {
 public:
  using tandem_awaiter = void;

  plain_item_call(F& f, stream_pointer<T> item) noexcept : f_(&f), item_(item) {}
  /// By hand: g++ copies what it may copy bit by bit out of its members' stores, which costs a
  /// stall.
  plain_item_call(plain_item_call&& other) noexcept : f_(other.f_), item_(other.item_) {}
  bool await_ready() const noexcept { return true; }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise>) const noexcept {}
  decltype(auto) await_resume() { return invoke_with_item<T>(*f_, item_); }

 private:
  F* f_;
  stream_pointer<T> item_;
};

/// For co_await: f(item), whatever it returns.
template <class T, class F>
auto call_with_item(F& f, stream_pointer<T> item) {
  if constexpr (is_task_type<std::remove_cvref_t<item_call_t<F, T>>>) {
    return invoke_with_item<T>(f, item);
  } else {
    return plain_item_call<T, F>(f, item);
  }
}

}  // namespace tandem::inline v0::detail
