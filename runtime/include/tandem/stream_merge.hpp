// stream_merge.hpp: streams::merge: items of several streams, as they come.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

#include <tandem/detail/stream_pumps.hpp>
#include <tandem/stream.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class T>
stream<T> run_merge(std::vector<stream<T>> sources) {
  const std::size_t count = sources.size();
  return run_pumped<T>(count, [sources = std::move(sources)](stream_pumps& to) mutable {
    std::vector<task<void>> pumps;
    pumps.reserve(sources.size());
    for (stream<T>& each : sources) pumps.push_back(pump_stream(std::move(each), to));
    return pumps;
  });
}

}  // namespace detail

namespace streams {

/// The items of all `sources`, as they come; of each in its order.
///
///     co_await tandem::for_each(tandem::streams::merge(orders(a), orders(b)), book);
///
/// Each source runs in a task of its own, at the home of whoever asks for the first item, and is
/// one item ahead at most: it goes on when its last one is done with. The first failure stops the
/// others; leaving stops all of them, and awaits their clean-up.
///
/// @returns  a stream of their items, which stay where they were made
/// @throws   std::bad_alloc
/// @cost     at set-up: a block, and for each source a task and two frames; an item: a hand-over
///           between two tasks, no allocation
template <class T>
stream<T> merge(std::vector<stream<T>> sources) {
  return detail::run_merge(std::move(sources));
}
template <class T, class... More>
  requires(std::is_same_v<More, stream<T>> && ...)
stream<T> merge(stream<T> first, More... more) {
  std::vector<stream<T>> sources;
  sources.reserve(1 + sizeof...(more));
  sources.push_back(std::move(first));
  (sources.push_back(std::move(more)), ...);
  return detail::run_merge(std::move(sources));
}

}  // namespace streams
}  // namespace tandem::inline v0
