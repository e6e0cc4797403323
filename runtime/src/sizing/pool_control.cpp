// pool_control.cpp: samples, the gate, and what regions ask for.
// SPDX-License-Identifier: MIT
#include "sizing/pool_control.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <tandem/detail/random.hpp>

#include "platform/platform.hpp"
#include "pool/worker_pool_impl.hpp"

namespace tandem::inline v0::detail {

namespace {
constexpr auto attempt_distance = std::chrono::milliseconds(10);
}

pool_control::pool_control(worker_pool::impl& pool, std::shared_ptr<const pool_options> options,
                           bool decides)
    : pool_(pool),
      cpus_(platform::usable_cpus()),
      on_(!decides),
      goal_(decides ? options->min_threads : fixed_goal(*options)),
      options_(std::move(options)),
      decides_(decides),
      climb_(options_->adaptive, goal(),
             static_cast<std::uint64_t>(clock::now().time_since_epoch().count())),
      gate_(options_->adaptive),
      blocking_(options_->adaptive),
      interval_(climb_.interval()),
      sample_timer_(*this, &on_sample_time),
      gate_timer_(*this, &on_gate_time),
      blocking_timer_(*this, &on_blocking_time) {}

void pool_control::arm(timer& which, clock::duration after) noexcept {
  timer_service& timers = timers_of(pool_.owner());
  timers.prepare(which);
  (void)timers.arm(which, clock::now() + after);
}

void pool_control::turn_on() noexcept {
  const std::lock_guard lock(lock_);
  // Relaxed: written under the lock.
  if (stopped_ || on_.load(std::memory_order_relaxed)) return;
  const clock::time_point now = clock::now();
  if (now < next_attempt_) return;
  run_timers();
  if (timers_of(pool_.owner()).is_driven()) return;
  // No thread for the timers: whoever wakes next tries again, if it is not too soon.
  next_attempt_ = now + attempt_distance;
  on_.store(false, std::memory_order_seq_cst);
}

void pool_control::run_timers() noexcept {
  const clock::time_point now = clock::now();
  // What was idle does not count.
  sampled_at_ = now;
  sampled_items_ = completions();
  begin_watching(now);
  cpu_read_at_ = now;
  cpu_used_ = platform::cpu_time_of_process();
  on_.store(true, std::memory_order_seq_cst);
  if (!std::exchange(gate_waits_, true)) arm(gate_timer_, options_->adaptive.gate_period);
  if (!std::exchange(sample_waits_, true)) arm(sample_timer_, interval_);
}

void pool_control::stop() noexcept {
  timer_service& timers = timers_of(pool_.owner());
  const std::lock_guard lock(lock_);
  stopped_ = true;
  // One that fires just now finds stopped_; the pool outlives the timers.
  for (timer* each : {&sample_timer_, &gate_timer_, &blocking_timer_}) (void)timers.disarm(*each);
}

void pool_control::on_sample_time(timer_node& self, fired_timers& /*batch*/) noexcept {
  static_cast<timer&>(self).owner.ask(sample_due);
}
void pool_control::on_gate_time(timer_node& self, fired_timers& /*batch*/) noexcept {
  static_cast<timer&>(self).owner.gate_round();
}
void pool_control::on_blocking_time(timer_node& self, fired_timers& /*batch*/) noexcept {
  pool_control& owner = static_cast<timer&>(self).owner;
  int change = 0;
  {
    const std::lock_guard lock(owner.lock_);
    owner.blocking_waits_ = false;
    change = owner.adjust_for_blocking(true);
  }
  if (change != 0) owner.pool_.change_target(change);
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
    sample_waits_ = false;
    return;
  }
  const clock::time_point now = clock::now();
  const std::chrono::nanoseconds elapsed = now - sampled_at_;
  const unsigned old_goal = goal();
  const int busy = pool_.busy();
  int change = 0;
  if (elapsed < interval_) {
    arm(sample_timer_, interval_ - elapsed);  // the timer was set before the pool woke up
  } else if (busy > static_cast<int>(old_goal) || blocking_waits_) {
    arm(sample_timer_, interval_);  // what is seen now is no effect of the goal
  } else {
    const std::uint64_t items = completions();
    climb_sample sample(old_goal, options_->min_threads, options_->most_threads(), elapsed,
                        items - sampled_items_);
    sample.cpu = cpu_;
    sample.idle = old_goal - static_cast<unsigned>(busy);
    const climb_step step = climb_.update(sample);
    sampled_at_ = now;
    sampled_items_ = items;
    interval_ = step.next;
    throughput_.store(step.throughput, std::memory_order_relaxed);
    change = set_goal(step.goal, step.reason);
    arm(sample_timer_, interval_);
  }
  lock.unlock();
  if (change != 0) pool_.change_target(change);
}

