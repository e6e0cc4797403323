// stream_buffered.hpp: streams::buffered, buffered_unordered: a task for each item, several at once.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <tandem/detail/stream_adaptor.hpp>
#include <tandem/detail/stream_pumps.hpp>
#include <tandem/mutex.hpp>
#include <tandem/stream.hpp>
#include <tandem/stream_map.hpp>

namespace tandem::inline v0 {

namespace detail {

enum class pump_order : std::uint8_t { kept, as_they_come };

/// What the pumps share. They ask the source in turn.
template <class T, class F>
struct shared_source {
  shared_source(stream_cursor<T>& source, F& function, pump_order how) noexcept
      : from(&source), f(&function), order(how) {}

  stream_cursor<T>* from;
  F* f;
  pump_order order;
  mutex turn;
};

template <class T, class F>
task<void> pump_calls(shared_source<T, F>& source, stream_pumps& to) {
  using value = std::remove_cvref_t<T>;
  event taken;
  std::exception_ptr failure;
  std::optional<std::uint64_t> ticket;
  try {
    while (true) {
      std::optional<value> kept;
      co_await source.turn.lock();
      auto* const item = co_await source.from->next();
      mutex_guard turn(source.turn);
      if (item == nullptr) break;
      kept.emplace(static_cast<T&&>(*item));
      if (source.order == pump_order::kept) ticket = to.draw();
      turn.unlock();
      decltype(auto) made = co_await call_with_item<value>(*source.f, std::addressof(*kept));
      if (!ticket) ticket = to.draw();
      to.put(*std::exchange(ticket, std::nullopt), std::addressof(made), taken);
      auto wait = taken.wait();
      co_await wait_for(wait);
      if (wait.await_failure() != nullptr) break;  // pumps/stop
      taken.reset();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  if (ticket && failure != nullptr) to.put_failure(*ticket, std::exchange(failure, nullptr));
  to.pump_ends(std::move(failure));
}

template <class U, class T, class F>
stream<U> run_buffered(stream<T> source, std::size_t count, F f, pump_order order) {
  stream_cursor<T> from(std::move(source));
  shared_source<T, F> shared(from, f, order);
  auto make = [&shared, count](stream_pumps& to) {
    std::vector<task<void>> pumps;
    pumps.reserve(count);
    for (std::size_t i = 0; i < count; ++i) pumps.push_back(pump_calls(shared, to));
    return pumps;
  };
  const bool has_ended = co_yield pass_all<U>(run_pumped<U>(count, make), from);
  if (!has_ended) from.forget_stop(stop_reason::parent);  // pumps/stop: it was with them
  co_await from.leave();
  co_await end_with(from.conclude());
}

template <class T, class F>
auto make_buffered(stream<T>&& source, std::size_t count, F&& f, pump_order order) {
  using function = std::decay_t<F>;
  using value = std::remove_cvref_t<T>;
  static_assert(callable_with_item<function, value>,
                "buffered: f is called with one argument, an item of the stream");
  static_assert(is_task_type<std::remove_cvref_t<item_call_t<function, value>>>,
                "buffered: f returns a task: what is not awaited is done by streams::map");
  if (count == 0) throw std::invalid_argument("streams::buffered: 0 at once would never end");
  return run_buffered<mapped_item<function, value>, T, function>(std::move(source), count,
                                                                 std::forward<F>(f), order);
}

}  // namespace detail

namespace streams {

/// What `f(item)`, a task, yields for each item, in the order of the items; up to `count` of them
/// are begun, and not yet taken.
///
///     auto pages = tandem::streams::from(urls) | tandem::streams::buffered(8, fetch);
///
/// The source runs as far ahead. Tasks run at the home of whoever asks for the first item. A
/// failure comes at its place in the order, after the items before it; then the others are stopped
/// and awaited, as they are when the stream is left. Items are moved (or copied) out of the source.
///
/// @param count  at least 1
/// @param f      returns a task; runs on several workers at once; gets an item (`T&&`)
/// @throws       std::invalid_argument for 0, at the call; std::bad_alloc
/// @cost         at set-up: two frames, a block, and for each of `count` a task and two frames; an
///               item: its task, a lock and a hand-over between two tasks
template <class T, class F>
auto buffered(stream<T> source, std::size_t count, F&& f) {
  detail::check_stage_function<F&&>();
  return detail::make_buffered(std::move(source), count, std::forward<F>(f),
                               detail::pump_order::kept);
}
template <class F>
auto buffered(std::size_t count, F&& f) {
  detail::check_stage_function<F&&>();
  return detail::stream_adaptor([count, f = std::decay_t<F>(std::forward<F>(f))]<class T>(
                                    stream<T>&& from) mutable {
    return detail::make_buffered(std::move(from), count, std::move(f), detail::pump_order::kept);
  });
}

/// As buffered(), in the order in which the tasks end; a failure comes as soon.
template <class T, class F>
auto buffered_unordered(stream<T> source, std::size_t count, F&& f) {
  detail::check_stage_function<F&&>();
  return detail::make_buffered(std::move(source), count, std::forward<F>(f),
                               detail::pump_order::as_they_come);
}
template <class F>
auto buffered_unordered(std::size_t count, F&& f) {
  detail::check_stage_function<F&&>();
  return detail::stream_adaptor(
      [count, f = std::decay_t<F>(std::forward<F>(f))]<class T>(stream<T>&& from) mutable {
        return detail::make_buffered(std::move(from), count, std::move(f),
                                     detail::pump_order::as_they_come);
      });
}

}  // namespace streams
}  // namespace tandem::inline v0
