// as_result.hpp: takes an await's failure as a value instead of an exception.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <coroutine>
#include <utility>

#include <tandem/detail/await_transform.hpp>
#include <tandem/detail/pass_on.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0 {

namespace detail {

/// An awaiter that can give its outcome without throwing.
template <class Awaiter>
concept gives_result = requires(std::remove_reference_t<Awaiter>& a) { a.await_resume_result(); };

/// A result that holds what must not be dropped must not be dropped either (race.hpp).
template <class Awaiter>
struct as_result_base {};
template <class Awaiter>
  requires requires { typename std::remove_reference_t<Awaiter>::lossy_when_dropped; }
struct as_result_base<Awaiter> {
  using lossy_when_dropped = typename std::remove_reference_t<Awaiter>::lossy_when_dropped;
};

/// A branch that can be taken once only stays one (selector.hpp).
template <class Awaiter>
struct as_result_once {};
template <class Awaiter>
  requires requires { typename std::remove_reference_t<Awaiter>::select_once; }
struct as_result_once<Awaiter> {
  using select_once = void;
};
/// Likewise of one that a stop is for (stopped.hpp).
template <class Awaiter>
struct as_result_stop {};
template <class Awaiter>
  requires requires { typename std::remove_reference_t<Awaiter>::select_of_stop; }
struct as_result_stop<Awaiter> {
  using select_of_stop = void;
};
/// Likewise of one that does not stay armed (selector.hpp).
template <class Awaiter>
struct as_result_leaves {};
template <class Awaiter>
  requires requires { typename std::remove_reference_t<Awaiter>::select_leaves; }
struct as_result_leaves<Awaiter> {
  using select_leaves = void;
};
struct select_place;

}  // namespace detail

/// Awaiter of as_result().
template <class Awaiter>
class [[nodiscard]] as_result_awaiter : public detail::as_result_base<Awaiter>,
                                        public detail::as_result_once<Awaiter>,
                                        public detail::as_result_stop<Awaiter>,
                                        public detail::as_result_leaves<Awaiter> {
 public:
  using tandem_awaiter = void;
  using value_type = decltype(std::declval<std::remove_reference_t<Awaiter>&>().await_resume());

  explicit as_result_awaiter(Awaiter&& inner) : inner_(static_cast<Awaiter&&>(inner)) {}

  bool await_ready() { return inner_.await_ready(); }
  template <class Promise>
  decltype(auto) await_suspend(std::coroutine_handle<Promise> self) {
    return inner_.await_suspend(self);
  }
  result<value_type> await_resume() {
    if constexpr (detail::gives_result<Awaiter>) {
      return inner_.await_resume_result();
    } else {
      if constexpr (detail::gives_failure<Awaiter>) {
        if (std::exception_ptr failure = inner_.await_failure()) return failure;
      }
      try {
        if constexpr (std::is_void_v<value_type>) {
          inner_.await_resume();
          return {};
        } else {
          return result<value_type>(inner_.await_resume());
        }
      } catch (...) {
        return std::current_exception();
      }
    }
  }

  // As a branch of select(), if the awaiter may be one (protocol selecting).
  bool select_try() noexcept
    requires requires(Awaiter& a) { a.select_try(); }
  {
    return inner_.select_try();
  }
  bool select_due() noexcept
    requires requires(Awaiter& a) { a.select_due(); }
  {
    return inner_.select_due();
  }
  bool select_arm(detail::select_place& as) noexcept
    requires requires(Awaiter& a) { a.select_try(); }
  {
    return inner_.select_arm(as);
  }
  void select_disarm() noexcept
    requires requires(Awaiter& a) { a.select_try(); }
  {
    inner_.select_disarm();
  }
  void select_let_pass() noexcept
    requires requires(Awaiter& a) { a.select_let_pass(); }
  {
    inner_.select_let_pass();
  }
  void select_reset() noexcept
    requires requires(Awaiter& a) { a.select_try(); }
  {
    inner_.select_reset();
  }

 private:
  Awaiter inner_;
};

/// Awaits `awaitable` and yields a result<T>: a value, an error code or an exception.
///
///     auto got = co_await tandem::as_result(tandem::with_timeout(1s, fetch()));
///     if (got.is_cancelled()) co_return "too slow";
///
/// Of a leaf operation (I/O) it holds the std::error_code only: what a throw would say beside
/// (path, offset, address) is not made. Of a task it holds the exception, text and all.
///
/// @param awaitable  a task or any awaiter of tandem
/// @cancellation     a cancelled await is a result whose is_cancelled() is true
/// @cost             that of the await; nothing is thrown on the way, and I/O and other leaf
///                   operations allocate nothing
template <class Awaitable>
  requires detail::tandem_awaitable<Awaitable&&>
auto as_result(Awaitable&& awaitable) {
  using inner = detail::awaiter_t<Awaitable&&>;
  // A temporary awaiter is moved in: as_result's own awaiter may outlive the argument's expression.
  using held = std::remove_cvref_t<inner>;
  return as_result_awaiter<held>(held(detail::get_awaiter(static_cast<Awaitable&&>(awaitable))));
}

}  // namespace tandem::inline v0
