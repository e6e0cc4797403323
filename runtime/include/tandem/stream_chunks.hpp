// stream_chunks.hpp: streams::chunks: items in groups, by number, or by number and time.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <exception>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <tandem/clock.hpp>
#include <tandem/detail/stream_adaptor.hpp>
#include <tandem/detail/stream_pumps.hpp>
#include <tandem/stream.hpp>
#include <tandem/timeout.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class T>
using chunk_of = std::vector<std::remove_cvref_t<T>>;

template <class T>
stream<chunk_of<T>> run_chunks(stream<T> source, std::size_t count) {
  stream_cursor<T> from(std::move(source));
  chunk_of<T> chunk;
  try {
    while (true) {
      chunk.reserve(count);
      auto* const item = co_await from.next();
      if (item != nullptr) chunk.push_back(static_cast<T&&>(*item));
      // The last one has what came before the end, or a failure.
      if (item != nullptr ? chunk.size() < count : chunk.empty()) {
        if (item == nullptr) break;
        continue;
      }
      const bool goes_on = co_yield pass_item(std::addressof(chunk));
      if (!goes_on || item == nullptr) break;
      chunk.clear();
    }
  } catch (...) {
    from.note_failure();
  }
  co_await from.leave();
  co_await end_with(from.conclude());
}

/// What is taken from a pump, which goes on while a chunk waits for more.
template <class T>
task<void> fill_chunk(stream_pumps& pumps, chunk_of<T>& chunk, std::size_t count, bool& has_ended) {
  while (chunk.size() < count) {
    auto arrival = pumps.arrival();
    co_await wait_for(arrival);
    co_await pass_on(arrival.await_failure());
    void* const item = pumps.take();
    if (item == nullptr) {
      has_ended = true;
      co_return;
    }
    chunk.push_back(static_cast<T&&>(*static_cast<stream_pointer<T>>(item)));
    pumps.release();
  }
}

template <class T>
stream<chunk_of<T>> run_timed_chunks(stream<T> source, std::size_t count,
                                     std::chrono::steady_clock::duration time) {
  stream_pumps pumps(1);
  chunk_of<T> chunk;
  std::exception_ptr failure;
  executor& home = co_await current_home();
  try {
    std::vector<task<void>> pump;
    pump.push_back(pump_stream(std::move(source), pumps));
    pumps.start(home, std::move(pump));
    bool has_ended = false;
    while (!has_ended && failure == nullptr) {
      chunk.reserve(count);
      co_await fill_chunk<T>(pumps, chunk, 1, has_ended);  // the time runs from the first one
      if (!has_ended && chunk.size() < count) {
        auto rest = with_timeout(time, fill_chunk<T>(pumps, chunk, count, has_ended));
        co_await wait_for(rest);
        failure = rest.await_failure();
        if (failure != nullptr && is_cancellation(failure)) {
          // By the time, unless everything is stopped.
          const stop_reason why = current_stop_reason();
          failure = why != stop_reason::none ? cancellation(why) : nullptr;
        }
      }
      if (has_ended) failure = pumps.take_failure();
      if (chunk.empty()) continue;
      const bool goes_on = co_yield pass_item(std::addressof(chunk));
      if (!goes_on) break;
      chunk.clear();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  co_await pumps.stop();
  co_await end_with(std::move(failure));
}

inline std::size_t checked_chunk(std::size_t count) {
  if (count == 0) throw std::invalid_argument("streams::chunks: a chunk has at least one item");
  return count;
}

}  // namespace detail

namespace streams {

/// Vectors of `count` items; the last one has what is left. If the source fails, what it had
/// yielded comes first.
///
/// @param count  at least 1
/// @returns      a stream of std::vector: who moves one out pays for the next one's memory
/// @throws       std::invalid_argument for 0, at the call
/// @cost         one frame and one vector; an item: two calls, and a move
template <class T>
stream<detail::chunk_of<T>> chunks(stream<T> source, std::size_t count) {
  return detail::run_chunks(std::move(source), detail::checked_chunk(count));
}
inline auto chunks(std::size_t count) {
  return detail::stream_adaptor([count = detail::checked_chunk(count)]<class T>(stream<T>&& from) {
    return detail::run_chunks(std::move(from), count);
  });
}

/// As above, but a chunk is handed out, full or not, once `time` has passed since its first item
/// was taken in. The source is not stopped by that: it runs in a task of its own, and is one item
/// ahead.
///
///     auto batches = readings | tandem::streams::chunks(100, 50ms);
///
/// @cost  a task, three frames and one vector; an item: a hand-over between two tasks; a chunk: a
///        frame from a free list and a timer
template <class T, class Rep, class Period>
stream<detail::chunk_of<T>> chunks(stream<T> source, std::size_t count,
                                   std::chrono::duration<Rep, Period> time) {
  return detail::run_timed_chunks(std::move(source), detail::checked_chunk(count),
                                  std::chrono::ceil<std::chrono::steady_clock::duration>(time));
}
template <class Rep, class Period>
auto chunks(std::size_t count, std::chrono::duration<Rep, Period> time) {
  return detail::stream_adaptor(
      [count = detail::checked_chunk(count), time]<class T>(stream<T>&& from) {
        return chunks(std::move(from), count, time);
      });
}

}  // namespace streams
}  // namespace tandem::inline v0
