// stream_sources.hpp: streams::from, streams::ticks: streams of what there is already.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <ranges>
#include <type_traits>
#include <utility>

#include <tandem/callback_stream.hpp>
#include <tandem/channel.hpp>
#include <tandem/interval.hpp>
#include <tandem/stream.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class View>
inline constexpr bool owns_elements = false;
template <class Range>
inline constexpr bool owns_elements<std::ranges::owning_view<Range>> =
    !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<Range>>>;

/// What belongs to nobody else is the consumer's to move from.
template <class View>
using item_of_range =
    std::conditional_t<std::is_lvalue_reference_v<std::ranges::range_reference_t<View>> &&
                           !owns_elements<View>,
                       std::ranges::range_reference_t<View>,
                       std::remove_cvref_t<std::ranges::range_reference_t<View>>>;

template <class View>
stream<item_of_range<View>> run_from_range(View view) {
  for (auto&& element : view) {
    const bool goes_on = co_yield pass_item(std::addressof(element));
    if (!goes_on) break;
  }
}

template <class T>
stream<T> run_from_channel(channel<T>& values) {
  while (true) {
    auto wait = values.receive();
    co_await wait_for(wait);
    co_await end_with(wait.await_failure());
    std::optional<T> value = wait.await_resume();
    if (!value) break;
    const bool goes_on = co_yield pass_item(std::addressof(*value));
    if (!goes_on) break;
  }
}

template <class T>
stream<T> run_from_callbacks(callback_values<T>& values) {
  while (true) {
    std::optional<T> value = co_await values.next();
    if (!value) break;
    const bool goes_on = co_yield pass_item(std::addressof(*value));
    if (!goes_on) break;
  }
}

// Not inline coroutines of a header only: they depend on nothing.
TANDEM_API stream<std::chrono::steady_clock::time_point> run_ticks(interval::duration period,
                                                                   missed_ticks policy);

}  // namespace detail

namespace streams {

/// The elements of a range.
///
///     auto pages = tandem::streams::from(urls) | tandem::streams::buffered(8, fetch);
///
/// @param range  a temporary is kept, an lvalue has to stay alive. Its iterators must not block
/// @returns      a stream of `T&` where the range is an lvalue, or a view, of references to T; else
///               of T
/// @cost         one frame; an item: two calls
template <std::ranges::viewable_range Range>
  requires std::ranges::input_range<Range>
stream<detail::item_of_range<std::views::all_t<Range>>> from(Range&& range) {
  return detail::run_from_range<std::views::all_t<Range>>(
      std::views::all(std::forward<Range>(range)));
}

/// What is received from a channel, until that is closed and drained.
///
/// @param values  has to stay alive; leaving the stream leaves the rest there
template <class T>
stream<T> from(channel<T>& values) {
  return detail::run_from_channel(values);
}

/// What with_callbacks() lends, until the library delivers no more.
///
/// @param values  inside of the use, which ends after the stream
template <class T>
stream<T> from(callback_values<T>& values) {
  static_assert(!std::is_void_v<T>, "these callbacks bring no values that a stream could yield");
  return detail::run_from_callbacks(values);
}

/// The ticks of an interval, which begins when the first one is asked for; without an end.
///
/// @returns  a stream of the points in time for which they were set
/// @throws   std::invalid_argument, where the first one is asked for, unless the period is above
///           zero
inline stream<std::chrono::steady_clock::time_point> ticks(
    interval::duration period, missed_ticks policy = missed_ticks::burst) {
  return detail::run_ticks(period, policy);
}

}  // namespace streams
}  // namespace tandem::inline v0
