// stream_map.hpp: streams::map, streams::filter: each item changed, or left out.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <tandem/detail/stream_adaptor.hpp>
#include <tandem/stream.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class F, class T>
using mapped_raw = stream_call_result<F, T>;
/// Of an rvalue reference the value, which lies where it did.
template <class F, class T>
using mapped_item = std::conditional_t<std::is_lvalue_reference_v<mapped_raw<F, T>>,
                                       mapped_raw<F, T>, std::remove_cvref_t<mapped_raw<F, T>>>;

template <class U, class T, class F>
stream<U> run_map(stream<T> source, F f) {
  stream_cursor<T> from(std::move(source));
  try {
    while (auto* const item = co_await from.next()) {
      decltype(auto) made = co_await call_with_item<T>(f, item);
      const bool goes_on = co_yield pass_item(std::addressof(made));
      if (!goes_on) break;
    }
  } catch (...) {
    from.note_failure();
  }
  co_await from.leave();
  co_await end_with(from.conclude());
}

template <class T, class F>
stream<T> run_filter(stream<T> source, F keep) {
  stream_cursor<T> from(std::move(source));
  try {
    while (auto* const item = co_await from.next()) {
      const bool is_kept = co_await call_with_item<std::remove_reference_t<T>&>(keep, item);
      if (!is_kept) continue;
      const bool goes_on = co_yield pass_item(item);
      if (!goes_on) break;
    }
  } catch (...) {
    from.note_failure();
  }
  co_await from.leave();
  co_await end_with(from.conclude());
}

}  // namespace detail

namespace streams {

/// What `f` makes of each item.
///
///     auto totals = orders(c) | tandem::streams::map([](const order& o) { return o.total; });
///
/// @param f   plain, or returns a task; gets an item as for_each()'s function does. What it returns
///            is the item; an lvalue reference is passed on as one
/// @returns   a stream of that; what `f` throws ends it
/// @cost      one frame; an item: two calls
template <class T, class F>
stream<detail::mapped_item<std::decay_t<F>, T>> map(stream<T> source, F&& f) {
  detail::check_stage_function<F&&>();
  return detail::run_map<detail::mapped_item<std::decay_t<F>, T>, T, std::decay_t<F>>(
      std::move(source), std::forward<F>(f));
}
template <class F>
auto map(F&& f) {
  detail::check_stage_function<F&&>();
  return detail::stream_adaptor(
      [f = std::decay_t<F>(std::forward<F>(f))]<class T>(stream<T>&& from) mutable {
        detail::check_takes_item<detail::callable_with_item<std::decay_t<F>, T>>();
        return detail::run_map<detail::mapped_item<std::decay_t<F>, T>, T, std::decay_t<F>>(
            std::move(from), std::move(f));
      });
}

/// The items for which `keep` says true.
///
/// @param keep  plain, or returns a task; gets `T&`
/// @returns     a stream of the same items: nothing is copied or moved
/// @cost        one frame; an item: two calls
template <class T, class F>
stream<T> filter(stream<T> source, F&& keep) {
  detail::check_stage_function<F&&>();
  return detail::run_filter<T, std::decay_t<F>>(std::move(source), std::forward<F>(keep));
}
template <class F>
auto filter(F&& keep) {
  detail::check_stage_function<F&&>();
  return detail::stream_adaptor(
      [keep = std::decay_t<F>(std::forward<F>(keep))]<class T>(stream<T>&& from) mutable {
        return detail::run_filter<T, std::decay_t<F>>(std::move(from), std::move(keep));
      });
}

}  // namespace streams
}  // namespace tandem::inline v0
