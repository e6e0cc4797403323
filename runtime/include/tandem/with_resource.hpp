// with_resource.hpp: acquires something, uses it, and releases it asynchronously.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <concepts>
#include <functional>
#include <type_traits>
#include <utility>

#include <tandem/detail/as_task.hpp>
#include <tandem/finally.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class Use, class Resource>
using use_task = std::invoke_result_t<Use&, Resource&>;

/// The use begins inside the guarded body, so that a `use` that throws before it is a task is
/// released after, too.
template <class T, class Resource, class Use>
task<T> use_resource(Resource& resource, Use& use) {
  auto inner = as_task(std::invoke(use, resource)).operator co_await();
  co_await wait_for(inner);
  co_await pass_on(inner.await_failure());
  co_return inner.await_resume();
}

template <class T, class Resource, class Use, class Release>
task<T> run_with_value(Resource resource, Use use, Release release,
                       std::chrono::steady_clock::duration grace) {
  auto let_go = [&resource, &release] { return std::invoke(release, resource); };
  auto inner = finally(use_resource<T>(resource, use), let_go, grace).operator co_await();
  co_await wait_for(inner);
  co_await pass_on(inner.await_failure());
  co_return inner.await_resume();
}

template <class T, class Acquired, class Use, class Release>
task<T> run_with_acquired(task<Acquired> acquire, Use use, Release release,
                          std::chrono::steady_clock::duration grace) {
  auto acquiring = std::move(acquire).operator co_await();
  co_await wait_for(acquiring);
  co_await pass_on(acquiring.await_failure());
  Acquired resource = acquiring.await_resume();
  auto let_go = [&resource, &release] { return std::invoke(release, resource); };
  auto inner = finally(use_resource<T>(resource, use), let_go, grace).operator co_await();
  co_await wait_for(inner);
  co_await pass_on(inner.await_failure());
  co_return inner.await_resume();
}

}  // namespace detail

/// Acquires a resource, runs `use(resource)`, and then `release(resource)`, however the use ended.
///
///     auto rows = co_await tandem::with_resource(
///         pool.connect(), [&](connection& c) { return c.query(sql); },
///         [](connection& c) { return c.close(); });
///
/// @param acquire   a task (or another awaitable) that yields the resource, or the resource itself.
///                  If it fails or is stopped, neither of the others is called
/// @param use       called with a Resource&, returns a task
/// @param release   called once with a Resource&, returns a task
/// @param grace     after which the release is stopped (reason deadline)
/// @returns         a task with the value of the use
/// @throws          as finally()
/// @cancellation    a stop of the caller reaches acquire and use, not the release
/// @resumes_on      the caller's home
/// @cost            five frames and one timer
template <class Acquire, class Use, class Release>
auto with_resource(Acquire&& acquire, Use&& use, Release&& release,
                   std::chrono::steady_clock::duration grace = default_grace) {
  static_assert(
      detail::safe_in_co_await<Use&&> && detail::safe_in_co_await<Release&&>,
      "g++ 12 would destroy these temporary lambdas' captures twice: give them names first, or "
      "capture by reference");
  using use_type = std::decay_t<Use>;
  using release_type = std::decay_t<Release>;
  if constexpr (detail::combinable<Acquire>) {
    using resource = detail::awaited_t<Acquire>;
    using value = detail::awaited_t<detail::use_task<use_type, std::remove_reference_t<resource>>>;
    return detail::run_with_acquired<value, resource, use_type, release_type>(
        detail::as_task(std::forward<Acquire>(acquire)), std::forward<Use>(use),
        std::forward<Release>(release), grace);
  } else {
    using resource = std::decay_t<Acquire>;
    using value = detail::awaited_t<detail::use_task<use_type, resource>>;
    return detail::run_with_value<value, resource, use_type, release_type>(
        std::forward<Acquire>(acquire), std::forward<Use>(use), std::forward<Release>(release),
        grace);
  }
}

}  // namespace tandem::inline v0
