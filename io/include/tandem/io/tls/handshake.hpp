// handshake.hpp: makes an encrypted connection out of a plain one: tls::connect, tls::accept.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <tandem/io/any_stream.hpp>
#include <tandem/io/tls/context.hpp>
#include <tandem/io/tls/errors.hpp>
#include <tandem/io/tls/export.hpp>
#include <tandem/io/tls/tls_stream.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::io::tls {

/// The client's side. The certificate is checked against whom the context trusts, and against `name`.
///
///     auto stream = co_await tls::connect(co_await tcp_stream::connect("example.org", 443),
///                                         "example.org");
///
/// @param stream        any byte_stream, at which TLS begins now; it is closed if this fails
/// @param name          whom one wants to talk to: a host name, which is sent along (SNI), or an IP
///                      address, which is not
/// @param context       a client_context, or client_options (which makes a context of its own each
///                      time); left out: the defaults, which the process shares
/// @returns             the connection; the server has proved who it is by then. With TLS 1.3 a server
///                      that refuses the client's certificate, or misses one, says so at the first read
/// @throws              tls::error: wrong_name, expired, unknown_authority, not_tls, truncated, ...;
///                      what the stream throws; operation_cancelled; std::logic_error outside any task
/// @cancellation        the stream is closed; the peer sees a truncation. with_timeout() around it is
///                      right: a peer may be silent
/// @resumes_on          the caller's home
/// @cost                an allocation of some 2.5 KiB beside OpenSSL's
/// @source              RFC 8446; RFC 6125 for the name
TANDEM_IO_TLS_API task<tls_stream> connect(any_stream stream, std::string name,
                                           client_context context = client_context());

/// The server's side: waits for a client's first message, and answers.
///
/// @param stream        any byte_stream, at which TLS begins now; it is closed if this fails
/// @throws              as connect(); no_certificate, no_common_protocol, ...
/// @cancellation        the stream is closed
/// @resumes_on          the caller's home
TANDEM_IO_TLS_API task<tls_stream> accept(any_stream stream, server_context context);

}  // namespace tandem::inline v0::io::tls
