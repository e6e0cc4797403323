// export.hpp: TANDEM_IO_API marks what the tandem_io library exports.
// SPDX-License-Identifier: MIT
//
// The same rules as <tandem/export.hpp>: mark non-template classes with out-of-line members, free
// functions defined in a .cpp, and every exception type.
#pragma once

#if defined(_WIN32)
#if !defined(TANDEM_SHARED)
#define TANDEM_IO_API
#elif defined(TANDEM_BUILDING_IO)
#define TANDEM_IO_API __declspec(dllexport)
#else
#define TANDEM_IO_API __declspec(dllimport)
#endif
#else
#define TANDEM_IO_API [[gnu::visibility("default")]]
#endif
