// control_timers.cpp: running, calling off, and whom each timer calls.
// SPDX-License-Identifier: MIT
#include "sizing/control_timers.hpp"

namespace tandem::inline v0::detail {

namespace {

constexpr auto attempt_distance = std::chrono::milliseconds(10);

timed_control& called_by(timer_node& self) noexcept {
  auto& which = static_cast<control_timer&>(self);
  which.fires();
  return which.owner;
}
void on_sample_time(timer_node& self, fired_timers& /*batch*/) noexcept {
  called_by(self).sample_is_due();
}
void on_gate_time(timer_node& self, fired_timers& /*batch*/) noexcept {
  called_by(self).gate_is_due();
}
void on_delay_time(timer_node& self, fired_timers& /*batch*/) noexcept {
  called_by(self).delay_is_over();
}

}  // namespace

control_timers::control_timers(timed_control& called, tandem::runtime& clock_of) noexcept
    : sample(called, clock_of, &on_sample_time),
      gate(called, clock_of, &on_gate_time),
      delay(called, clock_of, &on_delay_time),
      clock_of_(clock_of) {}

void control_timers::run(clock::duration until_gate, clock::duration until_sample) noexcept {
  gate.arm_if_free(until_gate);
  sample.arm_if_free(until_sample);
}

bool control_timers::are_driven(clock::time_point now) noexcept {
  if (timers_of(clock_of_).is_driven()) return true;
  next_attempt_ = now + attempt_distance;
  return false;
}

void control_timers::call_off() noexcept {
  for (control_timer* each : {&sample, &gate, &delay}) control_timer::call_off(*each);
}

void control_timers::end() noexcept {
  for (control_timer* each : {&sample, &gate, &delay}) each->end();
}

}  // namespace tandem::inline v0::detail
