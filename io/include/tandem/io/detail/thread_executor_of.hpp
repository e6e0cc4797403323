// thread_executor_of.hpp: the executor that a stream or a listener lives at, if it says so.
// SPDX-License-Identifier: MIT
#pragma once

#include <concepts>
#include <tandem/executor.hpp>

namespace tandem::inline v0::io::detail {

template <class T>
concept has_thread_executor = requires(T& of) {
  { of.thread_executor() } -> std::convertible_to<tandem::executor&>;
};
template <class T>
concept says_whether_open = requires(const T& of) {
  { of.is_open() } -> std::convertible_to<bool>;
};

/// Whether it has one depends on what it holds (any_stream).
template <class T>
concept says_whether_it_has_one = requires(T& of) {
  { of.has_thread_executor() } -> std::convertible_to<bool>;
};

/// @returns  null if it has none, or is not open
template <class T>
tandem::executor* thread_executor_of(T& of) {
  if constexpr (has_thread_executor<T>) {
    if constexpr (says_whether_open<T>) {
      if (!of.is_open()) return nullptr;
    }
    if constexpr (says_whether_it_has_one<T>) {
      if (!of.has_thread_executor()) return nullptr;
    }
    return &static_cast<tandem::executor&>(of.thread_executor());
  } else {
    return nullptr;
  }
}

}  // namespace tandem::inline v0::io::detail
