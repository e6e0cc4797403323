// resolve.cpp: from names to endpoints.
// SPDX-License-Identifier: MIT
#include <charconv>
#include <cstdint>
#include <tandem/blocking.hpp>
#include <tandem/io/resolve.hpp>
#include <utility>

#include "platform/names.hpp"

namespace tandem::inline v0::io {

namespace {

class condition_category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "resolve condition"; }
  std::string message(int code) const override {
    switch (static_cast<resolve_errc>(code)) {
      case resolve_errc::host_not_found: return "host not found";
      case resolve_errc::service_not_found: return "service not found";
      case resolve_errc::try_again: return "no name server answered";
      case resolve_errc::failed: return "a name server failed";
    }
    return "unknown";
  }
};

/// A text that the system would read only up to its first zero names somebody else.
bool has_zero(const std::string& text) noexcept { return text.find('\0') != std::string::npos; }

/// A number that is no port. The system would take its last 16 bits, and digits after blanks or a
/// sign.
bool is_no_port(const std::string& service) noexcept {
  if (service.empty() || service.find_first_not_of("0123456789+ \t\n\v\f\r") != std::string::npos)
    return false;  // a name
  std::uint16_t port = 0;
  const char* const last = service.data() + service.size();
  const auto [stopped, error] = std::from_chars(service.data(), last, port);
  return error != std::errc{} || stopped != last;
}

}  // namespace

const std::error_category& resolve_category() noexcept { return platform::name_category(); }

std::error_condition make_error_condition(resolve_errc meaning) noexcept {
  static const condition_category only;
  return {static_cast<int>(meaning), only};
}

task<std::vector<endpoint>> resolve(std::string host, std::string service) {
  platform::found_names got;
  if (host.empty() || has_zero(host) || has_zero(service)) {
    got.error = platform::host_not_found();
  } else if (is_no_port(service)) {
    got.error = platform::service_not_found();
  } else {
    got = platform::look_up(host, service, false);
    if (got.error == platform::host_not_found()) {
      const auto look_up = [&host, &service] { return platform::look_up(host, service, true); };
      got = co_await blocking(look_up);
    }
  }
  if (got.error) {
    throw std::system_error(got.error, "tandem::io::resolve \"" + host + "\", \"" + service + "\"");
  }
  co_return std::move(got.found);
}

task<std::vector<endpoint>> resolve(std::string host, std::uint16_t port) {
  return resolve(std::move(host), std::to_string(port));
}

}  // namespace tandem::inline v0::io
