// growth_rule.hpp: whether a completion pool has to have a thread more, or may have one less.
// SPDX-License-Identifier: MIT
//
// Only what it is told counts, time included: no clock, no lock, no thread. growth:
// io/src/growth/README.md.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <tandem/io/completion_growth.hpp>
#include <tandem/pool_decision.hpp>
#include <vector>

namespace tandem::inline v0::io {

/// What the threads did in a period.
class growth_reading {
 public:
  using clock = std::chrono::steady_clock;
  growth_reading(clock::time_point at, unsigned how_many) noexcept : now(at), threads(how_many) {}

  clock::time_point now;  ///< the end of the period
  unsigned threads;
  double load = 0;         ///< the shares of the time that each was busy, 0 to 1, together
  double least_share = 0;  ///< the lowest of them
  double backlog = 0;      ///< tasks that waited, with all threads together, on average
  unsigned stalled = 0;    ///< threads that one task keeps for longer than stalled_for
  bool may_grow = true;    ///< false: a thread cannot be had just now
};

/// What to do.
class growth_step {
 public:
  growth_step() noexcept = default;
  growth_step(int by, decision_reason why) noexcept : change(by), reason(why) {}

  int change = 0;  ///< -1, 0 or 1
  decision_reason reason = decision_reason::hold;
  friend bool operator==(const growth_step&, const growth_step&) = default;
};

class growth_rule {
 public:
  using clock = growth_reading::clock;

  /// @param options  valid
  growth_rule(const completion_growth& options, unsigned least, unsigned most,
              clock::time_point now);

  /// growth/follow. From now on there may be so many, at most as many as at first: those that are
  /// too many retire, one a reading.
  void set_most(unsigned most) noexcept { most_ = std::clamp(most, least_, capacity_); }
  /// Once for each reading. What it says is taken for done; if the next reading has another number
  /// of threads, somebody else has changed it.
  growth_step decide(const growth_reading& reading) noexcept;

  /// spreading/arrive. A connection has come whose task lives on the threads, and `residents` there
  /// are now. What it says is taken for done.
  ///
  /// @returns  whether there is to be one more
  bool add_for_connection(const growth_reading& reading, std::uint32_t residents) noexcept;

  /// When a pool without any load would have to have one less; max() if it has no more than it
  /// must.
  clock::time_point next_retirement() const noexcept;

 private:
  void note_outside_change(const growth_reading& reading) noexcept;
  void note_load(const growth_reading& reading) noexcept;
  growth_step grow(const growth_reading& reading, decision_reason why) noexcept;

  const completion_growth options_;
  const unsigned least_;
  const unsigned capacity_;
  unsigned most_;
  unsigned threads_;
  clock::time_point last_;  // reading
  double load_ = 0;         // growth/shrink: averages
  double backlog_ = 0;
  unsigned saturated_for_ = 0;  // periods in a row
  unsigned added_for_stalls_ = 0;
  std::vector<clock::time_point>
      fits_since_;                 // growth/shrink: on so many threads; known below threads_
  std::chrono::nanoseconds wait_;  // growth/steady
  clock::time_point retired_at_;
  bool has_retired_ = false;
};

}  // namespace tandem::inline v0::io
