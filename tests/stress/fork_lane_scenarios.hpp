// fork_lane_scenarios.hpp: what owner, thieves, posters and sleepers do with a fork lane.
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <tandem/detail/fork_lane.hpp>
#include <vector>

#include "explore.hpp"
#include "explored_items.hpp"

namespace tandem::test {

inline constexpr const char* newest_first = "the owner gets the newest";
inline constexpr const char* attention_set =
    "with nothing public and something private attention is set";
inline constexpr const char* thieves_find = "when the owner has looked, thieves find what there is";
inline constexpr const char* asked_and_seen =
    "who asked for attention is served, or attention is set";
inline constexpr const char* all_visible = "all that was exposed is found";

template <class Lane>
class lane_owner {
 public:
  lane_owner(schedule& run, items& all, Lane& lane) : run_(run), all_(all), lane_(lane) {}

  /// Called each time that the owner has looked after its lane.
  std::function<void()> serve = [] {};

  /// @returns whether items have become public, so that somebody has to be woken
  bool push() {
    item* const next = all_.fresh();
    if (next == nullptr) return false;
    held_.push_back({next, lane_.position()});
    return lane_.push(next) && look_after();
  }
  bool attend() {
    return lane_.attention.load(std::memory_order_relaxed) && look_after();  // as a join does
  }
  /// As take_sibling, or as take_known_sibling does it.
  void pop() {
    if (held_.empty()) {
      run_.require(lane_.pop() == nullptr, taken_once);
      return;
    }
    const place newest = held_.back();
    item* got = nullptr;
    if (run_.random(2) == 0) {
      got = all_.take(lane_.pop());
    } else if (lane_.pop_private_at(newest.index)) {
      got = all_.take(newest.it);
    } else {
      got = all_.take(lane_.take_back());
    }
    run_.require(got == nullptr || got == newest.it, newest_first);
    if (got != nullptr) {
      held_.pop_back();
    } else {
      held_.clear();  // stolen, all of them
      run_.require(lane_.drained(), finds_all);
    }
  }
  void step() {
    switch (run_.random(5)) {
      case 0:
      case 1: (void)push(); break;
      case 2: (void)attend(); [[fallthrough]];
      default: pop();
    }
  }

 private:
  bool look_after() {
    const bool exposed = lane_.look_after();
    serve();
    return exposed;
  }

