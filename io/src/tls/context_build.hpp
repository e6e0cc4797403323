// context_build.hpp: options, checked and given to OpenSSL.
// SPDX-License-Identifier: MIT
//
// Each function takes what failures begin with, and throws tls::error (bad_option) that names the
// option, or the file.
#pragma once

#include <string>
#include <tandem/io/tls/options.hpp>
#include <vector>

#include "tls/generation.hpp"
#include "tls/handles.hpp"

namespace tandem::inline v0::io::detail {

/// What is written there may go on in a line: "client_options: minimum_version is above ...".
[[noreturn]] void refuse_option(const std::string& text);

/// @param method  TLS_client_method() or TLS_server_method()
context_handle make_context(const SSL_METHOD* method, const tls_generation& of);
/// Versions, ciphers, suites, groups, protocols.
void apply_language(SSL_CTX* context, const tls::shared_options& options);
/// Whom to trust, and what was revoked.
void apply_trust(SSL_CTX* context, const tls::shared_options& options);
/// A certificate, its chain and its key. @returns the certificate
certificate_handle apply_identity(SSL_CTX* context, const tls::identity& shown);
/// For callbacks about a peer's chain. @returns whose it is
SSL* connection_of(X509_STORE_CTX* chain) noexcept;
/// Checks a chain, as OpenSSL does; the engine learns which certificate of it was refused.
int check_chain(X509_STORE_CTX* chain, void* unused) noexcept;
/// As ALPN has them.
std::string wire_form(const std::vector<std::string>& protocols);

/// All certificates of a text. @throws tls::error (bad_option): none, or one that is broken
std::vector<certificate_handle> certificates_of(const tls::pem& source);

}  // namespace tandem::inline v0::io::detail
