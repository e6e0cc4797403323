// pollable_handle.hpp: what event loops of the operating system wait for.
// SPDX-License-Identifier: MIT
#pragma once

namespace tandem::inline v0 {

/// A descriptor for poll, epoll and select; on Windows a handle for WaitForMultipleObjects and
/// MsgWaitForMultipleObjects.
#if defined(_WIN32)
using pollable_handle = void*;
#else
using pollable_handle = int;
#endif

}  // namespace tandem::inline v0
