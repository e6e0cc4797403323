// timer_wheel.hpp: a hierarchical timing wheel of intrusive nodes, exact to the nanosecond.
// SPDX-License-Identifier: MIT
//
// Varghese and Lauck, "Hashed and Hierarchical Timing Wheels" (1987), with the levels of a radix
// heap. Eleven levels of 64 slots. With c the wheel's time, a node lies at the level of the highest
// digit (to base 64) in which its deadline differs from c, in the slot of its own digit there. So
// everything at a lower level is due before everything at a higher one, a slot before the next, and
// one slot of level 0 is one nanosecond. A slot is a ring in arming order, and its nodes move down
// in that order: nodes with the same deadline expire in the order in which they were armed.
//
// c moves only forward, to what expires next, never past the start of an occupied slot without
// sharing out that slot; it jumps right to the slot's earliest deadline, so that empty levels cost
// nothing. Insert and remove are O(1), and a node moves down at most ten times. Guarded by its
// shard's lock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <tandem/detail/timer_service.hpp>

namespace tandem::inline v0::detail {

class timer_wheel {
 public:
  static constexpr std::int64_t never = INT64_MAX;

  /// No deadline before `now` is told from `now`. At least 0.
  void start_at(std::int64_t now) noexcept { time_ = now; }

  bool empty() const noexcept { return occupied_levels_ == 0; }

  /// A deadline that has passed becomes the wheel's time.
  void insert(timer_node& node) noexcept;
  void remove(timer_node& node) noexcept;

  /// Takes nodes whose deadline is at most `limit` out, earliest first, as many as there is room
  /// for.
  ///
  /// @param done  whether nothing more is due; if not, call again: the work of one call is bounded
  /// @returns     how many
  std::size_t take_due(std::int64_t limit, std::span<timer_node*> room, bool& done) noexcept;

  /// The earliest deadline; never if empty. After a removal of the earliest one perhaps less,
  /// unless `exactly`; whoever comes too early finds nothing, and asks again.
  std::int64_t earliest(bool exactly) noexcept;

 private:
  static constexpr unsigned digit_bits = 6;
  static constexpr unsigned slots_per_level = 1U << digit_bits;
  static constexpr unsigned level_count = 11;  // 66 bits
  static constexpr std::uint16_t no_slot = UINT16_MAX;

  struct slot {
    timer_node* first = nullptr;
    std::int64_t earliest = never;  // of what has been here since it was last empty
  };

  void place(timer_node& node) noexcept;
  std::int64_t start_of(unsigned level, unsigned digit) const noexcept;

  std::int64_t time_ = 0;
  std::uint16_t occupied_levels_ = 0;
  std::uint16_t shared_out_ = no_slot;  // the slot whose nodes move down, if there is one
  std::array<std::uint64_t, level_count> occupied_{};
  std::array<std::uint64_t, level_count> inexact_{};  // slots whose `earliest` may have left
  std::array<slot, level_count * slots_per_level> slots_{};
};

}  // namespace tandem::inline v0::detail
