// finally.cpp: what becomes of a clean-up's failure.
// SPDX-License-Identifier: MIT
#include <tandem/finally.hpp>

#include "runtime/runtime_impl.hpp"

namespace tandem::inline v0::detail {

void conclude_clean_up(bool body_failed, std::exception_ptr&& failure) {
  if (!body_failed) std::rethrow_exception(std::move(failure));
  // Even a cancellation: nobody but its own grace period stops a clean-up, so it was cut short.
  current_environment()->runtime()->implementation().suppressed(failure);
  failure = nullptr;
}

}  // namespace tandem::inline v0::detail
