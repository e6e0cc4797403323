// fifo_lane_scenarios.hpp: what owner, thieves and sleepers do with a FIFO lane.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>

#include <tandem/detail/fifo_lane.hpp>

#include "explore.hpp"
#include "explored_items.hpp"

namespace tandem::test {

template <class Atomics>
using small_fifo = detail::basic_fifo_lane<Atomics, 4>;

/// Owner, a thief with a lane of its own, and one that steals from both.
template <class Atomics>
void fifo_owner_and_thieves(schedule& run) {
  small_fifo<Atomics> lane;
  small_fifo<Atomics> of_thief;
  small_fifo<Atomics> of_other;
  items all(run);
  thief in_order(run, all);
  for (std::uint64_t i = run.random(5); i > 0; --i) (void)of_thief.push(all.fresh());
  const auto push = [&](job* next) {
    while (!lane.push(next)) (void)in_order.take(lane.pop());
  };
  run.thread("owner", [&] {
    for (std::uint64_t i = 3 + run.random(5); i > 0; --i) {
      if (item* const next = all.fresh()) push(next);
      if (run.random(3) == 0) (void)in_order.take(lane.pop());
    }
  });
  run.thread("thief", [&] {
    std::uint32_t stolen = 0;
    for (int k = 0; k < 2; ++k) (void)all.take(lane.steal_half(of_thief, stolen));
    if (run.random(2) == 0) (void)all.take(of_thief.pop());
  });
  run.thread("other", [&] {
    std::uint32_t stolen = 0;
    (void)all.take(lane.steal_half(of_other, stolen));
    (void)all.take(of_thief.steal_half(of_other, stolen));
  });
  if (!run.go()) return;
  for (auto* each : {&lane, &of_thief, &of_other}) {
    for (int i = 0; i < 4; ++i) (void)all.take(each->pop());
    run.require(each->empty(), finds_all);
  }
  all.require_each_taken_once();
}

template <class Atomics>
void fifo_next_slot(schedule& run) {
  small_fifo<Atomics> lane;
  items all(run);
  run.thread("owner", [&] {
    for (int i = 0; i < 4; ++i) {
      if (job* before = lane.exchange_next(all.fresh())) {
        while (!lane.push(before)) (void)all.take(lane.pop());
      }
      if (run.random(2) == 0) (void)all.take(lane.take_next());
    }
  });
  for (const char* name : {"thief", "other"}) {
    run.thread(name, [&] {
      small_fifo<Atomics> own;
      std::uint32_t stolen = 0;
      (void)all.take(lane.take_next());
      (void)all.take(lane.steal_half(own, stolen));
      while (all.take(own.pop()) != nullptr) {}
    });
  }
  if (!run.go()) return;
  (void)all.take(lane.take_next());
  while (all.take(lane.pop()) != nullptr) {}
  all.require_each_taken_once();
}

template <class Atomics>
void fifo_sleeping(schedule& run) {
  small_fifo<Atomics> lane;
  typename Atomics::template atomic<int> idle{0};
  items all(run);
  const bool by_next = run.random(2) == 0;
  bool sees_sleeper = false;
  bool sees_item = false;
  run.thread("owner", [&] {
    if (by_next) {
      (void)lane.exchange_next(all.fresh());
    } else {
      (void)lane.push(all.fresh());
    }
    sees_sleeper = idle.load(std::memory_order_seq_cst) != 0;
  });
  run.thread("sleeper", [&] {
    (void)idle.fetch_add(1, std::memory_order_seq_cst);
    sees_item = !lane.empty();
  });
  if (run.go()) run.require(sees_sleeper || sees_item, nobody_sleeps);
}

}  // namespace tandem::test
