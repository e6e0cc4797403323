// border.cpp: an environment between a caller and one child.
// SPDX-License-Identifier: MIT
#include <tandem/detail/border.hpp>

#include <tandem/detail/promise_base.hpp>

namespace tandem::inline v0::detail {

void border::open(promise_base& parent, const environment_kind& kind, const void* part) noexcept {
  if (kind_ == border_kind::open) {
    std::construct_at(&env_, *parent.env, parent.home, kind, part);
    return;
  }
  std::construct_at(&env_);
  env_.set_kind(kind, part);
  env_.start_apart(*parent.env);
  env_.set_home(parent.home);
  if (kind.linked != nullptr) kind.linked(env_);
}

void border::prepare(promise_base& child, promise_base& parent, outcome_base& result,
                     promise_base::final_function ended, void* of_ended) noexcept {
  child.start_below(env_, parent, result, ended, of_ended);
  child.segment = 0;
  this_thread().env = &env_;
}

std::coroutine_handle<> border::leave(promise_base& parent, const executor* home) noexcept {
  close();
  this_thread().env = parent.env;
  return continue_with(parent, home);
}

}  // namespace tandem::inline v0::detail
