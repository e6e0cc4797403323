// outcome.hpp: where a frame leaves its result: a room in whatever waits for it.
// SPDX-License-Identifier: MIT
//
// A frame ends itself (promise_base.hpp), so its value or exception is built in its starter's room.
// A fork leaves `error` unbuilt until a child fails, and reads no state of children that did not.
#pragma once

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

/// The part that does not depend on the type. Null: no failure.
struct outcome_base {
  std::exception_ptr error;

  /// Null: no failure. As below, handed over.
  std::exception_ptr take_failure() noexcept { return std::exchange(error, nullptr); }
  /// Hands the exception over: from now on the taker's thread alone holds it.
  void rethrow_if_failed() {
    if (error != nullptr) [[unlikely]]
      std::rethrow_exception(take_failure());
  }
};

/// Room for a T that may not be there yet.
template <class T>
class outcome : public outcome_base {
 public:
  static_assert(alignof(T) <= 16,
                "a result aligned over 16 bytes has to live on the heap (g++ 12)");

  outcome() noexcept {}
  outcome(const outcome&) = delete;
  outcome& operator=(const outcome&) = delete;
  ~outcome() { destroy_value(); }

  template <class U>
  void set_value(U&& value) {
    // There is one already if a local's destructor threw after a co_return, and another followed.
    destroy_value();
    std::construct_at(std::addressof(value_), std::forward<U>(value));
    if constexpr (!std::is_trivially_destructible_v<T>) has_value_.flag = true;
  }
  /// @throws  the frame's exception
  T&& get() {
    rethrow_if_failed();
    return std::move(value_);
  }
  T&& value() noexcept { return std::move(value_); }
  T& value_ref() noexcept { return value_; }
  void destroy_value() noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>) {
      if (has_value_.flag) std::destroy_at(std::addressof(value_));
      has_value_.flag = false;
    }
  }
  /// For a room whose constructor does not run (fork_room).
  void mark_empty() noexcept {
    if constexpr (!std::is_trivially_destructible_v<T>) has_value_.flag = false;
  }

 private:
  struct presence {
    bool flag = false;
  };
  struct nothing {};

  union {
    T value_;
  };
  [[no_unique_address]] std::conditional_t<std::is_trivially_destructible_v<T>, nothing, presence>
      has_value_;
};

template <class T>
class outcome<T&> : public outcome_base {
 public:
  outcome() noexcept {}

  void set_value(T& value) noexcept { value_ = std::addressof(value); }
  T& get() {
    rethrow_if_failed();
    return *value_;
  }
  T& value() noexcept { return *value_; }
  T& value_ref() noexcept { return *value_; }
  void destroy_value() noexcept {}
  void mark_empty() noexcept {}

 private:
  T* value_;
};

template <>
class outcome<void> : public outcome_base {
 public:
  outcome() noexcept {}

  void get() { rethrow_if_failed(); }
  void value() noexcept {}
  void destroy_value() noexcept {}
  void mark_empty() noexcept {}
};

}  // namespace tandem::inline v0::detail
