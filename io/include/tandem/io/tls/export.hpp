// export.hpp: TANDEM_IO_TLS_API marks what the tandem_io_tls library exports.
// SPDX-License-Identifier: MIT
//
// The same rules as <tandem/export.hpp>.
#pragma once

#if defined(_WIN32)
#if !defined(TANDEM_SHARED)
#define TANDEM_IO_TLS_API
#elif defined(TANDEM_BUILDING_IO_TLS)
#define TANDEM_IO_TLS_API __declspec(dllexport)
#else
#define TANDEM_IO_TLS_API __declspec(dllimport)
#endif
#else
#define TANDEM_IO_TLS_API [[gnu::visibility("default")]]
#endif
