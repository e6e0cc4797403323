// branch_if.hpp: a branch of a select that is left out unless a condition holds.
// SPDX-License-Identifier: MIT
#pragma once

#include <coroutine>
#include <type_traits>
#include <utility>

#include <tandem/select.hpp>

namespace tandem::inline v0 {

namespace detail {

template <class Branch>
struct branch_if_base {};
template <class Branch>
  requires is_of_stop<Branch>
struct branch_if_base<Branch> {
  using select_of_stop = void;
};
template <class Branch, class Base>
struct branch_if_once : Base {};
template <class Branch, class Base>
  requires is_once<Branch>
struct branch_if_once<Branch, Base> : Base {
  using select_once = void;
};

template <class Branch, class Base>
struct branch_if_leaves : Base {};
template <class Branch, class Base>
  requires requires { typename Branch::select_leaves; }
struct branch_if_leaves<Branch, Base> : Base {
  using select_leaves = void;
};

}  // namespace detail

/// A branch that is there if a condition held when it was made.
template <detail::select_branch Branch>
class [[nodiscard]] conditional_branch
    : public detail::branch_if_leaves<
          Branch, detail::branch_if_once<Branch, detail::branch_if_base<Branch>>> {
 public:
  using tandem_awaiter = void;
  using lossy_when_dropped = std::false_type;  // select() asks; it cannot be awaited by itself

  conditional_branch(bool is_there, Branch&& branch)
      : branch_(std::move(branch)), is_there_(is_there) {}
  conditional_branch(conditional_branch&&) = default;

  bool select_try() noexcept { return is_there_ && branch_.select_try(); }
  bool select_due() noexcept
    requires requires(Branch& b) { b.select_due(); }
  {
    return is_there_ && branch_.select_due();
  }
  bool select_arm(detail::select_place& as) noexcept { return is_there_ && branch_.select_arm(as); }
  void select_disarm() noexcept {
    if (is_there_) branch_.select_disarm();
  }
  void select_let_pass() noexcept
    requires requires(Branch& b) { b.select_let_pass(); }
  {
    if (is_there_) branch_.select_let_pass();
  }
  void select_reset() noexcept {
    if (is_there_) branch_.select_reset();
  }
  auto await_failure() noexcept { return detail::failure_of(branch_); }
  decltype(auto) await_resume() { return branch_.await_resume(); }

 private:
  Branch branch_;
  const bool is_there_;
};

/// A branch of a select() that is left out unless `condition` holds, and keeps its place.
///
///     auto hit = co_await tandem::select(in.receive(), tandem::branch_if(!out.empty(),
///                                        to.send(out.front())));
///
/// @param branch  is made in any case
template <class Awaitable>
auto branch_if(bool condition, Awaitable&& branch) {
  using held = detail::branch_of_t<Awaitable>;
  detail::check_branch<Awaitable>();
  static_assert(!detail::is_otherwise<held>,
                "otherwise stands by itself: it is taken when none of the others is");
  if constexpr (detail::is_good_branch<Awaitable> && !detail::is_otherwise<held>) {
    return conditional_branch<held>(condition,
                                    held(detail::get_awaiter(std::forward<Awaitable>(branch))));
  }
}

}  // namespace tandem::inline v0
