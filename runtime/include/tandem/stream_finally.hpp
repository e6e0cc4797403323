// stream_finally.hpp: streams::finally: clean-up that runs however a stream ended.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <functional>
#include <type_traits>
#include <utility>

#include <tandem/detail/stream_adaptor.hpp>
#include <tandem/finally.hpp>
#include <tandem/stream.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class C>
task<void> call_stream_clean_up(C& clean_up) {
  if constexpr (std::is_void_v<std::invoke_result_t<C&>>) {
    std::invoke(clean_up);
    co_return;
  } else {
    auto inner = as_task(std::invoke(clean_up)).operator co_await();
    co_await wait_for(inner);
    co_await pass_on(inner.await_failure());
  }
}

template <class T, class C>
stream<T> run_stream_finally(stream<T> source, C clean_up,
                             std::chrono::steady_clock::duration grace) {
  // Its frame is made before the first item: the clean-up does not fail for want of memory here.
  task<void> cleaning = call_stream_clean_up(clean_up);
  stream_cursor<T> from(std::move(source));
  while (auto* const item = co_await from.next()) {
    const bool goes_on = co_yield pass_item(item);
    if (!goes_on) break;
  }
  co_await from.leave();
  auto limited = with_grace(grace, std::move(cleaning));
  co_await wait_for(limited);
  std::exception_ptr failure = from.conclude();
  add_failure(failure, limited.await_failure());
  co_await end_with(std::move(failure));
}

}  // namespace detail

namespace streams {

/// The same items, and then `clean_up`, however the stream ended: at its end, by a failure, or
/// left.
///
///     tandem::stream<row> rows(connection& c) {
///       auto cursor = co_await c.open("select * from orders");
///       co_yield tandem::elements_of(
///           fetched(cursor) | tandem::streams::finally([&] { return cursor.close(); }));
///     }
///
/// @param clean_up  called once, after the source's end: plain, or returns a task. A stream that
///                  never began calls nothing
/// @param grace     after which the clean-up is stopped (reason deadline); no other stop reaches it
/// @throws          a failure of the clean-up, unless there is another one: then it goes to
///                  runtime_options::on_suppressed_exception
/// @cost            two frames; an item: two calls
template <class T, class C>
stream<T> finally(stream<T> source, C&& clean_up,
                  std::chrono::steady_clock::duration grace = default_grace) {
  detail::check_stage_function<C&&>();
  return detail::run_stream_finally<T, std::decay_t<C>>(std::move(source),
                                                        std::forward<C>(clean_up), grace);
}
template <class C>
auto finally(C&& clean_up) {
  detail::check_stage_function<C&&>();
  return detail::stream_adaptor(
      [c = std::decay_t<C>(std::forward<C>(clean_up))]<class T>(stream<T>&& from) mutable {
        return detail::run_stream_finally<T, std::decay_t<C>>(std::move(from), std::move(c),
                                                              default_grace);
      });
}

}  // namespace streams
}  // namespace tandem::inline v0
