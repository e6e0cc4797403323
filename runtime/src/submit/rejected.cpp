// rejected.cpp: what a rejection says.
// SPDX-License-Identifier: MIT
#include <tandem/rejected.hpp>

#include <string>
#include <utility>

#include <tandem/detail/place_text.hpp>

namespace tandem::inline v0 {

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
  std::string text = "the task submitted at " + detail::place_text(what.submitted_at);
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
