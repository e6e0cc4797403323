// machine_watch.hpp: notices that the process may use more CPUs, or fewer, than before.
// SPDX-License-Identifier: MIT
//
// A look reads a few files, so there is one in some seconds, and only while something is awake:
// whoever is awake asks. Step sizing/follow: README.md beside this.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include <tandem/config.hpp>
#include <tandem/cpu_count.hpp>

namespace tandem::inline v0::detail {

/// How long an answer is good. Tests set it.
TANDEM_API extern std::atomic<std::int64_t> machine_look_ns;

/// One thread at a time.
class machine_watch {
 public:
  using clock = std::chrono::steady_clock;

  machine_watch() noexcept
      : is_told_(cpus_are_told()), seen_(cpus_of_machine()), looked_at_(clock::now()) {}

  /// Whether they are what a quota leaves, at the last look.
  bool has_quota() const noexcept { return !is_told_ && seen_.has_quota; }

  /// @returns  how many CPUs there are now, if that is news and there was a look
  std::optional<unsigned> look(clock::time_point now) noexcept {
    const std::chrono::nanoseconds good_for(machine_look_ns.load(std::memory_order_relaxed));
    if (is_told_ || now - looked_at_ < good_for) return std::nullopt;
    looked_at_ = now;
    const unsigned before = std::exchange(seen_, cpus_of_machine()).usable;
    if (seen_.usable == before) return std::nullopt;
    return seen_.usable;
  }

 private:
  const bool is_told_;
  machine_cpus seen_;
  clock::time_point looked_at_;
};

}  // namespace tandem::inline v0::detail
