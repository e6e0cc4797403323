// metric_family.cpp: kinds of metrics, and histograms of durations as such.
// SPDX-License-Identifier: MIT
#include <tandem/metric_family.hpp>

#include <chrono>
#include <cstddef>

namespace tandem::inline v0 {

const char* to_string(metric_kind kind) noexcept {
  switch (kind) {
    case metric_kind::counter: return "counter";
    case metric_kind::gauge: return "gauge";
    case metric_kind::histogram: return "histogram";
  }
  return "untyped";
}

metric_histogram::metric_histogram(const duration_histogram& times)
    : counts(times.counts.begin(), times.counts.end()),
      sum(std::chrono::duration<double>(times.sum).count()) {
  for (std::size_t i = 0; i + 1 < duration_histogram::bucket_count; ++i) {
    const std::chrono::duration<double> bound = duration_histogram::upper_bound(i);
    bounds.push_back(bound.count());
  }
}

}  // namespace tandem::inline v0
