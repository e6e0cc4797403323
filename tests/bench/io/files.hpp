// files.hpp: the cases of suite io that read files.
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "bench.hpp"

namespace tandem::bench {

std::vector<bench_case> file_cases();

}  // namespace tandem::bench
