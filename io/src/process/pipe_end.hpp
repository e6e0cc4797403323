// pipe_end.hpp: which completion thread an end of a pipe has.
// SPDX-License-Identifier: MIT
#pragma once

#include <system_error>
#include <tandem/io/completion_pool.hpp>
#include <tandem/io/detail/socket.hpp>
#include <tandem/io/native_descriptor.hpp>

namespace tandem::inline v0::io {

/// processes/port
///
/// @param error  set if it cannot be served: then it is the caller's still, and nothing is returned
detail::socket serve_pipe(completion_pool& pool, native_descriptor descriptor,
                          std::error_code& error) noexcept;

}  // namespace tandem::inline v0::io
