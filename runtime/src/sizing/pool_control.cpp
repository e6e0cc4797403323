// pool_control.cpp: samples, the gate, and what regions ask for.
// SPDX-License-Identifier: MIT
#include "sizing/pool_control.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <tandem/detail/recording.hpp>

namespace tandem::inline v0::detail {

pool_control::pool_control(controlled_pool& pool, const controlled_parts& parts,
                           std::shared_ptr<const pool_options> options, bool decides)
    : awake_watch(!decides),  // nobody has to turn anything on (changes/control)
      pool_(pool),
      parts_(parts),
      options_(std::move(options)),
      decides_(decides),
      goal_(pool, cpu_, options_->adaptive, decides ? options_->min_threads : fixed_goal(*options_),
            static_cast<std::uint64_t>(clock::now().time_since_epoch().count())),
      gate_(options_->adaptive),
      reports_(pool, parts),
      interval_(goal_.first_interval()),
      timers_(*this, parts.owner) {}

void pool_control::turn_on() noexcept {
  const std::lock_guard lock(lock_);
  // Relaxed: written under the lock.
  if (stopped_ || is_on()) return;
  const clock::time_point now = clock::now();
  if (!timers_.may_run(now)) return;
  run_timers(now);
  // No thread for the timers: whoever wakes next tries again, if it is not too soon.
  if (!timers_.are_driven(now)) set_on(false);
}

void pool_control::run_timers(clock::time_point now) noexcept {
  // What was idle does not count.
  sampled_at_ = now;
  sampled_items_ = completions();
  begin_watching(now);
  cpu_.begin(now);
  set_on(true);
  timers_.run(options_->adaptive.gate_period, interval_);
}

bool pool_control::fell_asleep() noexcept {
  // crew/timers. First off, then the look: seq_cst, both. Whoever wakes a worker counts it, then
  // looks whether this is on.
  set_on(false);
  if (parts_.word.busy() == 0) return true;
  set_on(true);
  return false;
}

unsigned pool_control::timers_of_its_own() noexcept {
  const std::lock_guard lock(lock_);
  return timers_.armed();
}

void pool_control::stop() noexcept {
  const std::lock_guard lock(lock_);
  stopped_ = true;
  timers_.end();  // one that fires just now finds stopped_; the pool outlives the timers
}

void pool_control::answer() noexcept {
  // crew/step_back. The mark goes first, then the caller looks at the room.
  const std::uint32_t asked = asked_.fetch_and(~std::uint32_t{too_many}, std::memory_order_seq_cst);
  if ((asked & sample_due) == 0) return;
  std::unique_lock lock(lock_, std::try_to_lock);
  // crew/sample. Somebody else is at it, or has been.
  if (!lock || (asked_.load(std::memory_order_relaxed) & sample_due) == 0 || stopped_) return;
  asked_.fetch_and(~std::uint32_t{sample_due}, std::memory_order_relaxed);
  if (!decides_) {
    timers_.sample.is_free();
    return;
  }
  const int change = take_sample();
  lock.unlock();
  if (change != 0) pool_.change_target(change);
}

int pool_control::take_sample() noexcept {
  const clock::time_point now = clock::now();
  const std::chrono::nanoseconds elapsed = now - sampled_at_;
  const unsigned old_goal = goal();
  const int busy = parts_.word.busy();
  if (elapsed < interval_) {
    timers_.sample.arm(interval_ - elapsed);  // the timer was set before the pool woke up
    return 0;
  }
  if (busy > static_cast<int>(old_goal) || timers_.delay.waits()) {
    timers_.sample.arm(interval_);  // what is seen now is no effect of the goal
    return 0;
  }
  const std::uint64_t items = completions();
  climb_sample sample(old_goal, options_->min_threads, options_->most_threads(), elapsed,
                      items - sampled_items_);
  sample.cpu = cpu_.share();
  sample.idle = old_goal - static_cast<unsigned>(busy);
  const goal_move move = goal_.climb(sample);
  sampled_at_ = now;
  sampled_items_ = items;
  interval_ = move.next;
  timers_.sample.arm(interval_);
  return move.change;
}

std::uint64_t pool_control::completions() const noexcept {
  return options_->adaptive.count == completion_count::tasks ? parts_.workers.tasks_ended()
                                                             : parts_.workers.items_taken();
}

void pool_control::begin_watching(clock::time_point now) noexcept {
  gate_.begin(now.time_since_epoch(), parts_.workers.items_taken());
  reports_.begin(now);
}

gate_reading pool_control::read(clock::time_point now) noexcept {
  gate_reading reading(static_cast<unsigned>(parts_.word.busy()), goal(), options_->most_threads());
  reading.now = now.time_since_epoch();
  reading.dequeued = parts_.workers.items_taken();
  reading.cpu = cpu_.share();
  reading.work_requested = pool_.anything_queued();
  reading.has_quota = machine_.has_quota();
  return reading;
}

void pool_control::gate_is_due() noexcept {
  int change = 0;
  bool work_waits = false;
  // sizing/follow. Without the lock: it reads files.
  if (const auto cpus = machine_.look(clock::now())) untold_cpus_ = *cpus;
  std::optional<starvation_report> told;
  std::shared_ptr<const pool_options> options;
  {
    const std::lock_guard lock(lock_);
    timers_.gate.is_free();
    if (stopped_ || !decides_) return;
    options = options_;
    const clock::time_point now = clock::now();
    cpu_.read(now, options_->adaptive.cpu_sample_interval);
    if (untold_cpus_ != 0) cpu_.set_cpus(untold_cpus_);
    gate_reading reading = read(now);
    reports_.look(reading);
    const gate_outcome outcome = gate_.round(reading);
    if (outcome.goal > reading.goal) {
      change = goal_.set(outcome.goal, decision_reason::starvation, options->min_threads);
    }
    if (reports_.is_due(*options, now)) {
      try {
        told = reports_.make(*options, cpu_.share());
      } catch (const std::exception&) {
        // No memory for it: the next round tries again.
      }
    }
    work_waits = reading.work_requested;
    if (outcome.sleep && fell_asleep()) {
      change = lower_to_what_is_left(decision_reason::keep_alive);  // not where the wave stood
    } else {
      timers_.gate.arm(outcome.next);
    }
  }
  if (change != 0) pool_.change_target(change);
  if (untold_cpus_ != 0 && pool_.follow_machine(untold_cpus_)) untold_cpus_ = 0;
  // A thread that could not be started when the work came is tried again (changes/make_thread).
  if (work_waits) pool_.wake_one();
  if (told) {
    record_stall(parts_.owner);  // first: who is told may take long
    reports_.tell(*options, *told);
  }
}

unsigned pool_control::fixed_goal(const pool_options& options) noexcept {
  return options.growth == growth_order::threads_first ? options.most_threads()
                                                       : std::max(1U, options.min_threads);
}

int pool_control::reconfigure(std::shared_ptr<const pool_options>& options,
                              std::optional<adaptive_controller> climb,
                              bool begins_with_least) noexcept {
  int change = 0;
  {
    const std::lock_guard lock(lock_);
    if (stopped_) return 0;
    options_.swap(options);  // what goes may be the user's: not under a lock
    const bool decided = std::exchange(decides_, options_->is_adaptive());
    unsigned wanted = fixed_goal(*options_);
    if (decides_ && !begins_with_least) {
      wanted = std::clamp(decided ? goal() : parts_.threads.threads(), options_->min_threads,
                          options_->most_threads());
    }
    if (climb) {
      goal_.begin_anew(std::move(*climb), options_->adaptive);
      sampled_at_ = clock::now();
      sampled_items_ = completions();
      interval_ = goal_.first_interval();
      gate_ = starvation_gate(options_->adaptive);
      begin_watching(sampled_at_);
    }
    if (decided && (climb || !decides_)) {
      timers_.call_off();
      set_on(true);  // nobody has to turn anything on
    }
    if (!decides_) goal_.decide_nothing(options_->adaptive);
    change = goal_.set(wanted, decision_reason::outside_change, options_->min_threads);
    change += move_for_blocking(false);
    if (decides_ && (climb || !decided)) {
      set_on(false);  // crew/timers: as in fell_asleep()
      if (parts_.word.busy() != 0) run_timers(clock::now());
    }
  }
  return change;
}

decision_reason pool_control::thread_started(decision_reason reason) noexcept {
  if (reason == decision_reason::work && parts_.threads.threads() > parts_.limits.core()) {
    reason = goal_.raised_for();
  }
  goal_.note(pool_action::inject, reason);
  return reason;
}

void pool_control::thread_retired(decision_reason reason) noexcept {
  int change = 0;
  {
    const std::lock_guard lock(lock_);
    goal_.note(pool_action::retire, reason);
    if (decides_) change = lower_to_what_is_left(reason);
  }
  if (change != 0) pool_.change_target(change);
}

int pool_control::lower_to_what_is_left(decision_reason reason) noexcept {
  // Whoever comes back after a rest begins as at first. But those that are blocked are replaced
  // (regions/target), by a thread that is started when somebody needs it.
  const unsigned left = std::max(options_->min_threads + blocked(), parts_.threads.threads());
  return left < goal() ? goal_.set(left, reason, options_->min_threads) : 0;
}

void pool_control::region_began() noexcept {
  blocked_.fetch_add(1, std::memory_order_relaxed);  // read under the lock
  adjust_for_blocking(false);
}

void pool_control::region_ended() noexcept {
  blocked_.fetch_sub(1, std::memory_order_relaxed);
  adjust_for_blocking(false);
}

void pool_control::adjust_for_blocking(bool delay_elapsed) noexcept {
  int change = 0;
  {
    const std::lock_guard lock(lock_);
    if (delay_elapsed) timers_.delay.is_free();
    change = move_for_blocking(delay_elapsed);
  }
  if (change != 0) pool_.change_target(change);
}

int pool_control::move_for_blocking(bool delay_elapsed) noexcept {
  if (stopped_ || !decides_) return 0;
  blocking_reading reading(blocked(), goal(), options_->min_threads, options_->most_threads(),
                           cpu_.cpus());
  reading.existing = parts_.threads.threads();
  reading.delay_elapsed = delay_elapsed;
  const goal_move move = goal_.adjust(reading);
  if (move.next > std::chrono::nanoseconds::zero()) timers_.delay.arm_if_free(move.next);
  return move.change;
}

}  // namespace tandem::inline v0::detail
