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

#include <tandem/config.hpp>
#include <tandem/cpu_count.hpp>

namespace tandem::inline v0::detail {

/// How long an answer is good. Tests set it.
TANDEM_API extern std::atomic<std::int64_t> machine_look_ns;

/// One thread at a time.
class machine_watch {
 public:
  using clock = std::chrono::steady_clock;

  /// @param cpus  what it has started with
  explicit machine_watch(unsigned cpus) noexcept : cpus_(cpus), looked_at_(clock::now()) {}

  unsigned cpus() const noexcept { return cpus_; }
  /// @returns  how many CPUs there are now, if that is news and there was a look
  std::optional<unsigned> look(clock::time_point now) noexcept {
    const std::chrono::nanoseconds good_for(machine_look_ns.load(std::memory_order_relaxed));
    if (now - looked_at_ < good_for) return std::nullopt;
    looked_at_ = now;
    const unsigned seen = usable_cpus();
    if (seen == cpus_) return std::nullopt;
    cpus_ = seen;
    return seen;
  }

 private:
  unsigned cpus_;
  clock::time_point looked_at_;
};

}  // namespace tandem::inline v0::detail
