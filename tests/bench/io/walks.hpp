// walks.hpp: the cases of suite io that walk trees of directories.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "bench.hpp"

namespace tandem::bench {

std::vector<bench_case> walk_cases();

}  // namespace tandem::bench
