// worker.hpp: one worker of a pool: its lanes, its park word, its counters.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <source_location>
#include <thread>

#include <tandem/detail/fifo_lane.hpp>
#include <tandem/detail/fork_lane.hpp>
#include <tandem/detail/own_counter.hpp>
#include <tandem/detail/recording.hpp>
#include <tandem/detail/split_mix.hpp>
#include <tandem/detail/thread_context.hpp>
#include <tandem/detail/worker_port.hpp>
#include <tandem/worker_pool.hpp>

#include "platform/futex.hpp"

namespace tandem::inline v0::detail {

class worker {
 public:
  worker(worker_pool::impl& pool, tandem::runtime& of, unsigned index)
      : owner(pool),
        number(index),
        random(index * split_mix_step + 1),
        recorded(of, recorded_thread::role::worker, index) {}

  std::uint64_t next_random() noexcept {  // xorshift64*
    random ^= random >> 12;
    random ^= random << 25;
    random ^= random >> 27;
    return random * 0x2545F4914F6CDD1DU;
  }

  /// What the park word says. Written by its owner (parked) and by whoever took the worker off the
  /// idle stack: to work (notified), or to end its thread (dismissed). While it is on the stack:
  /// how long it may stay has changed (look_again, changes/look_again).
  enum signal_value : std::uint32_t {
    running = 0,
    parked = 1,
    notified = 2,
    dismissed = 3,
    look_again = 4,
    in_port = 5  ///< parked, and waits in the pool's port (ports/lie_in)
  };
  /// Whoever has taken it off the idle stack; look_again: under the idle lock.
  void tell(signal_value what) noexcept {
    // ports/tell. Release: pairs with worker_loop::rest(); acquire: with whoever lay down there. A
    // second call finds the first one's word, whose wake is still to be heard.
    worker_port* const port = lies_in.load(std::memory_order_relaxed);
    const std::uint32_t before = signal.exchange(what, std::memory_order_acq_rel);
    if (before == in_port) {
      port->wake();
    } else {
      platform::wake_one(signal);
    }
  }
  bool is_parked() const noexcept {  // for reports
    const std::uint32_t now = signal.load(std::memory_order_relaxed);
    return now == parked || now == look_again || now == in_port;
  }
  /// Any thread: moves whenever it has begun another item.
  std::uint64_t progress() const noexcept { return items.read() + own_forks.read(); }
  /// How many others steal_stuck_next() watches during one search.
  static constexpr unsigned watched = 64;

  worker_pool::impl& owner;
  const unsigned number;

  fork_lane forks;
  fifo_lane fifo;

  alignas(64) std::atomic<std::uint32_t> signal{running};
  // Where it lies while the signal is in_port; by its owner, before it is on the idle stack.
  std::atomic<worker_port*> lies_in{nullptr};
  std::thread thread;  // under the pool's idle lock
  // What its thread was started with; set before it runs, its own until it ends.
  std::shared_ptr<const pool_options> settings;
  job* handed =
      // submissions/hand_over: by whoever rouses or starts it, before the signal or the thread
      nullptr;
  std::atomic<bool> started{false};  // has a thread; written under the pool's idle lock
  std::atomic<bool> blocks{false};   // inside a blocking_region; written by its owner
  // The spawn of what it runs, for reports; kept only where the pool has a control. Written by its
  // owner.
  std::atomic<std::source_location> where{std::source_location()};

  // Owner only from here.
  std::uint64_t random;
  std::uint32_t tick = 0;
  std::uint32_t next_streak = 0;      // uses of the next slot in a row
  std::uint32_t attention_pause = 0;  // joins until the flag is honoured again
  bool forks_turn = false;            // an item of another lane has just had its turn
  bool give_way = false;              // joins/give_way: a join asked for an item of another lane
  bool searching = false;             // counted as such in the pool's word
  bool saw_young = false;             // lanes/ripe: its last round found nothing else
  bool looks_out = false;             // lookout: it is the one
  std::uint64_t looked_out_at = 0;    // lookout/look: the last time
  std::uint32_t looked_at = 0;        // ports/look: the tick of the last one
  std::uint32_t came_by_port = 0;     // likewise: how much came the last time
  std::uint32_t vain_spins = 0;       // ports/spin: in a row
  std::uint32_t spins_left_out = 0;   // how many are still to be left out
  std::uint32_t lot = 1;              // how many it takes from the injection lane at once
  std::int64_t lot_time = 0;          // of its last look at the clock, and what it had run by then
  std::uint64_t lot_items = 0;
  // records/clock. When it turned to its queues after a segment that was observed; good for that
  // item, by the count of items, if it had not to search or park for it.
  std::int64_t turn_ns = 0;
  std::uint64_t turn_item = 0;
  // records/names. The item that was stolen, as progress() numbers it; 0: none, or it is counted.
  std::uint64_t stolen_item = 0;
  unsigned watch_from = 0;                               // the first of those in items_at_search
  std::array<std::uint64_t, watched> items_at_search{};  // of others, when this one began to search
  bool told_of_idleness = false;  // deadlocks/idle: in this spell, or it is not its to tell
  bool runs_own_fork = false;     // the item that it is about to run
  own_counter items;              // from a queue
  own_counter own_forks;          // forked children that nobody stole, run as items
  own_counter tasks;              // spawned ones that ended here
  own_counter steals;
  own_counter parks;
  const recorded_thread recorded;  // recording/take
};

/// The worker of `pool` that the calling thread is, or null.
inline worker* current_worker_of(const worker_pool::impl& pool) noexcept {
  worker* const self = this_thread().current_worker;
  return self != nullptr && &self->owner == &pool ? self : nullptr;
}

}  // namespace tandem::inline v0::detail
