// install.hpp: gives a runtime its completion pool.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/completion_pool.hpp>

namespace tandem::inline v0::io {

/// Makes the completion pool of `owner`; returns the one that is there on later calls.
///
///     tandem::runtime rt;
///     tandem::io::completion_options options;
///     options.min_threads = 2;
///     tandem::io::install(rt, options);
///
/// @throws         std::system_error with cause and cure if no backend can be set up;
///                 std::invalid_argument naming the option that is wrong
/// @thread_safety  any thread
TANDEM_IO_API completion_pool& install(runtime& owner,
                                       const completion_options& options = completion_options());

}  // namespace tandem::inline v0::io
