// export.hpp: TANDEM_API marks what the tandem_runtime library exports.
// SPDX-License-Identifier: MIT
//
// The libraries are compiled with hidden visibility. Mark non-template classes with out-of-line
// members, free functions defined in a .cpp, and every exception type (its type_info has to be one
// object for the whole process). Templates and inline functions need no mark.
//
// The build sets TANDEM_SHARED for a shared library and its users, and TANDEM_BUILDING_RUNTIME
// while the library itself is compiled; both matter on Windows only.
#pragma once

#if defined(_WIN32)
#if !defined(TANDEM_SHARED)
#define TANDEM_API
#elif defined(TANDEM_BUILDING_RUNTIME)
#define TANDEM_API __declspec(dllexport)
#else
#define TANDEM_API __declspec(dllimport)
#endif
#else
#define TANDEM_API [[gnu::visibility("default")]]
#endif
