// planned_failure.hpp: what a test throws on purpose.
// SPDX-License-Identifier: MIT
#pragma once

#include <stdexcept>

namespace tandem::test {

struct planned_failure : std::runtime_error {
  planned_failure() : std::runtime_error("planned") {}
};

}  // namespace tandem::test
