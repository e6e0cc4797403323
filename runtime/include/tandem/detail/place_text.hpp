// place_text.hpp: a place in the source, for people.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <source_location>
#include <string>

#include <tandem/config.hpp>
#include <tandem/export.hpp>

namespace tandem::inline v0::detail {

// @throws std::bad_alloc

/// A function as std::source_location has it, without what only compilers need.
std::string function_text(std::string name);
/// "file.cpp:12 in f()"; the function is left out where the compiler gives none.
/// "a place that is not known" for line 0.
std::string place_text(const char* file, std::uint32_t line, const char* function);
TANDEM_API std::string place_text(const std::source_location& where);

}  // namespace tandem::inline v0::detail
