// unbounded_base.hpp: the part of an unbounded channel that does not depend on its values.
// SPDX-License-Identifier: MIT
//
// Word (detail/lock_word.hpp), the value's bits: closed; high: it has risen above its watermark,
// and has not yet fallen to the half of it. Everything else changes under the word's lock. Protocol
// waiting, runtime/src/sync/README.md ("Unbounded channels").
#pragma once

#include <atomic>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/detail/wait_list.hpp>
#include <tandem/environment.hpp>

namespace tandem::inline v0 {

class unbounded_low_awaiter;

namespace detail {

class TANDEM_API unbounded_base {
 public:
  static constexpr lock_word::word closed = lock_word::one;
  static constexpr lock_word::word high = lock_word::one * 2;

  unbounded_base(const unbounded_base&) = delete;
  unbounded_base& operator=(const unbounded_base&) = delete;

  void close() noexcept;
  bool is_closed() const noexcept { return (word_.load() & closed) != 0; }
  bool is_high() const noexcept { return (word_.load() & high) != 0; }
  std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }
  std::uint64_t last_sender() const noexcept { return last_task_.load(std::memory_order_relaxed); }

 protected:
  friend unbounded_low_awaiter;
  friend class unbounded_waiter;

  unbounded_base(std::size_t watermark, std::function<void(std::size_t)>&& on_high) noexcept
      : word_(0), watermark_(watermark), on_high_(std::move(on_high)) {}
  ~unbounded_base() = default;

  // Under the lock, with the word's state, which they may change.

  void note_sender() noexcept {
    const std::uint64_t task = environment::task_id(this_thread().env);
    // Relaxed: for looks, which want to know about now.
    if (last_sender() != task) last_task_.store(task, std::memory_order_relaxed);
  }
  /// @returns  whether on_high has to be called after the unlock
  bool grow(lock_word::word& state) noexcept {
    const std::size_t now = size() + 1;
    size_.store(now, std::memory_order_relaxed);
    if (now > largest_) largest_ = now;
    if (now <= watermark_ || (state & high) != 0) [[likely]]
      return false;
    state |= high;
    return on_high_ != nullptr;
  }
  /// @returns  who waits for this, for taken_list::wake()
  waiter* shrink(lock_word::word& state) noexcept {
    const std::size_t now = size() - 1;
    size_.store(now, std::memory_order_relaxed);
    if ((state & high) == 0 || now > watermark_ / 2) [[likely]]
      return nullptr;
    return fall(state);
  }

  lock_word word_;
  std::atomic<std::size_t> size_{0};
  std::atomic<std::uint64_t> last_task_{0};  // id of a task; 0: outside any task
  // Under the lock.
  std::size_t largest_ = 0;
  std::uint64_t received_ = 0;
  wait_list receivers_;
  wait_list lows_;
  const std::size_t watermark_;
  const std::function<void(std::size_t)> on_high_;

 private:
  waiter* fall(lock_word::word& state) noexcept;
};

class TANDEM_API unbounded_waiter : public waiter {
 public:
  explicit unbounded_waiter(unbounded_base& target) noexcept;
  const unbounded_base* const of;
};

/// A receive that waits. Its value is built under the lock by whoever takes it out of the list.
template <class T>
class unbounded_receiver final : public unbounded_waiter {
 public:
  unbounded_receiver(unbounded_base& target, std::optional<T>& into) noexcept
      : unbounded_waiter(target), value(&into) {}
  std::optional<T>* value;
};

}  // namespace detail
}  // namespace tandem::inline v0
