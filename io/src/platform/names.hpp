// names.hpp: names of hosts and services.
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <system_error>
#include <tandem/io/endpoint.hpp>
#include <vector>

namespace tandem::inline v0::io::platform {

/// Of the errors of look_up(); its codes compare to resolve_errc.
const std::error_category& name_category() noexcept;
std::error_code host_not_found() noexcept;
std::error_code service_not_found() noexcept;

/// What look_up() has found.
class found_names {
 public:
  found_names() noexcept = default;

  std::error_code error;
  std::vector<endpoint> found;
};

/// pre: no zero in either
/// @param may_wait  asks name servers, and files; else knows numbers only, and never waits
found_names look_up(const std::string& host, const std::string& service, bool may_wait);

}  // namespace tandem::inline v0::io::platform
