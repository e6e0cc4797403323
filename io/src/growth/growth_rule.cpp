// growth_rule.cpp: saturated, stalled, or more than the load needs. growth: io/src/growth/README.md.
// SPDX-License-Identifier: MIT
#include "growth/growth_rule.hpp"

#include <algorithm>
#include <cmath>

namespace tandem::inline v0::io {

growth_rule::growth_rule(const completion_growth& options, unsigned least, unsigned most,
                         clock::time_point now)
    : options_(options),
      least_(least),
      capacity_(most),
      most_(most),
      threads_(least),
      last_(now),
      fits_since_(most + std::size_t{1}, now),
      wait_(options.keep_alive),
      retired_at_(now) {}

growth_step growth_rule::decide(const growth_reading& reading) noexcept {
  if (reading.threads != threads_) note_outside_change(reading);
  note_load(reading);
  if (threads_ > most_) {  // growth/follow
    --threads_;
    saturated_for_ = 0;
    return growth_step(-1, decision_reason::outside_change);
  }
  // growth/grow. A stall is paid for once; when it has ended the next one may ask again.
  added_for_stalls_ = std::min(added_for_stalls_, reading.stalled);
  const bool saturated = reading.least_share >= options_.saturated_share;
  saturated_for_ = saturated ? saturated_for_ + 1 : 0;
  if (threads_ < most_ && reading.may_grow) {
    if (reading.stalled > added_for_stalls_) {
      ++added_for_stalls_;
      return grow(reading, decision_reason::stalled);
    }
    if (saturated_for_ >= options_.saturated_periods) {
      return grow(reading, decision_reason::saturated);
    }
  }
  if (reading.now < next_retirement()) return growth_step();  // growth/shrink
  --threads_;
  saturated_for_ = 0;
  has_retired_ = true;
  retired_at_ = reading.now;
  return growth_step(-1, decision_reason::idle);
}

bool growth_rule::add_for_connection(const growth_reading& reading,
                                     std::uint32_t residents) noexcept {
  if (reading.threads != threads_) note_outside_change(reading);
  if (threads_ >= most_ || residents <= threads_ || !reading.may_grow) return false;
  (void)grow(reading, decision_reason::connections);  // growth/connections
  return true;
}

growth_rule::clock::time_point growth_rule::next_retirement() const noexcept {
  return threads_ > least_ ? fits_since_[threads_ - 1] + wait_ : clock::time_point::max();
}

void growth_rule::note_outside_change(const growth_reading& reading) noexcept {
  threads_ = reading.threads;
  saturated_for_ = 0;
  std::fill(fits_since_.begin(), fits_since_.end(), reading.now);
}

void growth_rule::note_load(const growth_reading& reading) noexcept {
  // growth/shrink. After a long pause (nobody looks at an idle pool) what was before counts for as
  // little as it would if there had been a reading in each period.
  const std::chrono::duration<double> passed = reading.now - last_;
  const std::chrono::duration<double> period = options_.period;
  const double kept =
      std::pow(1 - options_.load_smoothing, std::max(0.0, passed.count() / period.count()));
  last_ = reading.now;
  load_ = kept * load_ + (1 - kept) * reading.load;
  backlog_ = kept * backlog_ + (1 - kept) * reading.backlog;
  for (unsigned fewer = least_; fewer < threads_; ++fewer) {
    const bool fits = reading.stalled == 0 && load_ <= options_.fit_share * fewer &&
                      backlog_ <= options_.fit_backlog * fewer;
    if (!fits) fits_since_[fewer] = reading.now;
  }
}

growth_step growth_rule::grow(const growth_reading& reading, decision_reason why) noexcept {
  // growth/steady. Needed again so soon: the load comes and goes in that rhythm.
  const bool regretted = has_retired_ && reading.now - retired_at_ <= 2 * wait_;
  const std::chrono::nanoseconds longest = options_.keep_alive * options_.max_back_off;
  if (regretted) {
    wait_ = std::min(2 * wait_, longest);
  } else if (reading.now - retired_at_ > 2 * wait_) {
    wait_ = options_.keep_alive;
  }
  has_retired_ = false;
  saturated_for_ = 0;
  fits_since_[threads_] = reading.now;
  ++threads_;
  return growth_step(1, why);
}

}  // namespace tandem::inline v0::io
