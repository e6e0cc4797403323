// finally.cpp: what becomes of a clean-up's failure.
// SPDX-License-Identifier: MIT
#include <tandem/finally.hpp>

#include "process/suppressed.hpp"

namespace tandem::inline v0::detail {

void conclude_clean_up(bool body_failed, std::exception_ptr&& failure) {
  if (!body_failed) std::rethrow_exception(std::move(failure));
  report_clean_up(failure);
  failure = nullptr;
}

void report_clean_up(const std::exception_ptr& failure) noexcept {
  // Even a cancellation: nobody but its own grace period stops a clean-up, so it was cut short.
  suppressed(current_environment()->runtime()->options(), failure);
}

}  // namespace tandem::inline v0::detail
