// timer_wheel.cpp: where nodes lie, and how they move down.
// SPDX-License-Identifier: MIT
#include "timers/timer_wheel.hpp"

#include <algorithm>
#include <bit>

namespace tandem::inline v0::detail {

namespace {

/// Nodes that one call of take_due() touches: its shard's lock is held that long.
constexpr unsigned nodes_per_call = 256;
/// Nodes looked at to find a slot's earliest again.
constexpr unsigned nodes_per_look = 64;

// A million nodes lie in as many cache lines, and each is found by way of the one before it. So a
// node remembers where the fourth after it lay when that was armed. It may have gone since: nothing
// but a prefetch reads the hint, as a distance in granules, 0 if that does not fit.
constexpr std::ptrdiff_t granule = 8;

std::int32_t distance(const timer_node& from, const timer_node& to) noexcept {
  const std::ptrdiff_t granules =
      (reinterpret_cast<const char*>(&to) - reinterpret_cast<const char*>(&from)) /  // NOLINT
      granule;
  const auto hint = static_cast<std::int32_t>(granules);
  return hint == granules ? hint : 0;
}

void prefetch_ahead(const timer_node& node, std::int32_t hint) noexcept {
  const auto there = reinterpret_cast<std::uintptr_t>(&node) +  // NOLINT
                     static_cast<std::uintptr_t>(hint * granule);
  TANDEM_PREFETCH_TO_WRITE(reinterpret_cast<const void*>(there));  // NOLINT
}

/// The rest of the awaiter and the promise lie in front of the node.
void prefetch_frame(const timer_node& node) noexcept {
  const char* const here = reinterpret_cast<const char*>(&node);  // NOLINT
  TANDEM_PREFETCH_TO_WRITE(here - 64);
  TANDEM_PREFETCH_TO_WRITE(here - 128);
}

}  // namespace

void timer_wheel::insert(timer_node& node) noexcept {
  node.deadline_ns_ = std::max(node.deadline_ns_.get(), time_);
  place(node);
}

void timer_wheel::place(timer_node& node) noexcept {
  const std::int64_t at = node.deadline_ns_;
  // One bit more, so that a deadline right now is at level 0.
  const auto difference = static_cast<std::uint64_t>(at ^ time_) | 1U;
  const unsigned level = static_cast<unsigned>(std::bit_width(difference) - 1) / digit_bits;
  const auto digit = static_cast<unsigned>(at >> (level * digit_bits)) % slots_per_level;
  const unsigned index = level * slots_per_level + digit;
  slot& into = slots_[index];
  node.slot_ = static_cast<std::uint16_t>(index);
  if (into.first == nullptr) {
    node.next_ = node.previous_ = &node;
    into.first = &node;
    into.earliest = at;
    occupied_[level] |= std::uint64_t{1} << digit;
    occupied_levels_ = static_cast<std::uint16_t>(occupied_levels_ | (1U << level));
    return;
  }
  timer_node& first = *into.first;
  node.next_ = &first;
  node.previous_ = first.previous_;
  timer_node& last = *first.previous_;
  last.next_ = &node;
  first.previous_ = &node;
  into.earliest = std::min(into.earliest, at);
  timer_node& fourth_last = *last.previous_->previous_->previous_;  // any of them, in a small ring
  fourth_last.ahead_ = distance(fourth_last, node);
}

void timer_wheel::remove(timer_node& node) noexcept {
  slot& from = slots_[node.slot_];
  const unsigned level = node.slot_ / slots_per_level;
  const std::uint64_t bit = std::uint64_t{1} << (node.slot_ % slots_per_level);
  if (node.next_ == &node) {
    from.first = nullptr;
    inexact_[level] &= ~bit;
    occupied_[level] &= ~bit;
    if (occupied_[level] == 0) {
      occupied_levels_ = static_cast<std::uint16_t>(occupied_levels_ & ~(1U << level));
    }
    return;
  }
  node.previous_->next_ = node.next_;
  node.next_->previous_ = node.previous_;
  if (from.first == &node) from.first = node.next_;
  if (level != 0 && node.deadline_ns_ == from.earliest) inexact_[level] |= bit;
}

std::int64_t timer_wheel::start_of(unsigned level, unsigned digit) const noexcept {
  // Digits above the level are those of the time. The uppermost level has none above it.
  const unsigned shift = level * digit_bits;
  const std::uint64_t above =
      level + 1 < level_count ? ~std::uint64_t{0} << (shift + digit_bits) : 0;
  return static_cast<std::int64_t>((static_cast<std::uint64_t>(time_) & above) |
                                   (std::uint64_t{digit} << shift));
}

std::size_t timer_wheel::take_due(std::int64_t limit, std::span<timer_node*> room,
                                  bool& done) noexcept {
  done = false;
  std::size_t count = 0;
  for (unsigned touched = 0; touched < nodes_per_call && count < room.size();) {
    if (shared_out_ != no_slot) {
      // Nothing is put into this slot meanwhile: the time has its digit, so what comes goes below.
      timer_node* const node = slots_[shared_out_].first;
      if (node == nullptr) {
        shared_out_ = no_slot;
        continue;
      }
      prefetch_ahead(*node, node->ahead_);
      remove(*node);
      place(*node);
      ++touched;
      continue;
    }
    if (occupied_levels_ == 0) {
      time_ = std::max(time_, limit);
      done = true;
      break;
    }
    const auto level = static_cast<unsigned>(std::countr_zero(occupied_levels_));
    const auto digit = static_cast<unsigned>(std::countr_zero(occupied_[level]));
    slot& next = slots_[level * slots_per_level + digit];
    const std::int64_t due = level == 0 ? start_of(0, digit) : next.earliest;
    if (due > limit) {
      time_ = std::max(time_, std::min(limit, start_of(level, digit) - 1));
      done = true;
      break;
    }
    time_ = due;
    if (level != 0) {
      shared_out_ = static_cast<std::uint16_t>(level * slots_per_level + digit);
      continue;
    }
    timer_node* const node = next.first;
    prefetch_frame(*node);
    remove(*node);
    room[count++] = node;
    ++touched;
  }
  return count;
}

std::int64_t timer_wheel::earliest(bool exactly) noexcept {
  if (occupied_levels_ == 0) return never;
  if (shared_out_ != no_slot) return time_;
  const auto level = static_cast<unsigned>(std::countr_zero(occupied_levels_));
  const auto digit = static_cast<unsigned>(std::countr_zero(occupied_[level]));
  if (level == 0) return start_of(0, digit);
  slot& next = slots_[level * slots_per_level + digit];
  const std::uint64_t bit = std::uint64_t{1} << digit;
  if ((inexact_[level] & bit) == 0) return next.earliest;
  std::int64_t found = never;
  const timer_node* each = next.first;
  for (unsigned looked = 0; exactly || looked < nodes_per_look; ++looked) {
    found = std::min(found, each->deadline_ns_.get());
    each = each->next_;
    if (each != next.first) continue;
    next.earliest = found;
    inexact_[level] &= ~bit;
    break;
  }
  return next.earliest;
}

}  // namespace tandem::inline v0::detail
