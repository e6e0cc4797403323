// environment_options.hpp: options that come from environment variables.
// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

#include <tandem/config.hpp>

namespace tandem::inline v0::detail {

/// What stands in the variable `name`, as long as nobody sets it anew; `otherwise` if it is unset or
/// empty.
TANDEM_API std::string_view text_from_environment(const char* name, std::string_view otherwise);

/// The whole number in the variable `name`; `otherwise` if it is unset or empty.
///
/// @throws  std::invalid_argument naming the variable if it is no whole number of at least 1
TANDEM_API unsigned count_from_environment(const char* name, unsigned otherwise);

/// Whether the variable `name` is "on"; `otherwise` if it is unset or empty.
///
/// @throws  std::invalid_argument naming the variable if it is neither "on" nor "off"
TANDEM_API bool switch_from_environment(const char* name, bool otherwise);

}  // namespace tandem::inline v0::detail
