// growth_control.cpp: looks become shares of a period; what the rule says is done, and noted.
// SPDX-License-Identifier: MIT
#include "growth/growth_control.hpp"

#include <algorithm>
#include <cstdio>
#include <mutex>

#include "growth/line_limit.hpp"

namespace tandem::inline v0::io {

growth_control::growth_control(const completion_growth& options, growth_target& target,
                               tandem::detail::decision_log& log, unsigned least, unsigned most,
                               clock::time_point now)
    : options_(options),
      target_(target),
      log_(log),
      born_(now),
      rule_(options, least, most, now),
      seen_(most),
      decided_(now),
      next_look_(now),
      retry_(now) {}

void growth_control::see(const growth_sight& sight) noexcept {
  seen& of = seen_[sight.thread];
  if (sight.busy) ++of.busy;
  of.stalled = sight.keeps >= options_.stalled_for;
  backlog_ += static_cast<double>(sight.backlog);
  segments_ += sight.segments;
}

void growth_control::looked(clock::time_point now) noexcept {
  next_look_ = now + interval();
  if (++looks_ >= options_.looks) {
    decide(now);
    start_over();
  }
  segments_ = 0;
}

void growth_control::start_over() noexcept {
  std::fill(seen_.begin(), seen_.end(), seen());
  looks_ = 0;
  backlog_ = 0;
}

void growth_control::decide(clock::time_point now) noexcept {
  // growth/watch. Whoever resizes may wait for a thread, or for our end: then there is no decision
  // this time.
  const std::unique_lock lock(target_, std::try_to_lock);
  if (!lock) return;
  growth_reading reading(now, target_.threads());
  const double looks = looks_;
  reading.least_share = 1;
  for (unsigned i = 0; i < reading.threads; ++i) {
    const double share = seen_[i].busy / looks;
    reading.load += share;
    reading.least_share = std::min(reading.least_share, share);
    if (seen_[i].stalled) ++reading.stalled;
  }
  reading.backlog = backlog_ / looks;
  reading.may_grow = now >= retry_ && target_.has_room();
  rule_.set_most(target_.most_threads(now));  // growth/follow
  const growth_step step = rule_.decide(reading);
  decides_ = true;
  if (step.change > 0) (void)grow(reading, step.reason);
  if (step.change < 0) retire(reading, step.reason);
  decides_ = false;
  if (const unsigned missed = missed_.load(std::memory_order_relaxed)) add_for(missed, reading);
  segments_before_ = segments_;
  decided_ = now;
}

bool growth_control::serve_arrivals(unsigned arrived, clock::time_point now) noexcept {
  const std::unique_lock lock(target_, std::try_to_lock);  // growth/watch
  if (!lock) return false;
  add_for(arrived, growth_reading(now, target_.threads()));
  return true;
}

void growth_control::add_for(unsigned arrived, growth_reading reading) noexcept {
  missed_.store(0, std::memory_order_relaxed);
  for (; arrived != 0; --arrived) {
    reading.threads = target_.threads();
    reading.may_grow = reading.now >= retry_ && target_.has_room();
    if (!rule_.add_for_connection(reading, target_.residents())) break;
    if (!grow(reading, decision_reason::connections)) break;
  }
  // spreading/arrive. None can be had just now: looked at again once a period.
  const bool is_short = target_.threads() < target_.most_threads(reading.now) &&
                        target_.residents() > target_.threads();
  if (is_short && !(reading.now >= retry_ && target_.has_room())) {
    missed_.store(std::max(arrived, 1U), std::memory_order_relaxed);
  }
}

bool growth_control::idles(clock::time_point now) noexcept {
  start_over();
  const std::unique_lock lock(target_, std::try_to_lock);
  if (!lock) return false;
  const growth_reading reading(now, target_.threads());
  const growth_step step = rule_.decide(reading);
  if (step.change == 0) return true;
  retire(reading, step.reason);
  return false;
}

bool growth_control::grow(const growth_reading& reading, decision_reason why) noexcept {
  try {
    target_.add_thread();
  } catch (const std::exception& refused) {
    // The rule takes the thread that is not there for one that somebody else took away.
    retry_ = reading.now + options_.keep_alive;
    say_refused(reading.threads, refused.what());
    return false;
  }
  log(reading, pool_action::inject, why, reading.threads + 1);
  return true;
}

void growth_control::retire(const growth_reading& reading, decision_reason why) noexcept {
  const auto last = seen_.begin() + (reading.threads - 1);
  const auto least = std::min_element(seen_.begin(), last,
                                      [](const seen& a, const seen& b) { return a.busy < b.busy; });
  target_.retire_thread(static_cast<unsigned>(least - seen_.begin()));
  log(reading, pool_action::retire, why, reading.threads - 1);
}

void growth_control::log(const growth_reading& reading, pool_action action, decision_reason why,
                         unsigned after) noexcept {
  const std::chrono::duration<double> passed = reading.now - decided_;
  const bool measured = decides_ && passed.count() > 0;
  const double segments = static_cast<double>(segments_ - segments_before_);
  log_.add(pool_decision(reading.now - born_, action, why, reading.threads, after, after,
                         measured ? segments / passed.count() : 0, reading.load / reading.threads));
}

void growth_control::say_refused(unsigned thread, const char* why) noexcept {
  static line_limit lines;  // of the process
  if (!lines.is_due(clock::now())) return;
  std::fprintf(stderr,
               "tandem::io: completion thread %u is needed, but cannot be started: %s. It is tried "
               "again after completion_growth::keep_alive.\n",
               thread, why);
}

}  // namespace tandem::inline v0::io
