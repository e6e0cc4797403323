// suppressed.hpp: failures that nobody is left to hear of.
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>

#include <tandem/runtime.hpp>

namespace tandem::inline v0::detail {

/// An earlier failure has overtaken this one, or a hook has thrown it: tells
/// runtime_options::on_suppressed_exception, else standard error.
void suppressed(const runtime_options& options, const std::exception_ptr& failure) noexcept;

}  // namespace tandem::inline v0::detail
