// report_suppressed.hpp: what becomes of a task's failure that another one has overtaken.
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>

#include <tandem/config.hpp>

namespace tandem::inline v0 {

class environment;

namespace detail {

/// Reports an exception that another one has overtaken, unless it is what a stop brought about.
TANDEM_API void report_suppressed(const environment& env,
                                  const std::exception_ptr& failure) noexcept;

}  // namespace detail
}  // namespace tandem::inline v0
