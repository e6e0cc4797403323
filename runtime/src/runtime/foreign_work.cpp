// foreign_work.cpp: work of other libraries, counted and answered for as tasks are.
// SPDX-License-Identifier: MIT
#include <tandem/detail/foreign_work.hpp>

#include <tandem/runtime.hpp>

#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0::detail {

bool begin_foreign_work(executor& home) noexcept {
  if (home.counts_tasks() && !home.begin_task()) return false;
  home.owner()->implementation().task_started();
  return true;
}

void end_foreign_work(executor& home) noexcept {
  runtime& owner = *home.owner();
  if (home.counts_tasks()) home.end_task();
  owner.implementation().task_ended();
}

}  // namespace tandem::inline v0::detail
