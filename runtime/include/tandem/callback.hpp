// callback.hpp: what from_callback() and callback_stream() hand to another library: a callable, or a C function.
// SPDX-License-Identifier: MIT
//
// It holds no address but the number of a slot and its generation: a call that comes late, or
// twice, hits nothing. Protocol callbacks: runtime/src/foreign/README.md.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include <tandem/detail/callback_slots.hpp>

namespace tandem::inline v0 {

/// How often in this process a callback was called though its await, or its stream, had ended: a
/// second time, or after a stop that had let go. Such calls do nothing.
TANDEM_API std::uint64_t late_callbacks() noexcept;

namespace detail {

template <class R>
R late_answer() {
  if constexpr (!std::is_void_v<R>) {
    static_assert(std::is_default_constructible_v<R>,
                  "a callback that comes too late returns R(): the result of the callback's "
                  "signature needs a default constructor");
    return R();
  }
}

}  // namespace detail

/// The callback that is handed out: a callable of that signature, or a C function and its void*.
/// Copies are the same callback; it counts as dropped when the last one is destroyed.
///
///     [&](auto done) { client.fetch("index.html", std::move(done)); }
///     [&](auto done) { load("notes", done.c_function(), done.c_data()); }
///
/// @thread_safety  as a value; calls from any thread, also at once: of an await one is the first
template <class Signature>
class callback;
template <class R, class... Args>
class callback<R(Args...)> {
 public:
  using function = R (*)(Args..., void*);
  using function_first = R (*)(void*, Args...);
  using drop_function = void (*)(void*);

  callback(const callback& other) noexcept : ticket_(other.ticket_) {
    detail::hold_callback(ticket_);
  }
  callback(callback&& other) noexcept : ticket_(std::exchange(other.ticket_, {})) {}
  callback& operator=(callback other) noexcept {
    std::swap(ticket_, other.ticket_);
    return *this;
  }
  ~callback() { detail::drop_callback(ticket_); }

  /// @returns  what the conversion says; R() if it comes too late
  R operator()(Args... args) const { return call(ticket_, static_cast<Args&&>(args)...); }

  /// For a library in C, whose callback has a void* as its last argument.
  static function c_function() noexcept {
    return [](Args... args, void* data) -> R {
      return call(detail::from_callback_data(data), static_cast<Args&&>(args)...);
    };
  }
  /// The same with the void* in front.
  ///
  /// These are the same functions for all callbacks of a signature. So a library that has its void*
  /// elsewhere, or types of its own, gets a lambda without captures, which calls one of them:
  ///
  ///     using measured = tandem::callback<void(double)>;
  ///     [&](auto done) {
  ///       measure([](int tenths, void* data, const char*) {
  ///                 measured::c_function_first()(data, tenths / 10.0);
  ///               }, done.c_data());
  ///     }
  static function_first c_function_first() noexcept {
    return [](void* data, Args... args) -> R {
      return call(detail::from_callback_data(data), static_cast<Args&&>(args)...);
    };
  }
  /// The void* for these: no address. From here on the library counts as one holder, until it calls
  /// c_drop().
  void* c_data() const noexcept {
    detail::hold_callback_for_c(ticket_);
    return detail::to_callback_data(ticket_);
  }
  /// The destroy-notify for c_data(): of a library that has one and does not call it the await
  /// waits for ever.
  static drop_function c_drop() noexcept {
    return [](void* data) { detail::drop_callback_of_c(detail::from_callback_data(data)); };
  }

  // Implementation
  explicit callback(detail::callback_ticket held) noexcept : ticket_(held) {}

 private:
  static R call(detail::callback_ticket ticket, Args... args) {
    const detail::callback_call now(ticket);
    if (now.target() == nullptr) return detail::late_answer<R>();
    return static_cast<detail::callback_receiver<R(Args...)>*>(now.target())
        ->fire(static_cast<Args&&>(args)...);
  }

  detail::callback_ticket ticket_;
};

/// The same, which cannot be copied and may be called once.
template <class Signature>
class unique_callback;
template <class R, class... Args>
class unique_callback<R(Args...)> {
 public:
  unique_callback(callback<R(Args...)> of) noexcept : held_(std::move(of)) {}  // NOLINT
  unique_callback(unique_callback&&) noexcept = default;
  unique_callback& operator=(unique_callback&&) noexcept = default;

  R operator()(Args... args) {
    const callback<R(Args...)> now = std::move(held_);
    return now(static_cast<Args&&>(args)...);
  }

 private:
  callback<R(Args...)> held_;
};

/// What a conversion returns for a callback that has to return something: that, and the value that
/// is awaited.
///
///     [](const char* data, std::size_t size) {
///       return tandem::returning(size, std::string(data, size));
///     }
template <class R, class T = void>
struct returning {
  returning(R to_library, T to_await)
      : returned(std::move(to_library)), value(std::move(to_await)) {}
  R returned;
  T value;
};
template <class R>
struct returning<R, void> {
  explicit returning(R to_library) : returned(std::move(to_library)) {}
  R returned;
};
template <class R>
returning(R) -> returning<R, void>;

/// The conversion where nobody gives one: no argument is nothing, one is its value, several are a
/// tuple.
struct as_values_t {};
inline constexpr as_values_t as_values{};

}  // namespace tandem::inline v0
