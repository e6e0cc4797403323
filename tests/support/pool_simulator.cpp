// pool_simulator.cpp: the pool's events.
// SPDX-License-Identifier: MIT
#include "pool_simulator.hpp"

#include <algorithm>
#include <chrono>

namespace tandem::test {

namespace {

using std::chrono::nanoseconds;

constexpr std::uint64_t endless = std::numeric_limits<std::uint64_t>::max();
constexpr int nobody = -1;

double seconds_of(nanoseconds span) noexcept { return std::chrono::duration<double>(span).count(); }

nanoseconds span_of(double seconds) noexcept {
  return nanoseconds(static_cast<nanoseconds::rep>(seconds * 1e9));
}

std::uint64_t at_the_start(const simulated_load& load) noexcept {
  if (load.burst > 0) return load.burst;
  return load.arrival_share > 0 ? 0 : endless;
}

}  // namespace

pool_simulator::pool_simulator(const simulated_load& load, unsigned min, unsigned max,
                               const tandem::adaptive_options& options)
    : load_(load),
      options_(options),
      machine_(load.cpus, load.seed * 0x9E3779B97F4A7C15U + 1),
      controller_(options, min, load.seed),
      gate_(options),
      min_(min),
      max_(max),
      goal_(min),
      queued_(at_the_start(load)),
      starting_(max),
      item_of_(max),
      waiter_of_(load.nested ? load.burst : 0, nobody),
      ended_(load.nested ? load.burst : 0),
      next_arrival_(load.arrival_share > 0 && load.burst == 0 ? 0 : never),
      next_tick_(seconds_of(options.gate_period)),
      sample_due_(seconds_of(controller_.interval())) {
  for (unsigned worker = max; worker-- > 0;) parked_.push_back(worker);
  start_workers();
}

void pool_simulator::run_until(double seconds) {
  while (machine_.now() < seconds && !over()) {
    unsigned worker = 0;
    switch (machine_.next(std::min({seconds, next_arrival_, next_tick_}), worker)) {
      case simulated_machine::event::computed: computed(worker); break;
      case simulated_machine::event::waited: waited(worker); break;
      case simulated_machine::event::nothing:
        if (machine_.now() >= next_arrival_) arrive();
        if (machine_.now() >= next_tick_) tick();
        break;
    }
  }
}

void pool_simulator::computed(unsigned worker) {
  if (load_.nested) {
    if (!must_wait_for_another(worker)) end_item(worker);
  } else if (load_.wait_seconds > 0) {
    machine_.wait(worker, machine_.noisy(load_.wait_seconds, load_.noise));
  } else {
    end_item(worker);
  }
}

void pool_simulator::waited(unsigned worker) {
  if (!starting_[worker]) return end_item(worker);
  starting_[worker] = false;
  --on_the_way_;
  go_on_or_park(worker);
}

bool pool_simulator::over() const noexcept {
  return load_.burst > 0 && completions_ == load_.burst;
}

void pool_simulator::arrive() {
  next_arrival_ = machine_.now() +
                  machine_.exponential(load_.compute_seconds / load_.cpus / load_.arrival_share);
  ++queued_;
  start_workers();
}

void pool_simulator::start_workers() {
  // Whoever is on the way takes an item of its own.
  while (processing_ < goal_ && queued_ > on_the_way_) {
    const unsigned worker = parked_.back();
    parked_.pop_back();
    count_running();
    most_processing_ = std::max(most_processing_, ++processing_);
    starting_[worker] = true;
    ++on_the_way_;
    machine_.wait(worker, start_seconds);
  }
}

void pool_simulator::begin_item(unsigned worker) {
  if (queued_ != endless) --queued_;
  item_of_[worker] = taken_++;
  machine_.compute(worker, machine_.noisy(load_.compute_seconds, load_.noise));
}

bool pool_simulator::must_wait_for_another(unsigned worker) {
  const std::uint64_t other = item_of_[worker] + 1;
  if (other == load_.burst || ended_[other]) return false;
  waiter_of_[other] = static_cast<int>(worker);
  return true;
}

void pool_simulator::end_item(unsigned worker) {
  for (;;) {
    const std::uint64_t item = item_of_[worker];
    ++completions_;
    climb();
    go_on_or_park(worker);
    if (!load_.nested) return;
    ended_[item] = true;
    if (waiter_of_[item] == nobody) return;
    worker = static_cast<unsigned>(waiter_of_[item]);
  }
}

void pool_simulator::go_on_or_park(unsigned worker) {
  if (processing_ <= goal_ && queued_ > 0) return begin_item(worker);
  count_running();
  --processing_;
  parked_.push_back(worker);
}

void pool_simulator::count_running() noexcept {
  run_seconds_ += (machine_.now() - run_since_) * processing_;
  run_since_ = machine_.now();
}

double pool_simulator::mean_running() noexcept {
  count_running();
  return run_seconds_ / machine_.now();
}

void pool_simulator::climb() {
  const double now = machine_.now();
  if (now < sample_due_ || processing_ > goal_) return;
  tandem::detail::climb_sample sample(goal_, min_, max_, span_of(now - sampled_at_),
                                      completions_ - sampled_completions_);
  sample.cpu = cpu_;
  // Workers on their way do not count as idle: they are part of processing_.
  sample.idle = goal_ - processing_;
  const tandem::detail::climb_step step = controller_.update(sample);
  const unsigned old_goal = goal_;
  goal_ = step.goal;
  sampled_at_ = now;
  sampled_completions_ = completions_;
  sample_due_ = now + seconds_of(step.next);
  if (step.stored) record(old_goal, step.reason, step.move, step.gain);
  start_workers();
}

void pool_simulator::tick() {
  const double now = machine_.now();
  if (now - cpu_read_at_ >= seconds_of(options_.cpu_sample_interval) - 1e-9) {
    cpu_ = (machine_.busy_seconds() - last_busy_) / ((now - cpu_read_at_) * machine_.cpus());
    last_busy_ = machine_.busy_seconds();
    cpu_read_at_ = now;
  }

  tandem::detail::gate_reading reading(processing_, goal_, max_);
  reading.now = span_of(now);
  reading.dequeued = taken_;
  reading.cpu = cpu_;
  reading.work_requested = queued_ > 0;
  const unsigned old_goal = goal_;
  const tandem::detail::gate_outcome outcome = gate_.round(reading);
  goal_ = outcome.goal;
  next_tick_ += seconds_of(outcome.next);
  if (goal_ == old_goal) return;
  controller_.goal_changed(goal_, tandem::decision_reason::starvation);
  record(old_goal, tandem::decision_reason::starvation, 0, 0);
  start_workers();
}

void pool_simulator::record(unsigned old_goal, tandem::decision_reason reason, double move,
                            double gain) {
  simulated_record made;
  made.time = machine_.now();
  made.cpu = cpu_;
  made.old_goal = old_goal;
  made.goal = goal_;
  made.processing = processing_;
  made.reason = reason;
  made.move = move;
  made.gain = gain;
  made.queued = queued_;
  count_running();
  const double span = made.time - recorded_at_;
  made.running = span > 0 ? (run_seconds_ - recorded_run_seconds_) / span : processing_;
  recorded_at_ = made.time;
  recorded_run_seconds_ = run_seconds_;
  records_.push_back(made);
}

}  // namespace tandem::test
