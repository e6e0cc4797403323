// seen_value.hpp: a value that one thread writes, as a plain one, and others may look at.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

/// Relaxed loads and stores: the instructions of a plain variable. Whoever looks gets a value of
/// about now; no other memory goes with it.
template <class T>
class seen_value {
 public:
  constexpr seen_value(T value) noexcept : value_(value) {}  // NOLINT: stands for a T
  seen_value(const seen_value& other) noexcept : value_(other.get()) {}
  seen_value& operator=(const seen_value& other) noexcept { return *this = other.get(); }
  seen_value& operator=(T value) noexcept {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }
  ~seen_value() = default;

  T get() const noexcept { return value_.load(std::memory_order_relaxed); }
  operator T() const noexcept { return get(); }  // NOLINT: stands for a T
  T operator->() const noexcept { return get(); }

 private:
  std::atomic<T> value_;
};

}  // namespace tandem::inline v0::detail
