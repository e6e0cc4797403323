// foreign_sensor.hpp: a library that calls whoever listens, from any thread.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <tandem/callback.hpp>

namespace tandem::test {

template <class T>
class foreign_sensor {
 public:
  using on_value = callback<void(T)>;

  void listen(on_value listener) {
    const std::lock_guard guard(lock_);
    listener_.emplace(std::move(listener));
  }
  /// The callback is not called any more, and gone.
  void ignore() {
    std::optional<on_value> gone;
    const std::lock_guard guard(lock_);
    gone.swap(listener_);
  }
  bool has_listener() {
    const std::lock_guard guard(lock_);
    return listener_.has_value();
  }
  void wait_for_listener() {
    while (!has_listener()) std::this_thread::yield();
  }
  /// Nothing if nobody listens. Not under the lock: the listener may call back.
  void call(T value) {
    std::optional<on_value> now;
    {
      const std::lock_guard guard(lock_);
      now = listener_;
    }
    if (now) (*now)(std::move(value));
  }
  /// For callback_stream(): listens, and ignores in the end.
  auto subscribing() {
    return [this](on_value listener) {
      listen(std::move(listener));
      return [this] { ignore(); };
    };
  }

 private:
  std::mutex lock_;
  std::optional<on_value> listener_;
};

}  // namespace tandem::test
