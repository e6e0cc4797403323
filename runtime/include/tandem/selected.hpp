// selected.hpp: which branch of a select was taken, and what it has brought.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

namespace detail {

/// What a branch has brought, where it stands in a selected<>.
template <class T>
struct selected_value {
  using type = T;
};
template <>
struct selected_value<void> {
  using type = std::monostate;
};
template <class T>
  requires std::is_reference_v<T>
struct selected_value<T> {
  using type = std::remove_reference_t<T>*;
};

/// What a function yields that is called with what a branch has brought.
template <class F, class T>
struct selected_answer : std::invoke_result<F, T> {};
template <class F>
struct selected_answer<F, void> : std::invoke_result<F> {};

}  // namespace detail

/// The branch of a select() that was taken.
///
///     auto hit = co_await tandem::select(jobs.receive(), every.tick(), tandem::stopped());
///     hit.visit([&](std::optional<job> next) { begin(std::move(next)); },
///               [&](auto /*when*/) { report(); },
///               [&](tandem::stop_reason) { is_over = true; });
///
/// @tparam Ts  what the await of each branch yields, in the order of the call
template <class... Ts>
class [[nodiscard]] selected {
 public:
  /// The place of the branch in the call, from 0.
  std::size_t index() const noexcept { return value_.index(); }

  /// What branch I has brought. Asserts that it is the one; not for branches that yield nothing.
  template <std::size_t I>
  auto& get() & noexcept {
    TANDEM_ASSERT(index() == I, "get<I>() of a select in which another branch was taken");
    return access<I>();
  }
  template <std::size_t I>
  auto&& get() && noexcept {
    return std::move(get<I>());
  }

  /// Calls the function that stands in the place of the branch that was taken: with what it has
  /// brought, as an rvalue; with nothing if its await yields nothing.
  ///
  /// @param functions  one for each branch, otherwise included
  /// @returns          what it returns; if they differ, their common type
  template <class... Fs>
  decltype(auto) visit(Fs&&... functions) {
    constexpr bool fits = sizeof...(Fs) == sizeof...(Ts);
    static_assert(fits,
                  "visit() of a select takes one function for each branch, in their order; one for "
                  "otherwise, too");
    if constexpr (fits) {
      using checked = check_answers<std::index_sequence_for<Ts...>, Fs...>;
      if constexpr (checked::value) return call<0>(std::forward<Fs>(functions)...);
    }
  }

  // Implementation
  template <std::size_t I, class... Args>
  explicit selected(std::in_place_index_t<I> which, Args&&... args)
      : value_(which, stored<I>(std::forward<Args>(args))...) {}

 private:
  template <std::size_t I>
  using yielded = std::tuple_element_t<I, std::tuple<Ts...>>;

  template <std::size_t I, class T>
  static decltype(auto) stored(T&& value) {
    if constexpr (std::is_reference_v<yielded<I>>) {
      return std::addressof(value);
    } else {
      return std::forward<T>(value);
    }
  }
  template <std::size_t I>
  auto& access() noexcept {
    if constexpr (std::is_reference_v<yielded<I>>) {
      return **std::get_if<I>(&value_);
    } else {
      return *std::get_if<I>(&value_);
    }
  }
  template <std::size_t I, class F>
  decltype(auto) call_one(F&& f) {
    if constexpr (std::is_void_v<yielded<I>>) {
      return std::forward<F>(f)();
    } else if constexpr (std::is_lvalue_reference_v<yielded<I>>) {
      return std::forward<F>(f)(access<I>());
    } else {
      return std::forward<F>(f)(std::move(access<I>()));
    }
  }
  template <std::size_t I, class F>
  using answer = typename detail::selected_answer<F, yielded<I>>::type;

  template <std::size_t I, class F, class... Fs>
  decltype(auto) call(F&& f, Fs&&... others) {
    using common = typename common_answer<std::index_sequence_for<F, Fs...>, I, F, Fs...>::type;
    if constexpr (sizeof...(Fs) > 0) {
      if (index() != I) return static_cast<common>(call<I + 1>(std::forward<Fs>(others)...));
    }
    return static_cast<common>(call_one<I>(std::forward<F>(f)));
  }
  template <std::size_t I, class F>
  static constexpr bool is_called = requires { typename answer<I, F>; };
  template <class... Rs>
  static constexpr bool have_common =
      (std::is_void_v<Rs> || ...) || requires { typename std::common_type_t<Rs...>; };
  /// Of functions that do not fit one sentence says so.
  template <class Sequence, class... Fs>
  struct check_answers;
  template <std::size_t... N, class... Fs>
  struct check_answers<std::index_sequence<N...>, Fs...> {
    static constexpr bool are_called = (is_called<N, Fs> && ...);
    static_assert(are_called,
                  "visit() of a select calls the function in the place of a branch with what that "
                  "branch has brought, as an rvalue; with nothing if its await yields nothing");
    static constexpr bool value = [] {
      if constexpr (are_called) {
        constexpr bool fit = have_common<answer<N, Fs>...>;
        static_assert(fit, "the functions of visit() return what has a common type, or nothing");
        return fit;
      }
      return false;
    }();
  };
  template <class Sequence, std::size_t First, class... Fs>
  struct common_answer;
  template <std::size_t... N, std::size_t First, class... Fs>
  struct common_answer<std::index_sequence<N...>, First, Fs...>
      : std::conditional_t<(std::is_void_v<answer<First + N, Fs>> || ...), std::type_identity<void>,
                           std::common_type<answer<First + N, Fs>...>> {};

  std::variant<typename detail::selected_value<Ts>::type...> value_;
};

}  // namespace tandem::inline v0
