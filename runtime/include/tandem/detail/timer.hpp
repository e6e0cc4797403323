// timer.hpp: deadlines. Nodes live in awaiting frames; nothing is allocated to arm one.
// SPDX-License-Identifier: MIT
//
// Nodes hang in shards (a pairing heap and a lock each; the shard is the arming thread's). Whoever
// parks with the next deadline drives expiry (timer_driver): a completion thread, else the monitor
// thread. Protocol: runtime/README.md, "Time", labels T1-T6.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

class runtime;

namespace detail {

using clock = std::chrono::steady_clock;

/// One deadline. Guarded by its shard's lock while armed.
class timer_node {
 public:
  /// Runs on the driver's thread without any lock held; may end the node's life.
  using fire_function = void (*)(timer_node&) noexcept;

  explicit timer_node(fire_function fire) noexcept : fire_(fire) {}
  /// Moving is for awaiters that have not started.
  timer_node(timer_node&& other) noexcept : fire_(other.fire_) {}
  timer_node& operator=(timer_node&&) = delete;

 private:
  friend class timer_service;
  friend class timer_heap;
  enum class state : std::uint8_t { idle, armed, fired, stopped };

  fire_function fire_;
  std::int64_t deadline_ns_ = 0;  // steady clock
  timer_node* child_ = nullptr;
  timer_node* sibling_ = nullptr;
  timer_node* previous_ = nullptr;  // parent if first child, else the left sibling
  std::uint32_t shard_ = 0;
  state state_ = state::idle;
};

/// Sleeps until a deadline, then calls timer_service::expire.
class TANDEM_API timer_driver {
 public:
  virtual ~timer_driver();
  /// The next deadline has moved forward: recompute it. Any thread; must not block.
  virtual void wake() noexcept = 0;
};

class TANDEM_API timer_service {
 public:
  explicit timer_service(unsigned shards);
  timer_service(const timer_service&) = delete;
  timer_service& operator=(const timer_service&) = delete;
  ~timer_service();

  clock::time_point now() const noexcept { return clock::now(); }

  /// Chooses the shard; before the node becomes visible to a stopper (T1).
  void prepare(timer_node& node) const noexcept;
  /// @returns  false if disarm() came first: then it stays unarmed (T2)
  bool arm(timer_node& node, clock::time_point deadline) noexcept;
  /// @returns  true if it was armed and now will not fire; false if it has fired, is firing, or was
  ///           not armed yet (and now never will be) (T3)
  bool disarm(timer_node& node) noexcept;

  /// For drivers (`who`; null is the monitor). The time until which it may sleep; arm() wakes it if an
  /// earlier one comes. For ever if somebody else is the driver: both calls leave his state alone (T6).
  clock::time_point sleep_begins(const timer_driver* who) noexcept;
  void sleep_ended(const timer_driver* who) noexcept;
  /// Fires what is due. @returns how many
  std::size_t expire(clock::time_point now) noexcept;

  /// A completion thread takes over from the monitor, or gives back (null).
  void set_driver(timer_driver* driver) noexcept;

 private:
  struct shard;
  class monitor;
  void wake_driver() noexcept;

  std::unique_ptr<shard[]> shards_;
  unsigned shard_count_;
  std::unique_ptr<monitor> monitor_;
  struct driver_slot;
  std::unique_ptr<driver_slot> driver_;
};

/// The timers of the runtime that `owner` belongs to.
TANDEM_API timer_service& timers_of(tandem::runtime& owner) noexcept;

}  // namespace detail
}  // namespace tandem::inline v0
