// pool_decision.cpp: decisions of a pool in words.
// SPDX-License-Identifier: MIT
#include <array>
#include <cstdio>

#include <tandem/pool_decision.hpp>

namespace tandem::inline v0 {

const char* to_string(pool_action action) noexcept {
  switch (action) {
    case pool_action::inject: return "inject";
    case pool_action::retire: return "retire";
    case pool_action::change_goal: return "goal";
  }
  return "unknown";
}

const char* to_string(decision_reason reason) noexcept {
  switch (reason) {
    case decision_reason::work: return "work";
    case decision_reason::queue_full: return "queue_full";
    case decision_reason::warm_up: return "warm_up";
    case decision_reason::climb: return "climb";
    case decision_reason::hold: return "hold";
    case decision_reason::starvation: return "starvation";
    case decision_reason::blocking: return "blocking";
    case decision_reason::outside_change: return "outside_change";
    case decision_reason::keep_alive: return "keep_alive";
    case decision_reason::saturated: return "saturated";
    case decision_reason::stalled: return "stalled";
    case decision_reason::idle: return "idle";
    case decision_reason::connections: return "connections";
  }
  return "unknown";
}

std::string to_string(const pool_decision& decision) {
  std::string change;
  switch (decision.action) {
    case pool_action::inject: change = "+1"; break;
    case pool_action::retire: change = "-1"; break;
    case pool_action::change_goal:
      change = std::to_string(decision.old_goal) + "->" + std::to_string(decision.new_goal);
      break;
  }
  std::array<char, 40> seconds{};
  std::snprintf(seconds.data(), seconds.size(), "%.2f",
                std::chrono::duration<double>(decision.when).count());
  return std::string(to_string(decision.action)) + ' ' + change +
         " n=" + std::to_string(decision.threads) + " reason=" + to_string(decision.reason) +
         " t=" + seconds.data() + 's';
}

}  // namespace tandem::inline v0
