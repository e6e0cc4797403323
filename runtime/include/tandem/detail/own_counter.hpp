// own_counter.hpp: a counter that one thread writes and any thread reads.
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

/// No locked operation: relaxed loads and stores of the one writer. Readers get a recent value.
class own_counter {
 public:
  void add(std::uint64_t n = 1) noexcept {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::uint64_t read() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_{0};
};

}  // namespace tandem::inline v0::detail
