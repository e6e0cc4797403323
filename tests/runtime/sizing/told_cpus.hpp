// told_cpus.hpp: a number of CPUs that the environment says.
// SPDX-License-Identifier: MIT
#pragma once

#include "system.hpp"

namespace tandem::test {

class told_cpus {
 public:
  explicit told_cpus(const char* value) { set_variable("TANDEM_CPUS", value); }
  told_cpus(const told_cpus&) = delete;
  told_cpus& operator=(const told_cpus&) = delete;
  ~told_cpus() { unset_variable("TANDEM_CPUS"); }
};

}  // namespace tandem::test
