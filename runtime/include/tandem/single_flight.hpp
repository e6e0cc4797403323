// single_flight.hpp: one call for each key at a time, whose result all that ask for the key share.
// SPDX-License-Identifier: MIT
//
// After Go's golang.org/x/sync/singleflight: no cache. When a call has ended, the next one that
// asks for its key begins anew; so failures are shared, and not remembered.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <source_location>
#include <type_traits>
#include <utility>

#include <tandem/detail/flights.hpp>
#include <tandem/detail/invoke.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class T, class Flights, class Key, class Make>
task<T> run_flight(std::shared_ptr<Flights> all, Key key, Make make, std::source_location where) {
  const shared_task<T> flight = Flights::join_or_begin(all, key, make, where);
  auto result = flight.operator co_await();
  co_await wait_for(result);
  co_await pass_on(result.await_failure());
  co_return result.await_resume();
}

}  // namespace detail

/// Calls for the same key that come while one is under way wait for that one, and share what it
/// ends with.
///
///     tandem::single_flight<std::string, page> loads;
///     // in any number of tasks:
///     page p = co_await loads.run(url, [&client](const std::string& u) { return client.get(u); });
///
/// A call runs in a task of its own (see shared_task), at the home, and with the context, of the
/// caller that began it. A caller that is stopped leaves it to the others; when the last one has
/// gone, the call is stopped, and whoever comes then begins a new one beside its end.
///
/// @tparam T        is copied to each caller (a std::shared_ptr<const page> is cheap); void; or a
///                  reference
/// @thread_safety   all members from any thread; it may go while calls are being stopped
template <class Key, class T, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
class single_flight {
  static_assert(std::is_void_v<T> || std::is_reference_v<T> || std::copy_constructible<T>,
                "single_flight copies the result to each caller: a std::shared_ptr of it can be "
                "copied");
  using flights = detail::flights<Key, T, Hash, Equal>;

 public:
  /// @throws  std::bad_alloc
  single_flight() : all_(std::make_shared<flights>()) {}
  single_flight(const single_flight&) = delete;
  single_flight& operator=(const single_flight&) = delete;
  ~single_flight() = default;

  /// Joins the call for `key` that is under way, or begins one by `make(key)`, or `make()`.
  ///
  /// @param make      returns a task of T; is kept in the call, and called if this is the one that
  ///                  begins it. *The call may go on for others when this caller has gone*: capture
  ///                  by value what does not outlive all of them. With g++ 12 a lambda that captures
  ///                  objects with destructors needs a name
  /// @returns         a task with what the call yields
  /// @throws          what the call throws, to each caller; std::bad_alloc; operation_cancelled
  /// @cancellation    ends the wait; the call goes on if others wait for it, and is stopped if not;
  ///                  may lose the race and return normally
  /// @resumes_on      the caller's home
  /// @cost            a lock and one frame; whoever begins the call: a task, two frames and an
  ///                  entry of a hash table
  template <class Make>
  task<T> run(Key key, Make&& make, std::source_location where = std::source_location::current()) {
    static_assert(
        detail::safe_in_co_await<Make&&>,
        "g++ 12 would destroy this temporary lambda's captures twice: give it a name first, "
        "or capture by reference");
    using function = std::decay_t<Make>;
    static_assert(std::invocable<function&, const Key&> || std::invocable<function&>,
                  "single_flight: make is called with the key, or with nothing");
    using made = decltype(detail::make_for(std::declval<function&>(), std::declval<const Key&>()));
    static_assert(detail::combinable<made> &&
                      (std::is_void_v<T> || std::convertible_to<detail::awaited_t<made>, T>),
                  "single_flight: make returns a task of what the single_flight yields");
    return detail::run_flight<T, flights, Key, function>(all_, std::move(key),
                                                         std::forward<Make>(make), where);
  }

  /// How many keys have a call under way. For metrics: it may change at any time.
  std::size_t in_flight() const { return all_->size(); }

  // Implementation
 private:
  std::shared_ptr<flights> all_;
};

}  // namespace tandem::inline v0
