// names.hpp: names of hosts and services.
// SPDX-License-Identifier: MIT
//
// Any thread. A failure is a std::error_code in what is returned; only std::bad_alloc is thrown.
#pragma once

#include <string>
#include <system_error>
#include <tandem/io/endpoint.hpp>
#include <vector>

namespace tandem::inline v0::io::platform {

/// Of the errors of these, but for error numbers of the system's; its codes compare to
/// resolve_errc.
const std::error_category& name_category() noexcept;
std::error_code host_not_found() noexcept;
std::error_code service_not_found() noexcept;

/// What look_up() has found.
class found_names {
 public:
  found_names() noexcept = default;

  std::error_code error;
  std::vector<endpoint> found;  ///< at least one if there is no error, else none
};

/// pre: no zero in either; `host` is not empty; a `service` of digits is a port
///
/// @param may_wait  asks name servers, and files, so it is for a thread of blocking(); else knows
///                  numbers only, to which all else is host_not_found(), and never waits
found_names look_up(const std::string& host, const std::string& service, bool may_wait);

/// What name_at() has found.
class found_host {
 public:
  found_host() noexcept = default;

  std::error_code error;
  std::string found;  ///< no text if there is an error
};

/// Asks name servers, and files, so it is for a thread of blocking().
found_host name_at(const endpoint& address);

}  // namespace tandem::inline v0::io::platform
