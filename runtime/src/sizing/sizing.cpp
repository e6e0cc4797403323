// sizing.cpp: threads for a load.
// SPDX-License-Identifier: MIT
#include <tandem/sizing.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

namespace tandem::inline v0 {

namespace {

[[noreturn]] void refuse(const char* argument, const std::string& value, const char* range) {
  throw std::invalid_argument(std::string("recommended_threads: ") + argument + " is " + value +
                              ": it has to be " + range);
}

}  // namespace

unsigned recommended_threads() noexcept { return usable_cpus() + 1; }

unsigned recommended_threads(std::chrono::nanoseconds wait, std::chrono::nanoseconds compute,
                             double utilisation, unsigned cpus) {
  if (wait.count() < 0) refuse("wait", std::to_string(wait.count()) + " ns", "at least 0");
  if (compute.count() <= 0) refuse("compute", std::to_string(compute.count()) + " ns", "above 0");
  // Written so that NaN is refused, too.
  if (!(utilisation > 0 && utilisation <= 1)) {
    refuse("utilisation", std::to_string(utilisation), "above 0, at most 1");
  }
  if (cpus == 0) refuse("cpus", "0", "at least 1");
  const double ratio = static_cast<double>(wait.count()) / static_cast<double>(compute.count());
  const double exact = cpus * utilisation * (1 + ratio);
  // Less what rounding may have added: 10 x 0.7 is not 8.
  const double threads = std::ceil(exact * (1 - 1e-9));
  constexpr double most = std::numeric_limits<unsigned>::max();
  return static_cast<unsigned>(std::clamp(threads, 1.0, most));
}

}  // namespace tandem::inline v0
