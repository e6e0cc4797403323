// option_check.hpp: whether a completion pool can be set up as its options say.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/completion_options.hpp>

namespace tandem::inline v0::io {

/// @returns  the options with everything that they leave open
/// @throws   std::invalid_argument with the name of the option that is wrong, and the rule
completion_options validated(completion_options options);

}  // namespace tandem::inline v0::io
