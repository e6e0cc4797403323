// stream_flat_map.hpp: streams::flat_map: each item becomes several, or none.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <ranges>
#include <type_traits>
#include <utility>

#include <tandem/detail/stream_adaptor.hpp>
#include <tandem/stream.hpp>
#include <tandem/stream_sources.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class T>
inline constexpr bool is_stream = false;
template <class T>
inline constexpr bool is_stream<stream<T>> = true;

template <class T>
stream<T> as_stream(stream<T>&& made) noexcept {
  return std::move(made);
}
template <std::ranges::input_range Range>
  requires(!is_stream<std::remove_cvref_t<Range>>)
auto as_stream(Range&& made) {
  return streams::from(std::forward<Range>(made));
}

/// What f makes of an item, as a stream.
template <class F, class T>
using flat_stream = decltype(as_stream(std::declval<stream_call_result<F, T>>()));
template <class S>
struct item_of_stream;
template <class T>
struct item_of_stream<stream<T>> {
  using type = T;
};
template <class F, class T>
using flat_item = typename item_of_stream<flat_stream<F, T>>::type;

template <class U, class T, class F>
stream<U> run_flat_map(stream<T> source, F f) {
  stream_cursor<T> from(std::move(source));
  try {
    while (auto* const item = co_await from.next()) {
      decltype(auto) made = co_await call_with_item<T>(f, item);
      auto inner = as_stream(static_cast<decltype(made)&&>(made));
      const bool goes_on = co_yield pass_all<U>(std::move(inner), from);
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

/// The items of all that `f` makes of the items, one stream after the other.
///
///     auto lines = files | tandem::streams::flat_map([](const path& p) { return lines_of(p); });
///
/// @param f   plain, or returns a task; gets an item as for_each()'s function does; what it returns
///            is a stream or a range: an empty one leaves the item out, std::views::single changes
///            it. A range that it returns by reference has to stay alive
/// @returns   a stream of their items
/// @cost      one frame, and one for each stream or range; an item costs no more than those do
template <class T, class F>
stream<detail::flat_item<std::decay_t<F>, T>> flat_map(stream<T> source, F&& f) {
  detail::check_stage_function<F&&>();
  return detail::run_flat_map<detail::flat_item<std::decay_t<F>, T>, T, std::decay_t<F>>(
      std::move(source), std::forward<F>(f));
}
template <class F>
auto flat_map(F&& f) {
  detail::check_stage_function<F&&>();
  return detail::stream_adaptor(
      [f = std::decay_t<F>(std::forward<F>(f))]<class T>(stream<T>&& from) mutable {
        detail::check_takes_item<detail::callable_with_item<std::decay_t<F>, T>>();
        return detail::run_flat_map<detail::flat_item<std::decay_t<F>, T>, T, std::decay_t<F>>(
            std::move(from), std::move(f));
      });
}

}  // namespace streams
}  // namespace tandem::inline v0
