// stream_take.hpp: streams::take, take_while, skip: the first items, or all but these.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <tandem/detail/stream_adaptor.hpp>
#include <tandem/stream.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class T>
stream<T> run_take(stream<T> source, std::size_t count) {
  stream_cursor<T> from(std::move(source));
  for (; count > 0; --count) {
    auto* const item = co_await from.next();
    if (item == nullptr) break;
    const bool goes_on = co_yield pass_item(item);
    if (!goes_on) break;
  }
  co_await from.leave();
  co_await end_with(from.conclude());
}

template <class T, class F>
stream<T> run_take_while(stream<T> source, F belongs) {
  stream_cursor<T> from(std::move(source));
  try {
    while (auto* const item = co_await from.next()) {
      const bool is_wanted = co_await call_with_item<std::remove_reference_t<T>&>(belongs, item);
      if (!is_wanted) break;
      const bool goes_on = co_yield pass_item(item);
      if (!goes_on) break;
    }
  } catch (...) {
    from.note_failure();
  }
  co_await from.leave();
  co_await end_with(from.conclude());
}

template <class T>
stream<T> run_skip(stream<T> source, std::size_t count) {
  stream_cursor<T> from(std::move(source));
  while (auto* const item = co_await from.next()) {
    if (count > 0) {
      --count;
      continue;
    }
    const bool goes_on = co_yield pass_item(item);
    if (!goes_on) break;
  }
  co_await from.leave();
  co_await end_with(from.conclude());
}

}  // namespace detail

namespace streams {

/// The first `count` items, at most. The source is left when one more is asked for.
///
/// @cost  one frame; an item: two calls
template <class T>
stream<T> take(stream<T> source, std::size_t count) {
  return detail::run_take(std::move(source), count);
}
inline auto take(std::size_t count) {
  return detail::stream_adaptor(
      [count]<class T>(stream<T>&& from) { return detail::run_take(std::move(from), count); });
}

/// The items up to the first for which `belongs` says false, which is dropped.
///
/// @param belongs  plain, or returns a task; gets `T&`
/// @cost           one frame; an item: two calls
template <class T, class F>
stream<T> take_while(stream<T> source, F&& belongs) {
  detail::check_stage_function<F&&>();
  return detail::run_take_while<T, std::decay_t<F>>(std::move(source), std::forward<F>(belongs));
}
template <class F>
auto take_while(F&& belongs) {
  detail::check_stage_function<F&&>();
  return detail::stream_adaptor(
      [f = std::decay_t<F>(std::forward<F>(belongs))]<class T>(stream<T>&& from) mutable {
        return detail::run_take_while<T, std::decay_t<F>>(std::move(from), std::move(f));
      });
}

/// All items but the first `count`.
///
/// @cost  one frame; an item: two calls
template <class T>
stream<T> skip(stream<T> source, std::size_t count) {
  return detail::run_skip(std::move(source), count);
}
inline auto skip(std::size_t count) {
  return detail::stream_adaptor(
      [count]<class T>(stream<T>&& from) { return detail::run_skip(std::move(from), count); });
}

}  // namespace streams
}  // namespace tandem::inline v0
