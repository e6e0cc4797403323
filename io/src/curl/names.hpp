// names.hpp: the addresses of hosts, by io::resolve, kept for a while.
// SPDX-License-Identifier: MIT
//
// curl's own resolver starts a thread for each name, and waits for it where a transfer is broken off.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tandem/mutex.hpp>
#include <tandem/task.hpp>

namespace tandem::inline v0::io::curl {

/// A host that has to be looked up, and the port for which curl will ask.
class host_name {
 public:
  host_name(std::string name, std::string number, bool proxy)
      : host(std::move(name)), port(std::move(number)), is_proxy(proxy) {}
  std::string host;
  std::string port;
  bool is_proxy;
};

/// @param proxy  empty, or the proxy: then it is its name
/// @returns      none if it is a number, or one that curl knows by itself (localhost), or leaves to
///               others (names that are not of ASCII)
/// @throws       curl::error (bad_url; bad_option for the proxy)
std::optional<host_name> name_to_ask(const std::string& url, const std::string& proxy);

/// @throws  curl::error (bad_option)
void check_proxy(const std::string& proxy);

/// On the session's thread only.
class name_cache {
 public:
  explicit name_cache(std::chrono::seconds keep) noexcept : keep_(keep) {}

  /// @param limit  of the look-up
  /// @returns      as curl wants it: "+host:port:address,address"
  /// @throws       curl::error (could_not_resolve, timed_out); operation_cancelled
  task<std::string> find(const host_name& name, std::chrono::milliseconds limit,
                         std::string_view url);

  std::uint64_t asked() const noexcept { return asked_; }

 private:
  class entry {
   public:
    mutex one_asks;
    std::string line;
    std::chrono::steady_clock::time_point since;
  };
  void forget_old();

  std::chrono::seconds keep_;
  std::map<std::string, std::shared_ptr<entry>, std::less<>> entries_;
  std::uint64_t asked_ = 0;
};

}  // namespace tandem::inline v0::io::curl
