// select.hpp: waits for several things at once and takes exactly one of them.
// SPDX-License-Identifier: MIT
//
// No branch runs anything, and none takes before it has won: each stands in the list of what it waits
// for, and whoever would give it something claims the select first. So what loses has taken nothing,
// and there is nothing to cancel. Protocol selecting, runtime/src/select/README.md.
#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <type_traits>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/select_branches.hpp>
#include <tandem/detail/select_turn.hpp>
#include <tandem/selected.hpp>

namespace tandem::inline v0 {

/// The type of otherwise.
struct otherwise_t {
  explicit otherwise_t() = default;
};
/// Last argument of select(): taken where no branch is ready, so nothing is waited for.
inline constexpr otherwise_t otherwise{};

/// The type of biased.
struct biased_t {
  explicit biased_t() = default;
};
/// First argument of select() or selector: of several branches that are ready the one that stands
/// first is taken, always.
inline constexpr biased_t biased{};

namespace detail {

template <class A>
struct branch_of {
  using type = std::remove_cvref_t<awaiter_t<A>>;
};
template <class A>
  requires std::is_same_v<std::remove_cvref_t<A>, otherwise_t>
struct branch_of<A> {
  using type = otherwise_branch;
};
template <class A>
using branch_of_t = typename branch_of<A>::type;

template <class A>
inline constexpr bool is_biased = std::is_same_v<std::remove_cvref_t<A>, biased_t>;
/// Whether co_await takes it.
template <class A>
inline constexpr bool is_awaited = requires(branch_of_t<A>& a) { a.await_resume(); };
template <class A>
inline constexpr bool is_branch = is_otherwise<branch_of_t<A>> || select_branch<branch_of_t<A>>;
/// An awaiter that has a name has to be moved in.
template <class A>
inline constexpr bool is_movable_branch =
    is_otherwise<branch_of_t<A>> || std::is_constructible_v<branch_of_t<A>, awaiter_t<A>>;

/// Of what cannot be a branch one sentence says why.
template <class A>
constexpr void check_branch() {
  if constexpr (is_biased<A>) {
    static_assert(!is_biased<A>, "biased is the first argument of a select");
  } else if constexpr (!is_awaited<A>) {
    static_assert(is_awaited<A>,
                  "a branch of select() is what co_await takes as well, such as c.receive(), "
                  "m.lock() or sleep_for(1s): this cannot be awaited");
  } else if constexpr (!is_branch<A>) {
    static_assert(is_branch<A>,
                  "this can be awaited, but not be a branch of select(): what it begins or takes "
                  "would be lost when another branch wins. Instead of a task, or a wait at a "
                  "barrier, spawn it and select on its join_handle; instead of the wait of a "
                  "condition_variable, select on an event, or on a receive(); instead of "
                  "read(buffer), select on receive(), or on readable(descriptor) and read then; "
                  "instead of a latch's arrive_and_wait(), arrive first and select on wait(). To "
                  "run several and stop those that lose: race() or when_any()");
  } else {
    static_assert(is_movable_branch<A>,
                  "an awaiter with a name is moved into a select: write std::move(x), or make it "
                  "in the call");
  }
}
template <class A>
inline constexpr bool is_good_branch =
    !is_biased<A> && is_awaited<A> && is_branch<A> && is_movable_branch<A>;

/// All but the last one.
template <class A, class... As>
constexpr bool has_otherwise_early() {
  if constexpr (sizeof...(As) > 0) {
    return is_otherwise<branch_of_t<A>> || has_otherwise_early<As...>();
  }
  return false;
}
template <class... As>
inline constexpr bool is_otherwise_alone =
    sizeof...(As) == 1 && (is_otherwise<branch_of_t<As>> || ...);
template <class... As>
constexpr void check_branches() {
  (check_branch<As>(), ...);
  static_assert(!has_otherwise_early<As...>(),
                "otherwise is the last argument of select(): it is taken when no branch before it "
                "is ready");
  static_assert(!is_otherwise_alone<As...>,
                "select(otherwise) has nothing to choose from: give it a branch before that");
}
/// Where this is false check_branches() has said why, and nothing else needs saying.
template <class... As>
inline constexpr bool are_good_branches =
    (is_good_branch<As> && ...) && !has_otherwise_early<As...>() && !is_otherwise_alone<As...>;

template <class A>
decltype(auto) make_branch(A&& awaitable) {
  if constexpr (is_otherwise<branch_of_t<A>>) {
    return otherwise_branch();
  } else {
    return get_awaiter(std::forward<A>(awaitable));
  }
}

/// A result that holds what must not be dropped must not be dropped either (race.hpp).
template <bool IsLossy>
struct select_base {};
template <>
struct select_base<true> {
  using lossy_when_dropped = std::true_type;
};
template <class B>
inline constexpr bool is_lossy_branch = false;
template <class B>
  requires requires { typename B::lossy_when_dropped; }
inline constexpr bool is_lossy_branch<B> = B::lossy_when_dropped::value;

}  // namespace detail

/// Awaiter of select().
template <bool IsBiased, class... Bs>
class [[nodiscard]] select_awaiter
    : public detail::select_base<(detail::is_lossy_branch<Bs> || ...)> {
  using branches = detail::branch_tuple<Bs...>;

 public:
  using tandem_awaiter = void;
  using value_type = typename branches::result;

  explicit select_awaiter(Bs&&... of) : branches_(std::move(of)...) {}
  /// For an awaiter that has not started.
  select_awaiter(select_awaiter&& other) : branches_(std::move(other.branches_)) {}
  select_awaiter& operator=(select_awaiter&&) = delete;
  ~select_awaiter() = default;

  bool await_ready() noexcept {
    const std::uint32_t first = IsBiased ? 0 : detail::first_branch(this, branches::size());
    return turn_.look(branches_, of_, first);
  }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    return turn_.wait(branches_, of_, self.promise());
  }
  std::exception_ptr await_failure() noexcept {
    turn_.settle(branches_, of_);
    if (turn_.was_stopped()) return detail::cancellation(of_.wait().cancel_reason());
    return branches_.failure(turn_.winner());
  }
  value_type await_resume() {
    turn_.settle(branches_, of_);
    if (turn_.was_stopped()) throw operation_cancelled(of_.wait().cancel_reason());
    return branches_.take(turn_.winner());
  }

