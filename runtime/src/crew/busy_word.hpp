// busy_word.hpp: how many workers search, and how many more may be busy. Protocols parking, crew/goal: README.md beside this.
// SPDX-License-Identifier: MIT
//
// One word packs both: searching workers in the low half; in the high half the room, which is the
// target less those that are busy, below zero while too many are. Busy is who runs or searches.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tandem::inline v0::detail {

class alignas(64) busy_word {
 public:
  /// What the word said at one moment.
  class counts {
   public:
    counts() noexcept = default;
    explicit counts(std::uint64_t word) noexcept : word_(word) {}
    unsigned searching() const noexcept { return static_cast<unsigned>(word_ & 0xFFFFFFFFU); }
    int room() const noexcept {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(word_ >> 32));
    }
    /// parking/wake. Whether whoever has posted something has to wake somebody for it.
    bool needs_a_searcher() const noexcept { return searching() == 0 && room() > 0; }

   private:
    std::uint64_t word_ = 0;
  };

  /// @param target  how many may be busy
  /// @param room    how many of them there is room for: none where nobody can be woken
  busy_word(unsigned target, unsigned room) noexcept : word_(room * one_room), target_(target) {}
  busy_word(const busy_word&) = delete;
  busy_word& operator=(const busy_word&) = delete;

  counts now() const noexcept { return counts(word_.load(std::memory_order_seq_cst)); }
  /// A look, in no order with anything.
  counts about_now() const noexcept { return counts(word_.load(std::memory_order_relaxed)); }
  /// What the room is counted from; in no order with it.
  int target() const noexcept { return number_of(target_.load(std::memory_order_relaxed)); }
  /// How many run or search, or have been woken for that.
  int busy() const noexcept {
    // Two words. The target is raised before the room and lowered after it (crew/goal): where it has
    // not changed between two looks, nor changed and changed back, nobody is missed.
    std::uint64_t seen_target = target_.load(std::memory_order_seq_cst);
    while (true) {
      const counts seen = now();
      const std::uint64_t again = target_.load(std::memory_order_seq_cst);
      if (again == seen_target) return busy(seen, number_of(again));
      seen_target = again;
    }
  }
  /// As busy(), of words that were read at about one moment.
  static int busy(counts seen, int target) noexcept { return std::max(0, target - seen.room()); }

  /// crew/goal. So many more (or less) may be busy. @returns what the word says then
  counts change_target(int by) noexcept {
    // First the room is there, then the caller looks: seq_cst, both. The target is never too low
    // for the room beside it, so that busy() misses nobody. Below zero it counts modulo 2^64.
    const std::uint64_t added = static_cast<std::uint64_t>(by) << 32;
    if (by > 0) target_.fetch_add(target_change(by), std::memory_order_seq_cst);
    const counts after(word_.fetch_add(added, std::memory_order_seq_cst) + added);
    if (by < 0) target_.fetch_add(target_change(by), std::memory_order_seq_cst);
    return after;
  }

  /// A worker that is busy begins to search, if not half of those that are awake do: a stale look
  /// only lets one more or one less search.
  bool begin_search() noexcept {
    const counts seen = about_now();
    const int awake = target() - seen.room();
    if (static_cast<int>(seen.searching()) * 2 >= std::max(awake, 2)) return false;
    word_.fetch_add(one_searching, std::memory_order_seq_cst);
    return true;
  }
  /// It goes on being busy. @returns what the word said before
  counts end_search() noexcept {
    return counts(word_.fetch_sub(one_searching, std::memory_order_seq_cst));
  }

  /// parking/announce. A busy worker is idle from now on. @returns what the word said before
  counts lie_down(bool was_searching) noexcept {
    return counts(
        word_.fetch_add(one_room - (was_searching ? one_searching : 0), std::memory_order_seq_cst));
  }
  /// crew/step_back. Likewise, if too many are busy. @param before what the word said then
  bool step_back(counts& before) noexcept {
    std::uint64_t seen = word_.load(std::memory_order_seq_cst);
    do {
      before = counts(seen);
      if (before.room() >= 0) return false;
    } while (!word_.compare_exchange_weak(seen, seen + one_room, std::memory_order_seq_cst));
    return true;
  }
  /// So many idle workers are woken, and will search.
  void wake_to_search(std::size_t count = 1) noexcept {
    word_.fetch_add(count * (one_searching - one_room), std::memory_order_seq_cst);
  }
  /// An idle worker is woken with something in hand: it will not search.
  void wake_with_item() noexcept { word_.fetch_sub(one_room, std::memory_order_seq_cst); }
  /// Somebody who was woken with an item has none, and will search.
  void searches_after_all() noexcept { word_.fetch_add(one_searching, std::memory_order_seq_cst); }

  /// A new thread is about to be busy. @param brings_room submissions/own_room
  void come(bool searches, bool brings_room) noexcept {
    word_.fetch_add(change_of(searches, brings_room), std::memory_order_seq_cst);
    if (brings_room) target_.fetch_add(target_change(1), std::memory_order_relaxed);
  }
  /// No thread was to be had: takes come() back.
  void come_undone(bool searches, bool brings_room) noexcept {
    if (brings_room) target_.fetch_add(target_change(-1), std::memory_order_relaxed);
    word_.fetch_sub(change_of(searches, brings_room), std::memory_order_seq_cst);
  }
  /// A busy thread ends. @param takes_room_along it had brought it
  void go(bool was_searching, bool takes_room_along) noexcept {
    if (takes_room_along) target_.fetch_add(target_change(-1), std::memory_order_relaxed);
    word_.fetch_add((takes_room_along ? 0 : one_room) - (was_searching ? one_searching : 0),
                    std::memory_order_seq_cst);
  }
  /// An idle thread ends that had brought its room.
  void take_room_along() noexcept {
    word_.fetch_sub(one_room, std::memory_order_seq_cst);
    target_.fetch_add(target_change(-1), std::memory_order_seq_cst);
  }

 private:
  static constexpr std::uint64_t one_searching = 1;
  static constexpr std::uint64_t one_room = std::uint64_t{1} << 32;
  static std::uint64_t change_of(bool searches, bool brings_room) noexcept {
    return (searches ? one_searching : 0) - (brings_room ? 0 : one_room);
  }

  /// Low half: the target; high half: a number that each change makes larger.
  static std::uint64_t target_change(int by) noexcept {
    return (std::uint64_t{1} << 32) + static_cast<std::uint32_t>(by);
  }
  static int number_of(std::uint64_t target) noexcept {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(target));
  }

  std::atomic<std::uint64_t> word_;
  std::atomic<std::uint64_t> target_;  // changed with the word
};

}  // namespace tandem::inline v0::detail
