// transaction_state.hpp: a transaction that is under way, and its turn.
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <tandem/io/sqlite/calls.hpp>
#include <tandem/io/sqlite/transaction.hpp>
#include <tandem/mutex.hpp>
#include <tandem/task.hpp>

#include "sqlite/core.hpp"

namespace tandem::inline v0::io::sqlite::detail {

class transaction_state final : public call_target {
 public:
  /// Of one that is about to begin. @throws  std::bad_alloc
  transaction_state(std::shared_ptr<core> of, mutex_guard turn);
  ~transaction_state() override;

  task<void> run(access how, call_ref call) override;
  task<void> begin();
  task<void> commit();
  task<void> roll_back();
  /// Rolls back on this thread what has not been ended: a short wait, where memory or threads are short.
  void end_here() noexcept;

  const call_marks& mark() const noexcept { return mark_; }

 private:
  void let_go() noexcept;

  const std::shared_ptr<core> of_;
  mutex_guard turn_;  // gone: it has ended
  call_marks mark_;
  mutex one_at_a_time_;  // its statements, and its end
};

}  // namespace tandem::inline v0::io::sqlite::detail
