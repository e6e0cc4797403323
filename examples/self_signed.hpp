// self_signed.hpp: a certificate that a program makes for itself, by OpenSSL.
// SPDX-License-Identifier: MIT
//
// For tries and tests. It is trusted by those only who were given it, and by nobody on the internet.
#pragma once

#include <string>
#include <vector>

/// Both as PEM.
class self_signed {
 public:
  /// A new key (P-256) and a certificate of it that is good for 30 days. It signs nothing else:
  /// whoever trusts it trusts whoever has this key, under these names.
  ///
  /// @param names  host names or IP addresses, at least one; the first one is its subject, too
  /// @throws       std::runtime_error with OpenSSL's reason; std::out_of_range: no name
  explicit self_signed(const std::vector<std::string>& names);

  std::string certificate;
  std::string key;
};
