// simulated_machine.hpp: workers that compute on shared CPUs and wait, on simulated time.
// SPDX-License-Identifier: MIT
//
// Processor sharing: n computing workers on k CPUs each get min(1, k / n) of one. All of them
// progress alike, so a worker's end is known in *service* (what one worker has been given since the
// beginning) when it starts, whoever comes and goes later; a heap orders them by it. Waits are
// ordered by time. Knows nothing of tandem.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace tandem::test {

class simulated_machine {
 public:
  simulated_machine(unsigned cpus, std::uint64_t seed) noexcept : cpus_(cpus), random_(seed) {}

  double now() const noexcept { return now_; }
  unsigned cpus() const noexcept { return cpus_; }
  /// CPU time used so far, of all CPUs together.
  double busy_seconds() const noexcept { return busy_; }

  void compute(unsigned worker, double seconds);
  void wait(unsigned worker, double seconds);

  /// What happened first, at now().
  enum class event : unsigned char { nothing, computed, waited };
  /// Lets time pass until a worker's part ends, at most until `limit`.
  event next(double limit, unsigned& worker);

  /// Uniform in [0, 1).
  double uniform() noexcept;
  /// `mean`, give or take `deviation` of it (relative standard deviation, at most a half).
  double noisy(double mean, double deviation) noexcept;
  /// Time to the next event of a Poisson process.
  double exponential(double mean) noexcept;

 private:
  using end = std::pair<double, unsigned>;  // when, and who
  void pass(double seconds) noexcept;
  double share() const noexcept;

  unsigned cpus_;
  std::uint64_t random_;
  double now_ = 0;
  double service_ = 0;
  double busy_ = 0;
  std::vector<end> computing_;  // heaps, the earliest end on top
  std::vector<end> waiting_;
};

}  // namespace tandem::test
