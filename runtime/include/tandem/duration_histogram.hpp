// duration_histogram.hpp: how long things took, in buckets of powers of two.
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

/// Counts of durations: one bucket for each power of two from 256 ns to 69 s, and one for all
/// above.
///
///     tandem::duration_histogram times;
///     times.add(std::chrono::seconds(1));
///     const auto alike = times.counts[tandem::duration_histogram::bucket_of(times.sum)];  // 1
class duration_histogram {
 public:
  static constexpr std::size_t bucket_count = 30;
  static constexpr unsigned first_exponent = 8;

  duration_histogram() noexcept = default;

  /// The highest duration of a bucket but the last, which has none.
  static constexpr std::chrono::nanoseconds upper_bound(std::size_t bucket) noexcept {
    return std::chrono::nanoseconds(std::int64_t{1} << (first_exponent + bucket));
  }
  /// Where a duration is counted; one below zero counts as none.
  static constexpr std::size_t bucket_of(std::chrono::nanoseconds time) noexcept {
    if (time <= upper_bound(0)) return 0;
    // The number of digits of time - 1 is the exponent of the lowest power that is not below time.
    const auto digits =
        static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(time.count()) - 1));
    return (std::min)(digits - first_exponent, bucket_count - 1);
  }

  /// Counts one more duration; one below zero adds nothing to the sum.
  void add(std::chrono::nanoseconds time) noexcept {
    ++counts[bucket_of(time)];
    sum += (std::max)(time, std::chrono::nanoseconds::zero());
  }
  /// Counts all that the other one has counted.
  void add(const duration_histogram& other) noexcept {
    for (std::size_t i = 0; i < bucket_count; ++i) counts[i] += other.counts[i];
    sum += other.sum;
  }
  /// How many durations were added.
  std::uint64_t count() const noexcept {
    std::uint64_t all = 0;
    for (const std::uint64_t each : counts) all += each;
    return all;
  }

  std::array<std::uint64_t, bucket_count> counts{};  ///< each bucket's own, not cumulative
  std::chrono::nanoseconds sum{};
};

}  // namespace tandem::inline v0