 private:
  branches branches_;
  detail::selection of_;
  detail::select_turn<branches, false> turn_;
};

/// Waits until one of several things is there, and takes it: exactly that one. The others have taken
/// nothing, and may be asked again.
///
///     auto hit = co_await tandem::select(jobs.receive(), every.tick(), tandem::stopped());
///     if (hit.index() == 0) begin(*std::move(hit).get<0>());
///
/// Branches are what can be waited for without taking: sends and receives of all kinds of channels,
/// changes of a watch, locks and permits, events and counts, ticks and sleeps, join handles, values of
/// callback streams, stopped(); of I/O accept(), incoming(), receive(), readable() and writable().
/// Everything else does not compile. as_result(branch) is one if the branch is; branch_if() leaves one
/// out.
///
/// @param branches     at least one; otherwise may be the last one, biased in front of the first
/// @returns            selected<...>: which one, and its value
/// @throws             what the await of the branch that was taken would throw; operation_cancelled
///                     if a stop comes while it waits, or came before, unless stopped() is a branch
/// @cancellation       nothing was taken if it throws operation_cancelled. May lose the race and
///                     return. Branches that are ready may be taken in a stopped task, up to 128 in a
///                     row
/// @resumes_on         the caller's home
/// @cost               ready: a look at the branches up to the one that is taken. Else what each
///                     branch needs to enter its list and to leave it; no allocation. In a loop a
///                     selector need not do that at each turn. With branches of I/O it returns when
///                     the system has given back the waits of those that were not taken
/// @thread_safety      that of each branch
///
/// Of several branches that are ready none waits longer than 2 n turns of a loop, if there are n.
/// Two branches of one select that could serve each other (a send and a receive of one channel) do
/// not.
template <class... As>
  requires(sizeof...(As) > 0)
auto select(As&&... branches) {
  detail::check_branches<As...>();
  if constexpr (detail::are_good_branches<As...>) {
    return select_awaiter<false, detail::branch_of_t<As>...>(
        detail::branch_of_t<As>(detail::make_branch(std::forward<As>(branches)))...);
  }
}
template <class... As>
  requires(sizeof...(As) > 0)
auto select(biased_t /*by place*/, As&&... branches) {
  detail::check_branches<As...>();
  if constexpr (detail::are_good_branches<As...>) {
    return select_awaiter<true, detail::branch_of_t<As>...>(
        detail::branch_of_t<As>(detail::make_branch(std::forward<As>(branches)))...);
  }
}

}  // namespace tandem::inline v0
