// certificate.hpp: what stands in a certificate of OpenSSL's.
// SPDX-License-Identifier: MIT
#pragma once

#include <openssl/x509.h>

#include <string>
#include <tandem/io/tls/certificate_summary.hpp>

namespace tandem::inline v0::io::detail {

/// @param certificate  may be null: then the fields are empty
tls::certificate_summary summary_of(X509* certificate);

/// In words, for a message about it: who it is for, who has signed it, from when to when.
std::string described(X509* certificate);

}  // namespace tandem::inline v0::io::detail
