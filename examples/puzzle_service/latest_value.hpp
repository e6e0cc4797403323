// latest_value.hpp: hands the newest of many values to one task; older ones are dropped.
// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <optional>
#include <utility>

#include <tandem/event.hpp>
#include <tandem/task.hpp>

namespace service {

/// A slot for one value. Whoever puts one never waits for whoever takes it.
///
/// @thread_safety  put() and close() from any thread, which the slot has to outlive; one task takes
template <class T>
class latest_value {
 public:
  latest_value() = default;

  void put(T value) {
    {
      const std::lock_guard guard(lock_);
      value_ = std::move(value);
    }
    changed_.set();
  }
  /// There will be no further value.
  void close() {
    {
      const std::lock_guard guard(lock_);
      is_closed_ = true;
    }
    changed_.set();
  }

  /// Waits for a value that nobody has taken yet.
  ///
  /// @returns             none after close(), even if there was one left
  /// @throws              operation_cancelled
  tandem::task<std::optional<T>> take() {
    while (true) {
      co_await changed_.wait();
      changed_.reset();  // before the look: what is put after it sets it again
      const std::lock_guard guard(lock_);
      if (is_closed_) co_return std::nullopt;
      if (value_) co_return std::exchange(value_, std::nullopt);
    }
  }

 private:
  std::mutex lock_;  // of the two below; never held across an await
  std::optional<T> value_;
  bool is_closed_ = false;
  tandem::event changed_;
};

}  // namespace service
