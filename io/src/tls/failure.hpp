// failure.hpp: what OpenSSL says of a failure, as tandem's errors.
// SPDX-License-Identifier: MIT
//
// OpenSSL keeps its errors in a queue of the thread: whoever calls it clears the queue before, and
// looks at it on the same thread, before the lock of the connection goes.
#pragma once

#include <openssl/ssl.h>

#include <exception>
#include <string>
#include <tandem/io/tls/errors.hpp>

namespace tandem::inline v0::io::detail {

/// What a step of a connection has failed by. Empties the queue.
///
/// @param what      what was tried, as "tls::connect to example.org"
/// @param refused   the certificate that was not accepted, in words, if that is what it is
/// @param is_first  nothing of the peer was understood yet: it may not speak TLS at all
std::exception_ptr failure_of(SSL* connection, const std::string& what, const std::string& refused,
                              bool is_first);

/// @throws  tls::error of that code: `what`, and the reason in the queue, which is emptied
[[noreturn]] void throw_tls(tls::errc code, const std::string& what);

}  // namespace tandem::inline v0::io::detail
