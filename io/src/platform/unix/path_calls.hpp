// path_calls.hpp: the calls on paths that Linux has, and other systems in another form.
// SPDX-License-Identifier: MIT
//
// They answer as the system's calls do, with -1 and errno; all of them wait. Each system's folder
// has a file path_calls.cpp with them.
#pragma once

#include <tandem/io/detail/path_request.hpp>

namespace tandem::inline v0::io::platform {

/// @param answer  room for what status_from() takes
int status_at(int folder, const char* path, int flags, void* answer) noexcept;
/// @param flags  detail::path_flag
int rename_at(int from_folder, const char* from, int to_folder, const char* to, int flags) noexcept;

}  // namespace tandem::inline v0::io::platform
