// result.hpp: the outcome of an operation: a value, an error code or an exception.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <exception>
#include <new>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>
#include <variant>

#include <tandem/errors.hpp>

namespace tandem::inline v0 {

/// A value, or why there is none. I/O stores its std::error_code as it is: nothing is thrown or
/// allocated. Other failures hold the exception.
///
///     tandem::result<std::size_t> got = co_await tandem::as_result(stream.read(buffer));
///     if (!got) return got.error();
///
/// @thread_safety  as a value
template <class T = void>
class [[nodiscard]] result {
 public:
  using value_type = T;
  using stored_type = std::conditional_t<
      std::is_void_v<T>, std::monostate,
      std::conditional_t<std::is_reference_v<T>, std::remove_reference_t<T>*, T>>;

  result()
    requires std::is_void_v<T>
      : state_(std::in_place_index<0>) {}
  template <class U>
    requires(!std::is_void_v<T> && std::constructible_from<T, U &&> &&
             !std::same_as<std::remove_cvref_t<U>, result> &&
             !std::same_as<std::remove_cvref_t<U>, std::error_code> &&
             !std::same_as<std::remove_cvref_t<U>, std::exception_ptr>)
  result(U&& value) : state_(std::in_place_index<0>, store(std::forward<U>(value))) {}  // NOLINT
  /// For a T that might be taken for an error.
  template <class U>
    requires(!std::is_void_v<T> && std::constructible_from<T, U &&>)
  result(std::in_place_t, U&& value)
      : state_(std::in_place_index<0>, store(std::forward<U>(value))) {}
  result(std::error_code error) noexcept : state_(std::in_place_index<1>, error) {}  // NOLINT
  result(std::exception_ptr error) noexcept                                          // NOLINT
      : state_(std::in_place_index<2>, std::move(error)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// @throws  what went wrong: the stored exception, or the code as std::system_error (a cancelled
  ///          operation as operation_cancelled)
  std::add_lvalue_reference_t<T> value() & {
    check();
    return load();
  }
  /// As above; of a value that cannot be changed.
  std::conditional_t<std::is_void_v<T>, void, std::add_lvalue_reference_t<const T>> value() const& {
    check();
    if constexpr (std::is_void_v<T>) {
      return;
    } else if constexpr (std::is_reference_v<T>) {
      return *std::get<0>(state_);
    } else {
      return std::get<0>(state_);
    }
  }
  /// As above, moved out.
  T value() && {
    check();
    if constexpr (std::is_void_v<T>) {
      return;
    } else if constexpr (std::is_reference_v<T>) {
      return static_cast<T>(*std::get<0>(state_));
    } else {
      return std::move(std::get<0>(state_));
    }
  }

  /// The error as a code: empty if there is a value; the code of a std::system_error; else
  /// errc::state_not_recoverable, with the exception in exception().
  std::error_code error() const noexcept {
    if (has_value()) return {};
    if (state_.index() == 1) return std::get<1>(state_);
    return detail::code_of(std::get<2>(state_));
  }

  /// The error as an exception; null if there is a value.
  std::exception_ptr exception() const {
    if (has_value()) return nullptr;
    if (state_.index() == 2) return std::get<2>(state_);
    const std::error_code code = std::get<1>(state_);
    if (const std::optional<stop_reason> why = detail::stop_reason_of(code)) {
      return detail::cancellation(reason_of(*why));
    }
    try {
      return std::make_exception_ptr(std::system_error(code));
    } catch (...) {  // no memory for its text
      return std::current_exception();
    }
  }

  bool is_cancelled() const noexcept {
    if (state_.index() == 2 && detail::is_cancellation(std::get<2>(state_))) return true;
    return error() == std::make_error_condition(std::errc::operation_canceled);
  }
  /// Which stop ended it.
  ///
  ///     if (got.reason() == tandem::stop_reason::deadline) co_return "too slow";
  ///
  /// @returns  null unless is_cancelled(): there is a value, or another failure; stop_reason::none
  ///           for a cancellation that does not say (an error_code of another library's)
  std::optional<stop_reason> reason() const noexcept {
    if (has_value()) return std::nullopt;
    if (state_.index() == 1) return detail::stop_reason_of(std::get<1>(state_));
    return detail::stop_reason_of(std::get<2>(state_));
  }

  // Implementation
 private:
  template <class U>
  static stored_type store(U&& value) {
    if constexpr (std::is_reference_v<T>) {
      return std::addressof(value);
    } else {
      return stored_type(std::forward<U>(value));
    }
  }

  std::add_lvalue_reference_t<T> load() {
    if constexpr (std::is_void_v<T>) {
      return;
    } else if constexpr (std::is_reference_v<T>) {
      return *std::get<0>(state_);
    } else {
      return std::get<0>(state_);
    }
  }

  void check() const {
    if (state_.index() == 1) detail_throw(std::get<1>(state_));
    if (state_.index() == 2) std::rethrow_exception(std::get<2>(state_));
  }

  [[noreturn]] static void detail_throw(std::error_code error) {
    if (const std::optional<stop_reason> why = detail::stop_reason_of(error)) {
      throw operation_cancelled(reason_of(*why));
    }
    throw std::system_error(error);
  }
  static stop_reason reason_of(stop_reason said) noexcept {
    return said != stop_reason::none ? said : current_stop_reason();
  }

  std::variant<stored_type, std::error_code, std::exception_ptr> state_;
};

}  // namespace tandem::inline v0
