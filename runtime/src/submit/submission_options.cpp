// submission_options.cpp: names, limits, and what a rejection says.
// SPDX-License-Identifier: MIT
#include <tandem/submission_options.hpp>

#include <stdexcept>
#include <string>
#include <utility>

#include <tandem/pool_options.hpp>

#include "runtime/enumerators.hpp"

namespace tandem::inline v0 {

namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& why) {
  throw std::invalid_argument("runtime_options::" + option + ": " + why);
}

}  // namespace

const char* to_string(pool_state state) noexcept {
  switch (state) {
    case pool_state::running: return "running";
    case pool_state::shutdown: return "shutting down";
    case pool_state::stop: return "stopping";
    case pool_state::tidying: return "tidying";
    case pool_state::terminated: return "terminated";
  }
  return "unknown";
}

const char* to_string(queue_kind kind) noexcept {
  switch (kind) {
    case queue_kind::unbounded: return "unbounded";
    case queue_kind::bounded: return "bounded";
    case queue_kind::priority: return "priority";
    case queue_kind::rendezvous: return "rendezvous";
  }
  return "unknown";
}

const char* to_string(saturation_policy policy) noexcept {
  switch (policy) {
    case saturation_policy::abort: return "abort";
    case saturation_policy::caller_runs: return "caller_runs";
    case saturation_policy::discard: return "discard";
    case saturation_policy::discard_oldest: return "discard_oldest";
    case saturation_policy::handler: return "handler";
    case saturation_policy::suspend: return "suspend";
  }
  return "unknown";
}

const char* to_string(growth_order order) noexcept {
  switch (order) {
    case growth_order::demand: return "demand";
    case growth_order::queue_first: return "queue_first";
    case growth_order::threads_first: return "threads_first";
  }
  return "unknown";
}

submission_options::submission_options() = default;

void submission_options::validate() const {
  if (queue > queue_kind::rendezvous) {
    refuse("submissions.queue", detail::no_enumerator(queue, "queue_kind"));
  }
  if (when_saturated > saturation_policy::suspend) {
    refuse("submissions.when_saturated",
           detail::no_enumerator(when_saturated, "saturation_policy"));
  }
  if (capacity == 0) {
    refuse("submissions.capacity",
           "it is 0, and has to be at least 1; a pool without a queue is queue_kind::rendezvous");
  }
  if (queue == queue_kind::bounded && capacity == unlimited) {
    refuse("submissions.capacity", "queue_kind::bounded needs one");
  }
  if ((queue == queue_kind::unbounded || queue == queue_kind::rendezvous) &&
      capacity != unlimited) {
    refuse("submissions.capacity", std::string("it is set, but the queue is ") + to_string(queue) +
                                       ": bounded and priority queues have one");
  }
  if (when_saturated == saturation_policy::discard_oldest) {
    if (queue == queue_kind::priority) {
      refuse("submissions.when_saturated",
             "discard_oldest with a priority queue would drop the most urgent");
    }
    if (queue == queue_kind::rendezvous) {
      refuse("submissions.when_saturated",
             "discard_oldest needs a queue, and a rendezvous has none");
    }
  }
  if (when_saturated == saturation_policy::handler && !on_rejected) {
    refuse("submissions.on_rejected", "saturation_policy::handler needs it");
  }
  if (when_saturated != saturation_policy::handler && on_rejected) {
    refuse("submissions.on_rejected", std::string("it is set, but when_saturated is ") +
                                          to_string(when_saturated) +
                                          ": saturation_policy::handler calls it");
  }
}

const char* to_string(policy_obstacle what) noexcept {
  switch (what) {
    case policy_obstacle::none: return "";
    case policy_obstacle::other_executor:
      return "caller_runs: the caller is on a thread of another executor";
    case policy_obstacle::drives_timers: return "caller_runs: the caller's thread drives timers";
    case policy_obstacle::too_deep:
      return "caller_runs: eight submissions lie on the caller's stack already";
    case policy_obstacle::no_threads:
      return "caller_runs: the caller is outside a runtime without threads";
    case policy_obstacle::no_oldest: return "discard_oldest: only a bounded queue has one to drop";
  }
  return "unknown";
}

rejection::rejection(rejection_cause why, pool_state now, const std::source_location& where,
                     std::string pool)
    : cause(why), state(now), submitted_at(where), pool_name(std::move(pool)) {}

std::string to_string(const rejection& what) {
  std::string text = "the task submitted at ";
  text += what.submitted_at.file_name();
  text += ":" + std::to_string(what.submitted_at.line()) + " in ";
  text += what.submitted_at.function_name();
  text += " was refused: pool " + what.pool_name + " is " + to_string(what.state);
  if (what.cause == rejection_cause::full) text += " and full";
  text += " (" + std::to_string(what.threads) + " of " + std::to_string(what.max_threads) +
          " threads, " + std::to_string(what.queued) + " queued, " + std::to_string(what.waiting) +
          " wait for a place)";
  if (what.obstacle != policy_obstacle::none) {
    text += "; nothing else was possible: ";
    text += to_string(what.obstacle);
  }
  return text;
}

rejected::rejected(const rejection& what)
    : std::runtime_error(to_string(what)),
      cause_(what.cause),
      state_(what.state),
      obstacle_(what.obstacle),
      submitted_at_(what.submitted_at) {}
rejected::~rejected() = default;

}  // namespace tandem::inline v0
