// gather_choice.hpp: whether a completion thread may gather for busy workers before it asks its ring again.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace tandem::inline v0::io {

/// ring_sleep/gather. Counts what a round has brought, and for whom. The owner's.
class gather_choice {
 public:
  /// @param workers_fill_cpus  whether there are as many workers as CPUs: else it never gathers
  explicit gather_choice(bool workers_fill_cpus) noexcept : workers_fill_cpus_(workers_fill_cpus) {}

  void brought_to_workers(std::size_t tasks) noexcept { brought_ += tasks; }
  void brought_to_own_tasks() noexcept { stayed_ = true; }

  /// Before it sleeps. Whoever has brought nothing for its own tasks lately has most likely none
  /// that wait for the ring. Begins to count anew.
  bool decide() noexcept {
    const bool may = workers_fill_cpus_ && brought_ >= least_gathered && !stayed_;
    brought_ = 0;
    stayed_ = false;
    return may;
  }

 private:
  static constexpr std::size_t least_gathered = 4;

  const bool workers_fill_cpus_;
  std::size_t brought_ = 0;  // to the workers since it slept
  bool stayed_ = false;      // something was for its own threads
};

}  // namespace tandem::inline v0::io
