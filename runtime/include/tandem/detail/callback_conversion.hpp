// callback_conversion.hpp: what becomes of a callback's arguments: the await's value, and the library's answer.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <ranges>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <tandem/callback.hpp>
#include <tandem/result.hpp>

namespace tandem::inline v0::detail {

template <class T>
inline constexpr bool is_view_of_elements = false;
template <class C, class Traits>
inline constexpr bool is_view_of_elements<std::basic_string_view<C, Traits>> = true;
template <class T, std::size_t N>
inline constexpr bool is_view_of_elements<std::span<T, N>> = true;
template <class T>
inline constexpr bool is_view_of_elements<std::reference_wrapper<T>> = true;

/// What may be gone when the callback has returned.
template <class T>
inline constexpr bool is_borrowed = std::is_pointer_v<T> || is_view_of_elements<T> ||
                                    (std::ranges::view<T> && std::ranges::borrowed_range<T>);

template <class T>
inline constexpr bool is_returning = false;
template <class R, class T>
inline constexpr bool is_returning<returning<R, T>> = true;

/// What the conversion returns. One that cannot be called gets words, and no errors that follow from
/// it.
template <class Convert, class... Args>
struct given_by {
  static_assert(
      std::is_invocable_v<Convert&, Args...>,
      "this callback's conversion cannot be called with the arguments of the callback's "
      "signature: it gets all of them, in their order, without the void* of a C function");
  using type = void;
};
template <class Convert, class... Args>
  requires std::is_invocable_v<Convert&, Args...>
struct given_by<Convert, Args...> {
  using type = std::invoke_result_t<Convert&, Args...>;
};

/// What the conversion of those arguments gives the await.
template <class R, class Convert, class... Args>
struct converted {
  using given = typename given_by<Convert, Args...>::type;
  static_assert(std::is_void_v<R> || is_returning<std::remove_cvref_t<given>> ||
                    !std::is_invocable_v<Convert&, Args...>,
                "this callback has to return something: let the conversion return "
                "tandem::returning(what the library gets, the await's value)");
  using type = std::conditional_t<std::is_void_v<given>, void, std::decay_t<given>>;
};
template <class R, class Convert, class... Args>
  requires is_returning<std::remove_cvref_t<std::invoke_result_t<Convert&, Args...>>>
struct converted<R, Convert, Args...> {
  using given = std::remove_cvref_t<std::invoke_result_t<Convert&, Args...>>;
  template <class To, class T>
  static T value_in(const returning<To, T>*);
  template <class To, class T>
  static To returned_in(const returning<To, T>*);
  static_assert(!std::is_void_v<R>,
                "this callback returns nothing to the library: let the conversion return the "
                "await's value alone, without tandem::returning");
  static_assert(
      std::is_void_v<R> ||
          std::is_convertible_v<decltype(returned_in(static_cast<given*>(nullptr))), R>,
      "the first of tandem::returning is what the library gets: it does not convert to what the "
      "callback's signature returns");
  using type = decltype(value_in(static_cast<given*>(nullptr)));
};
template <class R, class... Args>
struct converted<R, as_values_t, Args...> {
  static_assert(std::is_void_v<R>,
                "this callback has to return something: give it a conversion, which returns "
                "tandem::returning(what the library gets, the await's value)");
  static_assert(
      (!is_borrowed<std::decay_t<Args>> && ...),
      "an argument of this callback is a pointer or a view, whose target may be gone when "
      "the callback has returned: give a conversion, which makes a value of it inside the "
      "callback");
  using type = typename decltype([] {
    if constexpr (sizeof...(Args) == 0) {
      return std::type_identity<void>();
    } else if constexpr (sizeof...(Args) == 1) {
      return std::type_identity<std::decay_t<Args>...>();
    } else {
      return std::type_identity<std::tuple<std::decay_t<Args>...>>();
    }
  }())::type;
};

template <class T>
struct result_traits {
  using value_type = T;
  static constexpr bool is_result = false;
};
template <class T>
struct result_traits<result<T>> {
  using value_type = T;
  static constexpr bool is_result = true;
};

/// callbacks/fire. Hands the value of one call to `keep`, or nothing where it is void.
/// @returns  what the library gets
template <class R, class Value, class Convert, class Keep, class... Args>
R convert_call(Convert& convert, const Keep& keep, Args&&... args) {
  if constexpr (std::is_same_v<Convert, as_values_t>) {
    if constexpr (std::is_void_v<Value>) {
      keep();
    } else {
      keep(Value(std::forward<Args>(args)...));
    }
  } else if constexpr (!std::is_void_v<R>) {
    auto both = std::invoke(convert, std::forward<Args>(args)...);
    R answer = std::move(both.returned);
    if constexpr (std::is_void_v<Value>) {
      keep();
    } else {
      keep(std::move(both.value));
    }
    return answer;
  } else if constexpr (std::is_void_v<Value>) {
    std::invoke(convert, std::forward<Args>(args)...);
    keep();
  } else {
    keep(std::invoke(convert, std::forward<Args>(args)...));
  }
}

}  // namespace tandem::inline v0::detail
