// submission_options.cpp: names and limits.
// SPDX-License-Identifier: MIT
#include <tandem/submission_options.hpp>

#include <stdexcept>
#include <string>

#include <tandem/pool_options.hpp>

#include "process/enumerators.hpp"

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

}  // namespace tandem::inline v0
