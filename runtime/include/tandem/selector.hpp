// selector.hpp: a select that is asked again and again.
// SPDX-License-Identifier: MIT
//
// Between two turns its branches stay where they are, in the lists of what they wait for. Whoever comes
// to one of them then finds that the task is away, leaves word, and gives what it has to the next one
// in the list, or keeps it: the next turn looks there first. Protocol selecting,
// runtime/src/select/README.md.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/select.hpp>

namespace tandem::inline v0 {

namespace detail {

/// Awaiter of the next() of a selector.
template <class Branches>
class [[nodiscard]] selector_awaiter {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = std::true_type;  // race() refuses it
  using value_type = typename Branches::result;

  /// @param next  where the look begins; moved on
  selector_awaiter(Branches& branches, selection& of, std::uint32_t& next) noexcept
      : branches_(&branches), of_(&of), next_(&next) {}

  bool await_ready() noexcept {
    TANDEM_ASSERT(!branches_->is_over(), "a selector was asked whose branches were all taken");
    const std::uint32_t first = *next_ < branches_->size() ? *next_ : 0;
    return turn_.look(*branches_, *of_, first);
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return turn_.wait(*branches_, *of_, self.promise());
  }
  std::exception_ptr await_failure() noexcept {
    turn_.settle(*branches_, *of_);
    if (turn_.was_stopped()) return cancellation(of_->wait().cancel_reason());
    begin_after(turn_.winner());
    return branches_->failure(turn_.winner());
  }
  value_type await_resume() {
    turn_.settle(*branches_, *of_);
    if (turn_.was_stopped()) throw operation_cancelled(of_->wait().cancel_reason());
    begin_after(turn_.winner());
    return branches_->take(turn_.winner());
  }

  /// In the place of `next`: the look begins with the first one at each turn.
  static constexpr std::uint32_t always_first = no_branch;

 private:
  void begin_after(std::uint32_t taken) noexcept {
    if (*next_ != always_first) *next_ = taken + 1;
  }

  Branches* branches_;
  selection* of_;
  std::uint32_t* next_;
  select_turn<Branches, true> turn_;
};

/// Not a temporary that its awaiter refers to.
template <class A>
constexpr void check_kept() {
  static_assert(
      std::is_lvalue_reference_v<A> ||
          !requires { typename std::remove_cvref_t<A>::awaited_where_it_is; },
      "a selector keeps the wait for a join_handle, and not the handle: give that a name "
      "that lives as long");
}

/// The branch that a selector keeps of an argument.
template <class A>
struct kept_branch : branch_of<A> {
  static_assert((check_kept<A>(), true));
  static_assert(!is_otherwise<branch_of_t<A>>,
                "a selector waits for one of its branches: otherwise is for select()");
  static_assert((check_branch<A>(), true));
};
/// The other guide is tried as well.
template <class A>
  requires is_biased<A>
struct kept_branch<A> : branch_of<A> {};
template <class A>
using kept_branch_t = typename kept_branch<A>::type;

}  // namespace detail

/// select() in a loop: what is armed stays armed between two turns, in its place in the queue.
///
///     tandem::selector next(commands.receive(), every.tick(), tandem::stopped());
///     for (bool go_on = true; go_on;) {
///       auto hit = co_await next.next();
///       hit.visit([&](auto command) { obey(command); }, [&](auto) { report(); },
///                 [&](auto) { go_on = false; });
///     }
///
/// Branches that can be taken once only (a send, a join handle, a sleep) are left out when they were;
/// replace() puts another one in their place. What a branch refers to has to live as long as the
/// selector: the value of `send(std::move(value))`, which must not be a temporary; `send(value)` copies
/// it into the branch.
///
/// Timers, joins, I/O, values of callbacks and stopped() are not kept armed: they are armed at each
/// turn that waits.
///
/// @thread_safety  one task at a time; it stays where it is
template <detail::select_branch... Bs>
class [[nodiscard]] selector {
  using branches = detail::branch_tuple<Bs...>;

 public:
  template <class... As>
    requires(sizeof...(As) == sizeof...(Bs))
  explicit selector(As&&... awaitables)
      : branches_(Bs(detail::make_branch(std::forward<As>(awaitables)))...) {}
  template <class... As>
    requires(sizeof...(As) == sizeof...(Bs))
  explicit selector(biased_t /*by place*/, As&&... awaitables)
      : selector(std::forward<As>(awaitables)...) {
    next_ = detail::selector_awaiter<branches>::always_first;
  }
  selector(const selector&) = delete;
  selector& operator=(const selector&) = delete;
  /// Not while somebody waits.
  ~selector() { branches_.disarm_others(detail::no_branch, true); }

  /// As select(): waits for the first of them, and takes it.
  ///
  /// @returns        selected<...>: which one, and its value
  /// @throws         as select(). After operation_cancelled nothing is armed any more
  /// @cancellation   as select(): nothing was taken if it throws
  /// @resumes_on     the caller's home
  /// @cost           arms the branch that was taken last, and those to which somebody has come since
  detail::selector_awaiter<branches> next() noexcept {
    return detail::selector_awaiter<branches>(branches_, of_, next_);
  }

  /// Another one in the place of branch I, between two turns.
  template <std::size_t I, class A>
  void replace(A&& awaitable) {
    detail::check_kept<A>();
    branches_.template replace<I>(
        detail::branch_of_t<A>(detail::make_branch(std::forward<A>(awaitable))));
  }
  /// Whether none is left: all could be taken once only, and were.
  bool is_over() const noexcept { return branches_.is_over(); }

 private:
  branches branches_;
  detail::selection of_;
  std::uint32_t next_ = 0;
};

template <class... As>
explicit selector(As&&...) -> selector<detail::kept_branch_t<As>...>;
template <class... As>
explicit selector(biased_t, As&&...) -> selector<detail::kept_branch_t<As>...>;

}  // namespace tandem::inline v0
