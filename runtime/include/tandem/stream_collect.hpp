// stream_collect.hpp: streams::fold, streams::collect: one value made of all items.
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include <tandem/detail/stream_adaptor.hpp>
#include <tandem/stream.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class A, class T, class F>
task<A> run_fold(stream<T> source, A so_far, F f, std::chrono::steady_clock::duration grace) {
  stream_cursor<T> from(std::move(source));
  try {
    while (auto* const item = co_await from.next_charged()) {
      if constexpr (is_task_type<std::remove_cvref_t<std::invoke_result_t<F&, A, T&&>>>) {
        so_far = co_await std::invoke(f, std::move(so_far), static_cast<T&&>(*item));
      } else {
        so_far = std::invoke(f, std::move(so_far), static_cast<T&&>(*item));
      }
    }
  } catch (...) {
    from.note_failure();
  }
  co_await from.leave(grace);
  co_await pass_on(from.conclude());
  co_return so_far;
}

template <class T>
task<std::vector<std::remove_cvref_t<T>>> run_collect(stream<T> source,
                                                      std::chrono::steady_clock::duration grace) {
  stream_cursor<T> from(std::move(source));
  std::vector<std::remove_cvref_t<T>> all;
  try {
    while (auto* const item = co_await from.next_charged()) all.push_back(static_cast<T&&>(*item));
  } catch (...) {
    from.note_failure();
  }
  co_await from.leave(grace);
  co_await pass_on(from.conclude());
  co_return all;
}

}  // namespace detail

namespace streams {

/// `f(so_far, item)` for each item, beginning with `first`.
///
///     const long sum = co_await (numbers() | tandem::streams::fold(0L, std::plus<>()));
///
/// (The parentheses are needed: co_await binds more tightly than |.)
///
/// @param f       plain, or returns a task; gets what there is so far, moved, and an item (`T&&`)
/// @param grace   as for_each()
/// @returns       a task with the last value
/// @throws        as for_each()
/// @cancellation  as for_each()
/// @resumes_on    the caller's home
/// @cost          one frame
template <class T, class A, class F>
task<A> fold(stream<T> source, A first, F&& f,
             std::chrono::steady_clock::duration grace = default_grace) {
  detail::check_stage_function<F&&>();
  return detail::run_fold<A, T, std::decay_t<F>>(std::move(source), std::move(first),
                                                 std::forward<F>(f), grace);
}
template <class A, class F>
  requires(!std::is_same_v<std::decay_t<F>, std::chrono::steady_clock::duration>)
auto fold(A first, F&& f) {
  detail::check_stage_function<F&&>();
  return detail::stream_adaptor(
      [first = std::move(first),
       f = std::decay_t<F>(std::forward<F>(f))]<class T>(stream<T>&& from) mutable {
        return detail::run_fold<A, T, std::decay_t<F>>(std::move(from), std::move(first),
                                                       std::move(f), default_grace);
      });
}

/// All items.
///
///     auto rows = co_await (query(c) | tandem::streams::take(10) | tandem::streams::collect());
///
/// @param grace   as for_each()
/// @returns       a task with a vector of them
/// @throws        as for_each(); std::bad_alloc
/// @cancellation  as for_each()
/// @resumes_on    the caller's home
/// @cost          one frame, and the vector
template <class T>
task<std::vector<std::remove_cvref_t<T>>> collect(
    stream<T> source, std::chrono::steady_clock::duration grace = default_grace) {
  return detail::run_collect(std::move(source), grace);
}
inline auto collect() {
  return detail::stream_adaptor([]<class T>(stream<T>&& from) {
    return detail::run_collect(std::move(from), default_grace);
  });
}

}  // namespace streams
}  // namespace tandem::inline v0
