// completion_metrics.hpp: what the numbers of a completion pool are called.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/completion_pool.hpp>
#include <tandem/metric_family.hpp>
#include <vector>

namespace tandem::inline v0::io {

void append_completion_metrics(const completion_pool_stats& now, std::vector<metric_family>& out);

}  // namespace tandem::inline v0::io
