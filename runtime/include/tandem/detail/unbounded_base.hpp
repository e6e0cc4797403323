// unbounded_base.hpp: the part of an unbounded channel that does not depend on its values.
// SPDX-License-Identifier: MIT
//
// Two locks: the word (its value's lowest bit says "closed") guards the values that were sent last,
// and all waiters; the drain's word guards those that are received next. Whoever needs both takes
// the drain's first. Protocol waiting, runtime/src/sync/README.md ("Unbounded channels").
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

  unbounded_base(const unbounded_base&) = delete;
  unbounded_base& operator=(const unbounded_base&) = delete;

  void close() noexcept;
  bool is_closed() const noexcept { return (word_.load() & closed) != 0; }
  /// Acquire: what happened before it fell has happened.
  bool is_high() const noexcept { return is_high_.load(std::memory_order_acquire); }
  std::size_t size() const noexcept {
    // In this order: what was taken was sent before.
    const std::uint64_t taken = drained_.load(std::memory_order_acquire);
    return static_cast<std::size_t>(queued_.load(std::memory_order_acquire) - taken);
  }
  std::uint64_t last_sender() const noexcept { return last_task_.load(std::memory_order_relaxed); }

 protected:
  friend unbounded_low_awaiter;
  friend class unbounded_waiter;

  unbounded_base(std::size_t watermark, std::function<void(std::size_t)>&& on_high) noexcept
      : watermark_(watermark), on_high_(std::move(on_high)), word_(0), drain_word_(0) {}
  ~unbounded_base() = default;

  void note_sender() noexcept {
    const std::uint64_t task = environment::task_id(this_thread().env);
    // Relaxed: for looks, which want to know about now.
    if (last_sender() != task) last_task_.store(task, std::memory_order_relaxed);
  }
  /// Under the word's lock, after a push. @returns whether on_high has to be called after the
  /// unlock
  bool grow() noexcept {
    const std::uint64_t queued = queued_.load(std::memory_order_relaxed) + 1;  // under the lock
    // Release: pairs with drain_is_dry() and size().
    queued_.store(queued, std::memory_order_release);
    if (queued - known_drained_ <= watermark_) [[likely]]
      return false;
    return look_at_size();
  }
  /// Under the drain's lock, when nothing is left there: whether nothing was sent either.
  bool drain_is_dry() const noexcept {
    return queued_.load(std::memory_order_acquire) == drained_.load(std::memory_order_relaxed);
  }
  /// Under the drain's lock, after a pop.
  void note_drained() noexcept {
    const std::uint64_t drained = drained_.load(std::memory_order_relaxed) + 1;  // under the lock
    drained_.store(drained, std::memory_order_release);
  }
  /// Under the word's lock.
  void note_size() noexcept {
    const std::size_t now = size();
    if (now > largest_) largest_ = now;
  }
  /// Without a lock, after note_drained(): whether relieve() may have something to do. Whoever has
  /// taken the value with which the channel rose has seen, by the locks, that it did.
  bool may_fall() const noexcept { return is_high_.load(std::memory_order_relaxed); }
  void relieve() noexcept;

  // Hardly ever written.
  const std::size_t watermark_;
  const std::function<void(std::size_t)> on_high_;
  std::atomic<bool> is_high_{false};         // written under the word's lock
  std::atomic<std::uint64_t> last_task_{0};  // id of a task; 0: outside any task
  char apart_from_senders_[64] = {};

  lock_word word_;
  std::atomic<std::uint64_t> queued_{0};  // values, ever
  // The following under the word's lock.
  std::uint64_t known_drained_ = 0;  // at least so many
  std::uint64_t handed_over_ = 0;    // to receivers that waited: these were never queued
  std::size_t largest_ = 0;
  wait_list receivers_;
  wait_list lows_;
  char apart_from_receivers_[64] = {};

  lock_word drain_word_;
  std::atomic<std::uint64_t> drained_{0};  // of the queued ones; written under the drain's lock

 private:
  bool look_at_size() noexcept;
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