std::uint64_t pool_control::completions() const noexcept {
  return options_->adaptive.count == completion_count::tasks ? pool_.tasks_ended()
                                                             : pool_.items_taken();
}

void pool_control::begin_watching(clock::time_point now) noexcept {
  gate_.begin(now.time_since_epoch(), pool_.items_taken());
  starvation_.begin(now.time_since_epoch());
}

gate_reading pool_control::read(clock::time_point now) noexcept {
  gate_reading reading(static_cast<unsigned>(pool_.busy()), goal(), options_->most_threads());
  reading.now = now.time_since_epoch();
  reading.dequeued = pool_.items_taken();
  reading.cpu = cpu_;
  reading.work_requested = pool_.anything_queued();
  return reading;
}

void pool_control::gate_round() noexcept {
  int change = 0;
  bool work_waits = false;
  std::optional<starvation_report> told;
  std::shared_ptr<const pool_options> options;
  {
    const std::lock_guard lock(lock_);
    gate_waits_ = false;
    if (stopped_ || !decides_) return;
    options = options_;
    const clock::time_point now = clock::now();
    read_cpu(now);
    gate_reading reading = read(now);
    watch(reading);
    const gate_outcome outcome = gate_.round(reading);
    if (outcome.goal > reading.goal) change = set_goal(outcome.goal, decision_reason::starvation);
    if (report_is_due(now)) {
      try {
        told = report();
      } catch (const std::exception&) {
        // No memory for it: the next round tries again.
      }
    }
    work_waits = reading.work_requested;
    if (outcome.sleep && fell_asleep()) {
      change = lower_to_what_is_left(decision_reason::keep_alive);  // not where the wave stood
    } else {
      gate_waits_ = true;
      arm(gate_timer_, outcome.next);
    }
  }
  if (change != 0) pool_.change_target(change);
  // A thread that could not be started when the work came is tried again (changes/make_thread).
  if (work_waits) pool_.wake_one();
  if (told) tell(*options, *told);
}

bool pool_control::fell_asleep() noexcept {
  // crew/timers. First off, then the look: seq_cst, both. Whoever wakes a worker counts it, then
  // looks at on_.
  on_.store(false, std::memory_order_seq_cst);
  if (pool_.busy() == 0) return true;
  on_.store(true, std::memory_order_seq_cst);
  return false;
}

void pool_control::read_cpu(clock::time_point now) noexcept {
  const std::chrono::nanoseconds elapsed = now - cpu_read_at_;
  if (elapsed < options_->adaptive.cpu_sample_interval) return;
  const std::chrono::nanoseconds used = platform::cpu_time_of_process();
  cpu_ = std::clamp(static_cast<double>((used - cpu_used_).count()) /
                        (static_cast<double>(elapsed.count()) * cpus_),
                    0.0, 1.0);
  cpu_read_at_ = now;
  cpu_used_ = used;
}

unsigned pool_control::fixed_goal(const pool_options& options) noexcept {
  return options.growth == growth_order::threads_first ? options.most_threads()
                                                       : std::max(1U, options.min_threads);
}

int pool_control::reconfigure(std::shared_ptr<const pool_options>& options,
                              std::optional<adaptive_controller> climb) noexcept {
  int change = 0;
  {
    const std::lock_guard lock(lock_);
    if (stopped_) return 0;
    options_.swap(options);  // what goes may be the user's: not under a lock
    const bool decided = std::exchange(decides_, options_->is_adaptive());
    unsigned wanted = fixed_goal(*options_);
    if (decides_) {
      wanted = std::clamp(decided ? goal() : pool_.threads(), options_->min_threads,
                          options_->most_threads());
    }
    if (climb) {
      climb_ = std::move(*climb);
      sampled_at_ = clock::now();
      sampled_items_ = completions();
      interval_ = climb_.interval();
      gate_ = starvation_gate(options_->adaptive);
      begin_watching(sampled_at_);
      blocking_.set_options(options_->adaptive);
    }
    if (decided && (climb || !decides_)) call_off_timers();
    if (!decides_) blocking_ = blocking_adjustment(options_->adaptive);
    change = set_goal(wanted, decision_reason::outside_change);
    if (decides_) change += adjust_for_blocking(false);
    if (decides_ && (climb || !decided)) {
      // crew/timers. First off, then the look: seq_cst, both. Whoever wakes a worker counts it,
      // then looks at on_.
      on_.store(false, std::memory_order_seq_cst);
      if (pool_.busy() != 0) run_timers();
    }
  }
  return change;
}

