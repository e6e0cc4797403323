// tls.hpp: TLS over any stream of bytes, by OpenSSL. Component tandem::io_tls.
// SPDX-License-Identifier: MIT
#pragma once

#include <tandem/io/tls/accepting.hpp>
#include <tandem/io/tls/certificate_summary.hpp>
#include <tandem/io/tls/context.hpp>
#include <tandem/io/tls/errors.hpp>
#include <tandem/io/tls/export.hpp>
#include <tandem/io/tls/handshake.hpp>
#include <tandem/io/tls/options.hpp>
#include <tandem/io/tls/tls_stream.hpp>
