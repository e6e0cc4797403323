// timer_service.hpp: deadlines. Nodes live in awaiting frames; nothing is allocated to arm one.
// SPDX-License-Identifier: MIT
//
// Nodes hang in shards (a timing wheel and a lock each; the shard is the arming thread's). Whoever
// parks with the next deadline drives expiry (timer_driver): a completion thread, else the monitor
// thread. Protocol timers: runtime/src/timers/README.md.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <tandem/config.hpp>
#include <tandem/detail/seen_value.hpp>
#include <tandem/job.hpp>
#include <tandem/timer_stats.hpp>

namespace tandem::inline v0 {

class executor;
class runtime;

namespace detail {

class promise_base;

using clock = std::chrono::steady_clock;

/// What a batch of fired timers resumes: neighbours with the same home become one post.
class TANDEM_API fired_timers {
 public:
  fired_timers() noexcept = default;
  fired_timers(const fired_timers&) = delete;
  fired_timers& operator=(const fired_timers&) = delete;
  ~fired_timers() { flush(); }

  /// Schedules a task, by flush() at the latest.
  void resume(promise_base& waiting) noexcept;
  void flush() noexcept;

 private:
  executor* home_ = nullptr;
  job_list waiting_;
};

/// One deadline. Guarded by its shard's lock while armed.
class timer_node {
 public:
  /// Runs on the driver's thread without any lock held; may end the node's life, but resumes tasks
  /// only by way of the batch.
  using fire_function = void (*)(timer_node&, fired_timers& batch) noexcept;

  explicit timer_node(fire_function fire) noexcept : fire_(fire) {}
  /// Moving is for awaiters that have not started.
  timer_node(timer_node&& other) noexcept : fire_(other.fire_), deadline_ns_(other.deadline_ns_) {}
  timer_node& operator=(timer_node&&) = delete;

 protected:
  /// A place for the deadline until the node is armed.
  void set_deadline(clock::time_point deadline) noexcept {
    deadline_ns_ = deadline.time_since_epoch().count();
  }
  clock::time_point deadline() const noexcept {
    return clock::time_point(clock::duration(deadline_ns_));
  }

  /// It has fired, or was disarmed: to be armed again.
  void reset() noexcept { state_ = state::idle; }

 private:
  friend class timer_service;
  friend class timer_wheel;
  enum class state : std::uint8_t { idle, armed, fired, stopped };

  fire_function fire_;
  seen_value<std::int64_t> deadline_ns_ = 0;  // steady clock; looks read it
  timer_node* next_ = nullptr;                // the slot's ring
  timer_node* previous_ = nullptr;
  std::uint16_t slot_ = 0;
  std::uint8_t shard_ = 0;
  state state_ = state::idle;
  std::int32_t ahead_ = 0;  // a hint, perhaps stale: where a node further on in the ring lies
};

/// Sleeps until a deadline, then calls timer_service::expire.
class TANDEM_API timer_driver {
 public:
  virtual ~timer_driver();
  /// The next deadline has moved forward: recompute it. Any thread; must not block.
  virtual void wake() noexcept = 0;
};

class timer_driving;

/// The deadlines of a runtime. With a virtual clock time stands still between two advance_to(),
/// there is one shard, and no thread but the one that drives it ever expires anything.
class TANDEM_API timer_service {
 public:
  timer_service(unsigned shards, bool is_virtual);
  timer_service(const timer_service&) = delete;
  timer_service& operator=(const timer_service&) = delete;
  ~timer_service();

  bool is_virtual() const noexcept { return is_virtual_; }
  clock::time_point now() const noexcept {
    if (!is_virtual_) [[likely]]
      return clock::now();
    // Acquire: pairs with advance_to, for threads outside that ask for the time.
    return clock::time_point(clock::duration(virtual_ns_.load(std::memory_order_acquire)));
  }
  /// Virtual clock only, by whoever drives it: time does not go back.
  void advance_to(clock::time_point time) noexcept;
  /// The earliest deadline that is armed; time_point::max() if there is none.
  clock::time_point earliest() const noexcept;
  timer_stats stats() const noexcept;

  /// Whether somebody drives expiry; the monitor is started if there is nobody. Before arm(): what
  /// is armed while the system gives no thread waits until it does. @cost a load
  bool is_driven() noexcept {
    // Relaxed: whoever has driven once goes on, but for an end that is nobody's.
    return driven_.load(std::memory_order_relaxed) || start_monitor();
  }
  /// What an await throws if is_driven() says no.
  [[noreturn]] static void throw_not_driven();

  /// Chooses the shard; before the node becomes visible to a stopper (timers/shard).
  void prepare(timer_node& node) const noexcept;
  /// @returns  false if disarm() came first: then it stays unarmed (timers/arm)
  bool arm(timer_node& node, clock::time_point deadline) noexcept;
  /// @returns  true if it was armed and now will not fire; false if it has fired, is firing, or was
  ///           not armed yet (and now never will be) (timers/disarm)
  bool disarm(timer_node& node) noexcept;

  /// For drivers (`who`; null is the monitor). The time until which it may sleep; arm() wakes it if
  /// an earlier one comes. For ever if somebody else is the driver: both calls leave his state
  /// alone (timers/driver).
  clock::time_point sleep_begins(const timer_driver* who) noexcept;
  void sleep_ended(const timer_driver* who) noexcept;
  /// Fires what is due. @returns how many
  std::size_t expire(clock::time_point now) noexcept;

  /// A completion thread takes over from the monitor, or gives back (null).
  void set_driver(timer_driver* driver) noexcept;
  /// As set_driver, for good: later set_driver() calls change nothing.
  void drive_by(timer_driver* driver) noexcept;
  bool is_driven_for_good() const noexcept;

 private:
  friend class timer_driving;
  struct shard;
  /// When there may be something to fire: no later than the earliest deadline.
  std::int64_t next_look() const noexcept;
  bool start_monitor() noexcept;

  const bool is_virtual_;
  // The hour is an epoch like any other, the same in each run.
  std::atomic<std::int64_t> virtual_ns_{std::chrono::nanoseconds(std::chrono::hours(1)).count()};
  std::unique_ptr<shard[]> shards_;
  unsigned shard_count_;
  std::unique_ptr<timer_driving> driving_;
  std::atomic<bool> driven_;  // written under the lock of changes
};

/// The timers of the runtime that `owner` belongs to.
TANDEM_API timer_service& timers_of(tandem::runtime& owner) noexcept;

}  // namespace detail
}  // namespace tandem::inline v0
