// export.hpp: TANDEM_IO_SQLITE_API marks what the tandem_io_sqlite library exports.
// SPDX-License-Identifier: MIT
//
// The same rules as <tandem/export.hpp>.
#pragma once

#if defined(_WIN32)
#if !defined(TANDEM_SHARED)
#define TANDEM_IO_SQLITE_API
#elif defined(TANDEM_BUILDING_IO_SQLITE)
#define TANDEM_IO_SQLITE_API __declspec(dllexport)
#else
#define TANDEM_IO_SQLITE_API __declspec(dllimport)
#endif
#else
#define TANDEM_IO_SQLITE_API [[gnu::visibility("default")]]
#endif
