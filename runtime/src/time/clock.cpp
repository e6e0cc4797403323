// clock.cpp: the current task's clock.
// SPDX-License-Identifier: MIT
#include <tandem/clock.hpp>

#include <tandem/detail/timer_service.hpp>
#include <tandem/environment.hpp>
#include <tandem/runtime.hpp>

namespace tandem::inline v0 {

std::chrono::steady_clock::time_point now() noexcept {
  const environment* const env = current_environment();
  if (env == nullptr || env->runtime() == nullptr) return std::chrono::steady_clock::now();
  return detail::timers_of(*env->runtime()).now();
}

}  // namespace tandem::inline v0
