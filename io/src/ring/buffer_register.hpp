// buffer_register.hpp: which buffers are in flight, in builds with assertions.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/detail/operation.hpp>

namespace tandem::inline v0::io {

#if defined(NDEBUG)
inline void enter_buffers(detail::operation&) noexcept {}
inline void leave_buffers(detail::operation&) noexcept {}
#else
/// Owner: the operation goes to the backend, with its buffers as they are now.
void enter_buffers(detail::operation& operation) noexcept;
/// Owner: it has completed; before anything of it changes. Harmless if it was not entered. Aborts
/// if a buffer of it was freed meanwhile (seen under AddressSanitizer only).
void leave_buffers(detail::operation& operation) noexcept;
#endif

}  // namespace tandem::inline v0::io
