// worker.hpp: one worker of a pool: its lanes, its park word, its counters.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <tandem/detail/fifo_lane.hpp>
#include <tandem/detail/fork_lane.hpp>
#include <tandem/detail/own_counter.hpp>
#include <tandem/worker_pool.hpp>

namespace tandem::inline v0::detail {

class worker {
 public:
  worker(worker_pool::impl& pool, unsigned index, unsigned pool_size)
      : owner(pool),
        number(index),
        random(index * 0x9E3779B97F4A7C15U + 1),
        items_at_search(pool_size) {}

  std::uint64_t next_random() noexcept {  // xorshift64*
    random ^= random >> 12;
    random ^= random << 25;
    random ^= random >> 27;
    return random * 0x2545F4914F6CDD1DU;
  }

  /// What the park word says. Written by its owner (parked) and by the waker that took the worker off
  /// the idle stack (notified).
  enum signal_value : std::uint32_t { running = 0, parked = 1, notified = 2 };

  worker_pool::impl& owner;
  const unsigned number;

  fork_lane forks;
  fifo_lane fifo;

  alignas(64) std::atomic<std::uint32_t> signal{running};
  std::thread thread;                // under the pool's idle lock until it was started
  std::atomic<bool> started{false};  // under the pool's idle lock; read by statistics

  // Owner only from here.
  std::uint64_t random;
  std::uint32_t tick = 0;
  std::uint32_t next_streak = 0;               // uses of the next slot in a row
  std::uint32_t attention_pause = 0;           // joins until the flag is honoured again (D9)
  bool forks_turn = false;                     // an item of another lane has just had its turn
  bool give_way = false;                       // F6: a join asked for an item of another lane
  std::vector<std::uint64_t> items_at_search;  // of every worker, when this one began to search
  own_counter items;
  own_counter steals;
  own_counter parks;
};

}  // namespace tandem::inline v0::detail
