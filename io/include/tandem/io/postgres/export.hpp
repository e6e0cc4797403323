// export.hpp: TANDEM_IO_POSTGRES_API marks what the tandem_io_postgres library exports.
// SPDX-License-Identifier: MIT
//
// The same rules as <tandem/export.hpp>.
#pragma once

#if defined(_WIN32)
#if !defined(TANDEM_SHARED)
#define TANDEM_IO_POSTGRES_API
#elif defined(TANDEM_BUILDING_IO_POSTGRES)
#define TANDEM_IO_POSTGRES_API __declspec(dllexport)
#else
#define TANDEM_IO_POSTGRES_API __declspec(dllimport)
#endif
#else
#define TANDEM_IO_POSTGRES_API [[gnu::visibility("default")]]
#endif
