// blocking_adjustment.cpp: cooperative blocking.
// SPDX-License-Identifier: MIT
#include "sizing/blocking_adjustment.hpp"

#include <algorithm>
#include <cstdint>

namespace tandem::inline v0::detail {

namespace {

/// Sums and products of counts, so that no option can wrap around.
std::uint64_t at_once(const adaptive_options& options, unsigned min, unsigned max,
                      unsigned cpus) noexcept {
  return std::min<std::uint64_t>(min + std::uint64_t{options.blocking_at_once_per_cpu} * cpus, max);
}

}  // namespace

blocking_adjustment::blocking_adjustment(const adaptive_options& options) noexcept
    : options_(options) {}

blocking_outcome blocking_adjustment::adjust(const blocking_reading& reading) noexcept {
  blocking_outcome outcome;
  outcome.goal = reading.goal;
  // regions/target. Compared with min: workers that the climb or the gate has added stand in for
  // blocked ones, too.
  const auto target = static_cast<unsigned>(
      std::min<std::uint64_t>(std::uint64_t{reading.min} + reading.blocked, reading.max));
  if (target <= reading.goal) {  // regions/take_back
    const unsigned surplus = std::min(reading.goal - target, added_);
    added_ -= surplus;
    outcome.goal = reading.goal - surplus;
    return outcome;
  }
  const auto free_of_delay = static_cast<unsigned>(std::min<std::uint64_t>(  // regions/at_once
      target, std::max<std::uint64_t>(at_once(options_, reading.min, reading.max, reading.cpus),
                                      std::min(reading.existing, reading.max))));
  if (reading.goal < free_of_delay) {
    outcome.goal = free_of_delay;
  } else if (reading.delay_elapsed) {
    outcome.goal = reading.goal + 1;
  }
  added_ += outcome.goal - reading.goal;
  if (outcome.goal < target) {  // regions/delay
    outcome.delay = delay(options_, outcome.goal, reading.min, reading.max, reading.cpus);
  }
  return outcome;
}

std::chrono::nanoseconds blocking_adjustment::delay(const adaptive_options& options, unsigned goal,
                                                    unsigned min, unsigned max,
                                                    unsigned cpus) noexcept {
  const std::uint64_t free_of_delay = at_once(options, min, max, cpus);
  if (goal < free_of_delay) return {};
  const std::uint64_t per_step =
      std::max<std::uint64_t>(std::uint64_t{options.blocking_per_step_per_cpu} * cpus, 1);
  const std::uint64_t steps = 1 + (goal - free_of_delay) / per_step;
  // Compared by division: the product may not fit.
  const auto step = static_cast<std::uint64_t>(options.blocking_delay_step.count());
  const auto most = static_cast<std::uint64_t>(options.blocking_max_delay.count());
  const std::uint64_t delay = steps > most / step ? most : steps * step;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(delay));
}

}  // namespace tandem::inline v0::detail
