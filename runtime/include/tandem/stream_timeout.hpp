// stream_timeout.hpp: streams::timeout: a time limit for each item.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <utility>

#include <tandem/clock.hpp>
#include <tandem/detail/stream_adaptor.hpp>
#include <tandem/stream.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class T>
stream<T> run_item_timeout(stream<T> source, std::chrono::steady_clock::duration limit) {
  using time_point = std::chrono::steady_clock::time_point;
  stream_cursor<T> from(std::move(source));
  while (true) {
    const time_point until = limit > limit.zero() ? deadline_after(limit) : (time_point::min)();
    auto* const item = co_await from.next_until(until);
    if (item == nullptr) break;
    const bool goes_on = co_yield pass_item(item);
    if (!goes_on) break;
  }
  co_await from.leave();
  co_await end_with(from.conclude());
}

}  // namespace detail

namespace streams {

/// The same items, each of which has to come within `limit` after it was asked for. Else what is in
/// front of it is stopped where it waits, and the stream ends with operation_cancelled
/// (stop_reason::deadline).
///
///     auto prices = ticker.prices() | tandem::streams::timeout(5s);
///
/// @cost  one frame; an item: a look at the clock, and a timer where it waits; no allocation
template <class T, class Rep, class Period>
stream<T> timeout(stream<T> source, std::chrono::duration<Rep, Period> limit) {
  return detail::run_item_timeout(std::move(source),
                                  std::chrono::ceil<std::chrono::steady_clock::duration>(limit));
}
template <class Rep, class Period>
auto timeout(std::chrono::duration<Rep, Period> limit) {
  return detail::stream_adaptor(
      [limit]<class T>(stream<T>&& from) { return timeout(std::move(from), limit); });
}

}  // namespace streams
}  // namespace tandem::inline v0
