// trace_point.cpp: which ring a thread writes into, and the events of more than two words. Protocol recording: README.md beside this.
// SPDX-License-Identifier: MIT
#include "recorder/trace_point.hpp"

#include <array>
#include <chrono>
#include <cstddef>

#include "recorder/recorder.hpp"

namespace tandem::inline v0::detail {

constinit std::atomic<std::uint32_t> task_watchers{0};

namespace {

std::uint64_t address_of(const char* text) noexcept {
  return reinterpret_cast<std::uintptr_t>(text);  // NOLINT
}

/// recording/clock. Where no runtime may be asked any more: what was the time.
std::uint64_t time_of(const thread_context& context, trace_ring& ring) noexcept {
  switch (ring.by) {
    case trace_ring::time_source::ticks: return platform::fast_ticks();
    case trace_ring::time_source::steady:
      return static_cast<std::uint64_t>(
          std::chrono::steady_clock::now().time_since_epoch().count());
    default: break;
  }
  // A thread of a runtime, or whoever drives one: so it is there.
  if (context.role != nullptr) ring.last = recorder_of(context.role->of).now();
  return ring.last;
}

/// recording/take. Says who the thread is, if it was somebody else.
void say_role(trace_ring& ring, const thread_context& context, std::uint64_t now) noexcept {
  const recorded_thread* const role = context.role;
  const bool fires = role == nullptr && context.fires_timers;
  if (ring.has_role && ring.role == role && ring.fires_timers == fires) return;
  ring.role = role;
  ring.fires_timers = fires;
  ring.has_role = true;
  using what = recorded_thread::role;
  const what is = role != nullptr ? role->is : (fires ? what::timers : what::outside);
  const std::uint64_t number = role != nullptr ? role->number : 0;
  const std::uint64_t value = number << 8 | static_cast<std::uint64_t>(is);
  ring.role_value.store(value, std::memory_order_release);
  ring.add(now, trace_event::word(trace_kind::role, value));
}

/// recording/take. @returns  null: the thread is not recorded
trace_ring* find_ring(thread_context& context, recorder& of) noexcept {
  if (!of.is_on()) return nullptr;
  trace_ring* ring = context.own_ring;
  if (ring == nullptr || ring->serial() != of.serial()) ring = of.adopt(context);
  if (ring == nullptr) return nullptr;
  ring->last = of.now();
  say_role(*ring, context, ring->last);
  // What is a runtime's own thread writes for that runtime alone.
  if (context.role != nullptr && of.uses_ticks()) context.ring = ring;
  return ring;
}

trace_ring* find_ring(thread_context& context, const environment& task) noexcept {
  tandem::runtime* const owner = context.role != nullptr ? &context.role->of : task.runtime();
  return owner != nullptr ? find_ring(context, recorder_of(*owner)) : nullptr;
}

trace_ring* ring_of(thread_context& context, const environment& task) noexcept {
  return context.ring != nullptr ? context.ring : find_ring(context, task);
}

/// A task's name and place behind an event of it.
void add_named(trace_ring& ring, std::uint64_t now, trace_kind what, const environment& task,
               task_outcome outcome) noexcept {
  const std::source_location& where = task.spawned_at();
  std::array<trace_event, trace_event_group> group{};
  std::size_t count = 0;
  group[count++] = {now, trace_event::word(what, task.id())};
  group[count++] = {address_of(task.name()),
                    trace_event::word(trace_kind::name, static_cast<std::uint64_t>(outcome))};
  group[count++] = {address_of(where.file_name()),
                    trace_event::word(trace_kind::place, where.line())};
  ring.add(group.data(), count);
}

}  // namespace

trace_ring* record_slowly(thread_context& context, trace_kind what,
                          const environment& task) noexcept {
  trace_ring* const ring = ring_of(context, task);
  if (ring == nullptr) return nullptr;
  ring->add(time_of(context, *ring), trace_event::word(what, task.id()));
  return ring;
}

void record_spawn(const environment& task) noexcept {
  thread_context& context = this_thread();
  if (trace_ring* const ring = ring_of(context, task)) {
    add_named(*ring, time_of(context, *ring), trace_kind::spawn, task, task_outcome::running);
  }
}

void record_part(const environment& part) noexcept {
  thread_context& context = this_thread();
  if (trace_ring* const ring = ring_of(context, part)) {
    ring->add(part.parent()->id(), trace_event::word(trace_kind::part, part.id()));
  }
}

void record_task_end(const environment& task, task_outcome outcome) noexcept {
  thread_context& context = this_thread();
  if (trace_ring* const ring = ring_of(context, task)) {
    add_named(*ring, time_of(context, *ring), trace_kind::task_end, task, outcome);
  }
}

void record_back(thread_context& context) noexcept {
  if (!is_recorded()) return;
  if (trace_ring* const ring = context.own_ring) {
    ring->add(time_of(context, *ring), trace_event::word(trace_kind::back, 0));
  }
}

void recorded_job::end() noexcept {
  in_->add(time_of(context_, *in_), trace_event::word(trace_kind::end, 0));
}

recorded_here::recorded_here(const recorded_thread& who) noexcept : before_(this_thread().role) {
  this_thread().role = &who;
  this_thread().ring = nullptr;
}

recorded_here::~recorded_here() {
  this_thread().role = before_;
  this_thread().ring = nullptr;
}

void record_stall(tandem::runtime& owner) noexcept {
  if (is_recorded()) recorder_of(owner).stalled();
}

void record_loop(trace_kind what, std::uint64_t first, std::uint64_t second) noexcept {
  thread_context& context = this_thread();
  trace_ring* ring = context.ring;
  if (ring == nullptr) {
    ring = context.role != nullptr ? find_ring(context, recorder_of(context.role->of)) : nullptr;
    if (ring == nullptr) return;
  }
  ring->add(time_of(context, *ring), trace_event::word(what, second << trace_half_bits | first));
}

}  // namespace tandem::inline v0::detail
