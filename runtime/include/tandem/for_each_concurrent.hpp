// for_each_concurrent.hpp: a task for each item of a range, a bounded number of them at once.
// SPDX-License-Identifier: MIT
//
// As many pumps as may run at once take items from the range, one after the other, and await the
// task of each. So there is no frame for an item that has not begun, and the range may be endless.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <ranges>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include <tandem/detail/as_task.hpp>
#include <tandem/detail/futex_mutex.hpp>
#include <tandem/stop.hpp>
#include <tandem/task.hpp>
#include <tandem/when_all.hpp>

namespace tandem::inline v0 {

namespace detail {

/// The range and where it is: the pumps take items under the lock.
template <class View>
class shared_items {
  using reference = std::ranges::range_reference_t<View>;
  // What a forward range refers to stays when the iterator goes on; else the item has to be kept.
  static constexpr bool by_reference =
      std::ranges::forward_range<View> && std::is_lvalue_reference_v<reference>;

 public:
  using item = std::conditional_t<by_reference, std::add_pointer_t<reference>,
                                  std::optional<std::remove_cvref_t<reference>>>;

  explicit shared_items(View& view) : at_(std::ranges::begin(view)), end_(std::ranges::end(view)) {}

  /// @param stopped  set if there is one but the task was stopped
  /// @returns        an empty item at the end, or if it was stopped
  /// @throws         what the range throws, which then counts as at its end
  item take(stop_reason& stopped) {
    const std::lock_guard guard(lock_);
    if (ended_ || at_ == end_) return item();
    stopped = current_stop_reason();
    if (stopped != stop_reason::none) return item();
    ended_ = true;  // until the range has not thrown
    item taken = [this]() -> item {
      if constexpr (by_reference) {
        return std::addressof(*at_);
      } else {
        return item(std::in_place, *at_);
      }
    }();
    ++at_;
    ended_ = false;
    return taken;
  }

 private:
  futex_mutex lock_;
  std::ranges::iterator_t<View> at_;
  std::ranges::sentinel_t<View> end_;
  bool ended_ = false;
};

template <class F, class Item>
auto start_item(F& f, Item& item) {
  if constexpr (std::is_pointer_v<Item>) {
    return as_task(std::invoke(f, *item)).operator co_await();
  } else {
    return as_task(std::invoke(f, std::move(*item))).operator co_await();
  }
}

template <class View, class F>
task<void> pump_items(shared_items<View>& items, F& f) {
  stop_reason stopped = stop_reason::none;
  // An item that was kept lives until its task has ended, so the task may refer to it.
  while (auto item = items.take(stopped)) {
    auto inner = start_item(f, item);
    co_await wait_for(inner);
    co_await pass_on(inner.await_failure());
  }
  if (stopped != stop_reason::none) co_await pass_on(cancellation(stopped));
}

template <class View, class F>
task<void> run_for_each(View view, std::size_t limit, F f) {
  if constexpr (std::ranges::sized_range<View>) {
    limit = (std::min)(limit, static_cast<std::size_t>(std::ranges::size(view)));
  }
  shared_items<View> items(view);
  std::vector<task<void>> pumps;
  pumps.reserve(limit);
  for (std::size_t i = 0; i < limit; ++i) pumps.push_back(pump_items(items, f));
  auto all = when_all(std::move(pumps));
  co_await wait_for(all);
  co_await pass_on(all.await_failure());
}

}  // namespace detail

/// Awaits `f(item)` for each item of `range`, at most `limit` of them at once.
///
///     co_await tandem::for_each_concurrent(urls, 8, [&](const std::string& url) -> tandem::task<void> {
///       pages.push(co_await fetch(url));
///     });
///
/// @param range    any input range; a temporary is kept, an lvalue has to stay alive. Taken from
///                 lazily, by one task at a time: its iterators must not block
/// @param limit    at least 1; that many frames are made, or one per item if that is known to be
///                 less
/// @param f        returns a task, or anything else that can be awaited; may run on several workers
///                 at once; kept alive until the end. With g++ 12 a lambda that captures objects
///                 with destructors needs a name
/// @returns        a task; the items begin in order
/// @throws         std::invalid_argument for a limit of 0, at the call; the first failure by time,
///                 after all that had begun have ended: it stops them, and no other item begins
/// @cancellation   a stop of the caller reaches what has begun; operation_cancelled if items were
///                 left
/// @resumes_on     the caller's home; the tasks start there
/// @cost           a frame for each of `limit`, one for each item while it runs
template <std::ranges::viewable_range Range, class F>
task<void> for_each_concurrent(Range&& range, std::size_t limit, F&& f) {
  static_assert(
      detail::safe_in_co_await<F&&>,
      "g++ 12 would destroy this temporary lambda's captures twice: give it a name first, "
      "or capture by reference");
  if (limit == 0) throw std::invalid_argument("for_each_concurrent: a limit of 0 would never end");
  return detail::run_for_each<std::views::all_t<Range>, std::decay_t<F>>(
      std::views::all(std::forward<Range>(range)), limit, std::forward<F>(f));
}

}  // namespace tandem::inline v0
