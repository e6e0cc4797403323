// thread_options.cpp: CPUs that there are, and those that there are not.
// SPDX-License-Identifier: MIT
#include <tandem/thread_options.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

#include "platform/cpus.hpp"
#include "process/enumerators.hpp"

namespace tandem::inline v0 {

namespace {

/// "0-3, 6": as lists of CPUs are written.
std::string list_of(const std::vector<unsigned>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) ++last;
    text += (text.empty() ? "" : ", ") + std::to_string(cpus[i]);
    if (last != i) text += "-" + std::to_string(cpus[last]);
    i = last + 1;
  }
  return text;
}

}  // namespace

const char* to_string(cpu_placement placement) noexcept {
  switch (placement) {
    case cpu_placement::anywhere: return "anywhere";
    case cpu_placement::within: return "within";
    case cpu_placement::one_each: return "one_each";
  }
  return "unknown";
}

thread_options::thread_options() = default;

void thread_options::validate() const {
  if (placement > cpu_placement::one_each) {
    throw std::invalid_argument("runtime_options::threads.placement: " +
                                detail::no_enumerator(placement, "cpu_placement"));
  }
  if (placement == cpu_placement::anywhere) {
    if (cpus.empty()) return;
    throw std::invalid_argument(
        "runtime_options::threads.cpus is set, but threads.placement is anywhere: `within` and "
        "`one_each` use it");
  }
  if (cpus.empty()) {
    throw std::invalid_argument(std::string("runtime_options::threads.placement is ") +
                                to_string(placement) + ", which needs threads.cpus");
  }
  const std::vector<unsigned> allowed = platform::allowed_cpus();
  if (allowed.empty()) {
    throw std::invalid_argument(std::string("runtime_options::threads.placement is ") +
                                to_string(placement) + ", but this system places no threads");
  }
  for (const unsigned cpu : cpus) {
    if (std::find(allowed.begin(), allowed.end(), cpu) != allowed.end()) continue;
    throw std::invalid_argument("runtime_options::threads.cpus names CPU " + std::to_string(cpu) +
                                ": this process may use " + list_of(allowed));
  }
}

}  // namespace tandem::inline v0