  struct place {
    item* it;
    std::int64_t index;
  };
  schedule& run_;
  items& all_;
  Lane& lane_;
  std::vector<place> held_;
};

/// After the threads have ended: the laws of a lane at rest; then it is emptied.
template <class Lane>
void check_and_empty(schedule& run, items& all, Lane& lane) {
  const bool something = lane.size() != 0;
  run.require(lane.attention.load(std::memory_order_relaxed) || !lane.empty() || !something,
              attention_set);
  if (lane.attention.load(std::memory_order_relaxed)) (void)lane.look_after();
  run.require(lane.empty() == !something, thieves_find);
  thief by_age(run, all);
  for (int i = 0; i < 20; ++i) {
    if (run.random(2) == 0) {
      (void)by_age.take(lane.steal());
    } else {
      (void)all.take(lane.pop());
    }
    if (lane.attention.load(std::memory_order_relaxed)) (void)lane.look_after();
  }
  all.require_each_taken_once();
}

template <class Atomics>
void owner_and_thieves(schedule& run) {
  detail::basic_fork_lane<Atomics> lane(4);
  items all(run);
  lane_owner owner(run, all, lane);
  std::array<thief, 2> thieves{thief(run, all), thief(run, all)};
  run.thread("owner", [&] {
    for (std::uint64_t i = 4 + run.random(8); i > 0; --i) owner.step();
  });
  const std::uint64_t count = 1 + run.random(2);
  for (std::uint64_t i = 0; i < count; ++i) {
    run.thread(i == 0 ? "thief" : "other", [&, i] {
      for (std::uint64_t k = 1 + run.random(3); k > 0; --k) (void)thieves[i].take(lane.steal());
    });
  }
  if (run.go()) check_and_empty(run, all, lane);
}

/// Everything is public at first; the owner wants it back.
template <class Atomics>
void taking_back(schedule& run) {
  detail::basic_fork_lane<Atomics> lane(8);
  items all(run);
  lane_owner owner(run, all, lane);
  std::array<thief, 2> thieves{thief(run, all), thief(run, all)};
  for (std::uint64_t i = 1 + run.random(5); i > 0; --i) (void)owner.push();
  lane.expose_all();
  lane.attention.store(false, std::memory_order_relaxed);
  run.thread("owner", [&] {
    for (std::uint64_t i = 1 + run.random(3); i > 0; --i) owner.pop();
    if (run.random(2) == 0) (void)owner.push();
    if (run.random(2) == 0) owner.pop();
  });
  const std::uint64_t count = 1 + run.random(2);
  for (std::uint64_t i = 0; i < count; ++i) {
    run.thread(i == 0 ? "thief" : "other", [&, i] {
      for (std::uint64_t k = 1 + run.random(3); k > 0; --k) (void)thieves[i].take(lane.steal());
    });
  }
  if (run.go()) check_and_empty(run, all, lane);
}

template <class Atomics>
void growing(schedule& run) {
  const std::int64_t capacity = std::int64_t{2} << run.random(2);
  detail::basic_fork_lane<Atomics> lane(capacity);
  items all(run);
  lane_owner owner(run, all, lane);
  std::array<thief, 2> thieves{thief(run, all), thief(run, all)};
  if (run.random(2) == 0) {
    while (lane.position() < capacity - 1) (void)owner.push();
    lane.expose_all();
  }
  run.thread("owner", [&] {
    for (std::uint64_t i = 1 + run.random(6); i > 0; --i) (void)owner.push();
    for (std::uint64_t i = run.random(3); i > 0; --i) owner.pop();
  });
  for (thief& each : thieves) {
    run.thread(&each == thieves.data() ? "thief" : "other", [&] {
      for (int k = 0; k < 3; ++k) (void)each.take(lane.steal());
    });
  }
  if (run.go()) check_and_empty(run, all, lane);
}

/// The owner works on and polls; somebody posts elsewhere and asks for its attention.
template <class Atomics>
void asking_for_attention(schedule& run) {
  detail::basic_fork_lane<Atomics> lane(4);
  typename Atomics::template atomic<int> posted{0};
  items all(run);
  lane_owner owner(run, all, lane);
  thief stealing(run, all);
  owner.serve = [&] {
    if (posted.load(std::memory_order_seq_cst) != 0) posted.store(0, std::memory_order_seq_cst);
  };
  run.thread("owner", [&] {
    for (int i = 0; i < 4; ++i) {
      (void)owner.push();
      (void)owner.attend();
      if (run.random(2) == 0) owner.pop();
    }
  });
  run.thread("poster", [&] {
    posted.store(1, std::memory_order_seq_cst);
    lane.attention.store(true, std::memory_order_release);
  });
  run.thread("thief", [&] {
    for (int k = 0; k < 2; ++k) (void)stealing.take(lane.steal());
  });
  if (!run.go()) return;
  run.require(
      posted.load(std::memory_order_relaxed) == 0 || lane.attention.load(std::memory_order_relaxed),
      asked_and_seen);
  check_and_empty(run, all, lane);
}

/// The owner does nothing but look after its lane until thieves have taken everything.
template <class Atomics>
void attentive_owner(schedule& run) {
  detail::basic_fork_lane<Atomics> lane(4);
  items all(run);
  lane_owner owner(run, all, lane);
  std::array<thief, 2> thieves{thief(run, all), thief(run, all)};
  const int pushes = 2 + static_cast<int>(run.random(4));
  const int pops = static_cast<int>(run.random(2));
  bool pushed = false;
  const auto gone = [&] { return pushed && all.taken() == all.made(); };
  run.thread("owner", [&] {
    for (int i = 0; i < pushes; ++i) (void)owner.push();
    for (int i = 0; i < pops; ++i) owner.pop();
    pushed = true;
    while (!gone()) {
      run.wait_until([&] { return gone() || lane.attention.load(std::memory_order_relaxed); });
      if (!gone()) (void)owner.attend();
      // With nothing left to look after the flag stays set.
      if (lane.size() == 0) run.wait_until(gone);
    }
  });
  for (thief& each : thieves) {
    run.thread(&each == thieves.data() ? "thief" : "other", [&] {
      while (!gone()) {
        run.wait_until([&] { return gone() || !lane.empty(); });
        (void)each.take(lane.steal());
      }
    });
  }
  if (run.go()) all.require_each_taken_once();
}

/// The owner exposes everything and never comes back.
template <class Atomics>
void exposing_all(schedule& run) {
  detail::basic_fork_lane<Atomics> lane(4);
  items all(run);
  lane_owner owner(run, all, lane);
  thief stealing(run, all);
  bool waits = false;
  run.thread("owner", [&] {
    for (int i = 0; i < 5; ++i) owner.step();
    for (int i = 0; i < 3; ++i) (void)owner.push();
    lane.expose_all();
    waits = true;
  });
  run.thread("thief", [&] {
    for (int k = 0; k < 2; ++k) (void)stealing.take(lane.steal());
    run.wait_until([&] { return waits; });
    while (stealing.take(lane.steal())) {}
  });
  if (!run.go()) return;
  run.require(lane.empty() && lane.size() == 0 && all.taken() == all.made(), all_visible);
  all.require_each_taken_once();
}

/// parking/post, parking/announce, parking/wake of runtime/src/crew/README.md, reduced to one
/// poster and one sleeper.
template <class Atomics, bool ExposeAll>
void sleeping(schedule& run) {
  detail::basic_fork_lane<Atomics> lane(4);
  typename Atomics::template atomic<int> idle{0};
  items all(run);
  lane_owner owner(run, all, lane);
  bool sees_sleeper = false;
  bool sees_item = false;
  run.thread("owner", [&] {
    for (std::uint64_t i = 1 + run.random(2); i > 0; --i) {
      bool exposed = owner.push();
      if (ExposeAll) {
        lane.expose_all();
        exposed = true;
      }
      if (exposed && idle.load(std::memory_order_seq_cst) != 0) sees_sleeper = true;
    }
  });
  run.thread("sleeper", [&] {
    (void)idle.fetch_add(1, std::memory_order_seq_cst);
    sees_item = !lane.empty();
  });
  if (run.go()) run.require(sees_sleeper || sees_item, nobody_sleeps);
}

}  // namespace tandem::test
