// when_each.hpp: what several tasks have ended with, in the order in which they end.
// SPDX-License-Identifier: MIT
//
// A stream whose items are made by pumps (protocol pumps: runtime/src/stream/README.md), each of
// which awaits one task after the other.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <tandem/as_result.hpp>
#include <tandem/detail/as_task.hpp>
#include <tandem/detail/child_range.hpp>
#include <tandem/detail/stream_pumps.hpp>
#include <tandem/result.hpp>
#include <tandem/stream.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

/// An item of when_each().
///
/// @thread_safety  as a value
template <class T>
class when_each_item {
 public:
  when_each_item(std::size_t which, result<T>&& how) : index(which), outcome(std::move(how)) {}

  std::size_t index;  ///< of the task, in the order in which they were given
  result<T> outcome;  ///< its value, or its failure
};

/// How many run at once.
///
/// @thread_safety  as a value
class when_each_options {
 public:
  /// All of them.
  when_each_options() noexcept = default;
  /// A task begins when an earlier one's outcome has been taken, and the next one asked for.
  ///
  /// @throws  std::invalid_argument for 0
  when_each_options& at_once(std::size_t count) {
    if (count == 0) throw std::invalid_argument("when_each: 0 at once would never end");
    at_once_ = count;
    return *this;
  }

  // Implementation
  std::size_t at_once() const noexcept { return at_once_; }

 private:
  std::size_t at_once_ = (std::numeric_limits<std::size_t>::max)();
};

namespace detail {

/// The tasks, and which one is the next to begin.
template <class T>
struct awaited_tasks {
  explicit awaited_tasks(std::vector<task<T>>&& given) noexcept : tasks(std::move(given)) {}

  std::vector<task<T>> tasks;
  std::atomic<std::size_t> next{0};  // any pump
};

/// An item that knows whether the consumer has seen it.
template <class T>
struct seen_outcome : when_each_item<T> {
  using when_each_item<T>::when_each_item;
  // Written by the stream, read by the pump when it has been let go or stopped.
  bool is_seen = false;
};

template <class T>
task<void> pump_tasks(awaited_tasks<T>& all, stream_pumps& to) {
  event taken;
  std::exception_ptr failure;
  try {
    while (true) {
      // Relaxed: the tasks were there before the pumps.
      const std::size_t index = all.next.fetch_add(1, std::memory_order_relaxed);
      if (index >= all.tasks.size()) break;
      seen_outcome<T> item(index, co_await as_result(std::move(all.tasks[index])));
      when_each_item<T>& shown = item;
      to.put(to.draw(), &shown, taken);
      auto wait = taken.wait();
      co_await wait_for(wait);
      if (wait.await_failure() != nullptr) {  // pumps/stop
        if (!item.is_seen) failure = item.outcome.exception();
        break;
      }
      taken.reset();
    }
  } catch (...) {
    failure = std::current_exception();
  }
  to.pump_ends(std::move(failure));
}

template <class T>
stream<when_each_item<T>> run_when_each(std::vector<task<T>>&& tasks, std::size_t at_once) {
  auto all = std::make_unique<awaited_tasks<T>>(std::move(tasks));
  const std::size_t count = (std::min)(at_once, all->tasks.size());
  return run_pumped<when_each_item<T>>(
      count,
      [all = std::move(all), count](stream_pumps& to) {
        std::vector<task<void>> pumps;
        pumps.reserve(count);
        for (std::size_t i = 0; i < count; ++i) pumps.push_back(pump_tasks(*all, to));
        return pumps;
      },
      [](void* item) {
        static_cast<seen_outcome<T>*>(static_cast<when_each_item<T>*>(item))->is_seen = true;
      });
}

}  // namespace detail

/// Runs the tasks of a range at once, and yields what each has ended with, as they end.
///
///     co_await tandem::for_each(tandem::when_each(std::move(downloads)), [&](auto&& ended) {
///       if (ended.outcome) return show(ended.index, ended.outcome.value());
///       report(ended.index, ended.outcome.exception());
///     });
///
/// A failure is an item, too, and stops nobody. Leaving early, and a stop of the consumer, stop
/// those that run, and await their ends; tasks that have not begun are dropped.
///
/// @param children  tasks, or other awaitables, of one type; they are moved from
/// @param options   how many run at once
/// @returns         a stream of when_each_item<T>; they begin when the first item is asked for
/// @throws          std::bad_alloc, also out of the stream. Failures of children that ended before
///                  the stream was left, and that nobody has seen, go to
///                  runtime_options::on_suppressed_exception
/// @resumes_on      the children start at the home of whoever asks for the first item, in tasks
///                  beside it (streams::merge does the same)
/// @cost            at set-up: three frames and two blocks, and for each that runs at once a task and two
///                  frames; an item: a hand-over between two tasks, no allocation
template <detail::combinable_range Range>
auto when_each(Range&& children, when_each_options options = {}) {
  auto tasks = detail::collect_tasks(std::forward<Range>(children));
  return detail::run_when_each(std::move(tasks), options.at_once());
}

/// As above, for awaitables that are given one by one.
template <detail::combinable... As>
  requires(sizeof...(As) > 0)
auto when_each(As&&... children) {
  using value = std::tuple_element_t<0, std::tuple<detail::awaited_t<As>...>>;
  static_assert((std::is_same_v<detail::awaited_t<As>, value> && ...),
                "when_each yields items of one type: its children have to yield the same. For "
                "different ones use when_any, or let each do what there is to be done with its "
                "own, in when_all");
  std::vector<task<value>> tasks;
  tasks.reserve(sizeof...(As));
  (tasks.push_back(detail::as_task(std::forward<As>(children))), ...);
  return detail::run_when_each(std::move(tasks), when_each_options().at_once());
}

}  // namespace tandem::inline v0
