// controlled_pool.hpp: what the control of a pool asks of it.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/pool_decision.hpp>

#include "crew/busy_word.hpp"
#include "crew/pool_limits.hpp"
#include "starvation/starving_pool.hpp"

namespace tandem::inline v0::detail {

/// What it only looks at. The pool has them, and outlives its control.
struct controlled_parts : starving_parts {
  const busy_word& word;
  const pool_limits& limits;
};

/// Any thread. None of it is asked often.
class controlled_pool : public starving_pool {
 public:
  virtual bool anything_queued() const noexcept = 0;
  virtual void wake_one() noexcept = 0;
  /// crew/goal. So many more (or less) workers may be busy from now on. Without any lock.
  virtual void change_target(int by) noexcept = 0;
  /// sizing/follow. There are so many usable CPUs now. Without any lock.
  ///
  /// @returns  false if it has to be told again
  virtual bool follow_machine(unsigned cpus) noexcept = 0;
  /// For decisions().
  virtual void note(pool_action action, decision_reason reason, unsigned old_goal,
                    unsigned new_goal, double throughput, double cpu) noexcept = 0;

 protected:
  ~controlled_pool() = default;
};

}  // namespace tandem::inline v0::detail