void pool_control::call_off_timers() noexcept {
  const auto called_off = [this](timer& which, timer::fire_function fire) noexcept {
    if (!timers_of(pool_.owner()).disarm(which)) return false;
    // A node that was disarmed stays so: another takes its place.
    std::destroy_at(&which);
    std::construct_at(&which, *this, fire);
    return true;
  };
  // One that cannot be taken back is about to call, and finds whatever is true then.
  if (sample_waits_ && called_off(sample_timer_, &on_sample_time)) sample_waits_ = false;
  if (gate_waits_ && called_off(gate_timer_, &on_gate_time)) gate_waits_ = false;
  if (blocking_waits_ && called_off(blocking_timer_, &on_blocking_time)) blocking_waits_ = false;
  on_.store(true, std::memory_order_seq_cst);  // nobody has to turn anything on
}

int pool_control::set_goal(unsigned wanted, decision_reason reason) noexcept {
  const unsigned old_goal = goal();
  if (wanted == old_goal) return 0;
  goal_.store(wanted, std::memory_order_relaxed);
  if (wanted > old_goal) raised_for_.store(reason, std::memory_order_relaxed);
  if (wanted < old_goal && reason != decision_reason::blocking) {
    blocking_.lowered_to(wanted, options_->min_threads);
  }
  if (reason != decision_reason::climb && reason != decision_reason::warm_up &&
      reason != decision_reason::hold) {
    climb_.goal_changed(wanted, reason);
  }
  log(pool_action::change_goal, reason, old_goal);
  return static_cast<int>(wanted) - static_cast<int>(old_goal);
}

void pool_control::log(pool_action action, decision_reason reason, unsigned old_goal) noexcept {
  pool_.note(action, reason, old_goal, goal(), throughput_.load(std::memory_order_relaxed),
             cpu_.load(std::memory_order_relaxed));
}

decision_reason pool_control::thread_started(decision_reason reason) noexcept {
  if (reason == decision_reason::work && pool_.threads() > pool_.size()) {
    reason = raised_for_.load(std::memory_order_relaxed);
  }
  log(pool_action::inject, reason, goal());
  return reason;
}

void pool_control::thread_retired(decision_reason reason) noexcept {
  int change = 0;
  {
    const std::lock_guard lock(lock_);
    log(pool_action::retire, reason, goal());
    if (decides_) change = lower_to_what_is_left(reason);
  }
  if (change != 0) pool_.change_target(change);
}

int pool_control::lower_to_what_is_left(decision_reason reason) noexcept {
  // Whoever comes back after a rest begins as at first. But those that are blocked are replaced
  // (regions/target), by a thread that is started when somebody needs it.
  const unsigned left = std::max(options_->min_threads + blocked(), pool_.threads());
  return left < goal() ? set_goal(left, reason) : 0;
}

void pool_control::region_began() noexcept {
  blocked_.fetch_add(1, std::memory_order_relaxed);  // read under the lock
  int change = 0;
  {
    const std::lock_guard lock(lock_);
    change = adjust_for_blocking(false);
  }
  if (change != 0) pool_.change_target(change);
}

void pool_control::region_ended() noexcept {
  blocked_.fetch_sub(1, std::memory_order_relaxed);
  int change = 0;
  {
    const std::lock_guard lock(lock_);
    change = adjust_for_blocking(false);
  }
  if (change != 0) pool_.change_target(change);
}

int pool_control::adjust_for_blocking(bool delay_elapsed) noexcept {
  if (stopped_ || !decides_) return 0;
  blocking_reading reading(blocked(), goal(), options_->min_threads, options_->most_threads(),
                           cpus_);
  reading.existing = pool_.threads();
  reading.delay_elapsed = delay_elapsed;
  const blocking_outcome outcome = blocking_.adjust(reading);
  if (outcome.delay > std::chrono::nanoseconds::zero() && !std::exchange(blocking_waits_, true)) {
    arm(blocking_timer_, outcome.delay);
  }
  return set_goal(outcome.goal, decision_reason::blocking);
}

}  // namespace tandem::inline v0::detail
