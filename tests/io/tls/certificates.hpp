// certificates.hpp: authorities of a test's own, and what they issue: all as PEM text.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tandem::test {

/// A certificate, with those between it and its root behind it, and its private key.
class made_identity {
 public:
  made_identity() = default;
  made_identity(std::string all, std::string private_key)
      : certificates(std::move(all)), key(std::move(private_key)) {}

  /// The certificate alone.
  std::string certificate() const;
  /// Its SHA-256, in hexadecimal: of the bytes that its PEM stands for.
  std::string fingerprint() const;

  std::string certificates;
  std::string key;
};

/// slow_rsa: 4096 bits, with which a signature takes milliseconds.
enum class key_kind : unsigned char { p256, rsa, slow_rsa };

/// From when to when something is valid, counted from now.
class validity {
 public:
  validity() noexcept = default;
  validity(std::chrono::seconds from, std::chrono::seconds to) noexcept : starts(from), ends(to) {}

  static validity over() noexcept { return {std::chrono::hours(-48), std::chrono::hours(-24)}; }
  static validity to_come() noexcept { return {std::chrono::hours(24), std::chrono::hours(48)}; }

  std::chrono::seconds starts = std::chrono::hours(-1);
  std::chrono::seconds ends = std::chrono::hours(24);
};

/// What a certificate is to say.
class issue_request {
 public:
  /// For this host.
  issue_request(std::string name = "localhost")  // NOLINT: authority.issue("example.org")
      : common_name(name), names{std::move(name)} {}
  issue_request(const char* name) : issue_request(std::string(name)) {}  // NOLINT: as above

  std::string common_name;
  std::vector<std::string> names;      ///< of hosts, "*.example.org" among them
  std::vector<std::string> addresses;  ///< "127.0.0.1", "::1"
  validity valid;
  key_kind key = key_kind::p256;
  std::string password;    ///< what the key's PEM is encrypted with; empty: it is not
  bool is_client = false;  ///< good for clients, and not for servers
};

/// Signs certificates and lists of revoked ones.
///
///     const test_authority authority;
///     const made_identity server = authority.issue("localhost");
class test_authority {
 public:
  /// A root, which signs itself.
  explicit test_authority(std::string name = "tandem test authority", validity valid = {});

  /// Its own, without those above it.
  const std::string& certificate() const noexcept;

  made_identity issue(const issue_request& request = {}) const;
  /// Another one, signed by this one. What it issues comes with its certificate.
  test_authority intermediate(std::string name = "tandem test intermediate",
                              validity valid = {}) const;
  /// A list of its own revoked certificates: of each text the first one.
  std::string revocation_list(const std::vector<std::string>& certificates,
                              validity valid = {}) const;

 private:
  class parts;
  explicit test_authority(std::shared_ptr<const parts> made) noexcept;

  std::shared_ptr<const parts> parts_;
};

/// A certificate that nobody but its own key has signed.
made_identity self_signed(const issue_request& request = {});

}  // namespace tandem::test
