// conninfo.hpp: what a connection string says, with the addresses of its hosts.
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tandem/task.hpp>
#include <vector>

namespace tandem::inline v0::io::postgres::detail {

class conninfo {
 public:
  /// With hosts, ports and names of the environment where the text has none.
  /// @throws  error (bad_option) in libpq's words
  explicit conninfo(const std::string& text);

  /// Empty: not given.
  std::string_view value(const std::string& keyword) const;
  /// Asks for the addresses of all hosts that are names, so that libpq need not.
  /// @throws  error (cannot_connect) if none has any
  task<void> resolve_hosts();
  /// A service file may name a host, which libpq then asks for itself.
  bool may_block() const noexcept { return may_block_; }
  /// connect_timeout; none: not given
  std::optional<std::chrono::milliseconds> limit() const;
  /// "db.example:5432, database shop, user ann"; never the password.
  std::string in_words() const;

  /// For PQconnectStartParams(); they point into this.
  std::vector<const char*> keywords() const;
  std::vector<const char*> values() const;

 private:
  std::map<std::string, std::string, std::less<>> given_;
  bool may_block_ = false;
};

}  // namespace tandem::inline v0::io::postgres::detail
