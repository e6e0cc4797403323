// awake_watch.hpp: who has to hear when a worker is woken or started. Step crew/timers.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>

namespace tandem::inline v0::detail {

/// Something that rests while all workers sleep.
class awake_watch {
 public:
  awake_watch(const awake_watch&) = delete;
  awake_watch& operator=(const awake_watch&) = delete;

  /// A worker was woken or started, and is counted.
  void somebody_is_awake() noexcept {
    // seq_cst: pairs with set_on().
    if (!on_.load(std::memory_order_seq_cst)) [[unlikely]]
      turn_on();
  }

 protected:
  explicit awake_watch(bool on) noexcept : on_(on) {}
  ~awake_watch() = default;

  /// It rested, and must not any more. Several threads may come at once.
  virtual void turn_on() noexcept = 0;
  /// Whoever goes to rest looks after this whether a worker is busy.
  void set_on(bool on) noexcept { on_.store(on, std::memory_order_seq_cst); }
  bool is_on() const noexcept { return on_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> on_;
};

/// Where it is found, once there is one.
class awake_watch_slot {
 public:
  awake_watch_slot(const awake_watch_slot&) = delete;
  awake_watch_slot& operator=(const awake_watch_slot&) = delete;

  /// Null: nobody has to hear. seq_cst: a wake is counted before (crew/timers), and
  /// changes/control may make one.
  awake_watch* get() const noexcept { return known_.load(std::memory_order_seq_cst); }

 protected:
  awake_watch_slot() noexcept = default;
  ~awake_watch_slot() = default;

  /// Acquire: pairs with fill().
  awake_watch* get_soon() const noexcept { return known_.load(std::memory_order_acquire); }
  void fill(awake_watch& one) noexcept { known_.store(&one, std::memory_order_seq_cst); }

 private:
  std::atomic<awake_watch*> known_{nullptr};
};

}  // namespace tandem::inline v0::detail
