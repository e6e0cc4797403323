// resolve.cpp: getaddrinfo(), its errors and its results.
// SPDX-License-Identifier: MIT
#include <netdb.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <tandem/blocking.hpp>
#include <tandem/io/resolve.hpp>
#include <utility>

#include "net/socket_address.hpp"

namespace tandem::inline v0::io {

namespace {

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "resolve"; }
  std::string message(int code) const override { return ::gai_strerror(code); }
  std::error_condition default_error_condition(int code) const noexcept override {
    switch (code) {
      case EAI_NONAME:
#ifdef EAI_NODATA
      case EAI_NODATA:
      case EAI_ADDRFAMILY:
#endif
        return resolve_errc::host_not_found;
      case EAI_SERVICE: return resolve_errc::service_not_found;
      case EAI_AGAIN: return resolve_errc::try_again;
      case EAI_FAIL: return resolve_errc::failed;
      case EAI_MEMORY: return std::errc::not_enough_memory;
      default: return {code, *this};
    }
  }
};

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

/// What getaddrinfo() has found.
class answer {
 public:
  answer() noexcept = default;

  std::error_code error;
  std::vector<endpoint> found;
};

answer ask(const std::string& host, const std::string& service, int flags) {
  answer made;
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_protocol = IPPROTO_TCP;
  wanted.ai_flags = flags;
  addrinfo* first = nullptr;
  const int code = ::getaddrinfo(host.c_str(), service.c_str(), &wanted, &first);
  if (code != 0) {
    made.error = code == EAI_SYSTEM ? std::error_code(errno, std::generic_category())
                                    : std::error_code(code, resolve_category());
    return made;
  }
  try {
    for (const addrinfo* each = first; each != nullptr; each = each->ai_next) {
      if (each->ai_family != AF_INET && each->ai_family != AF_INET6) continue;
      socket_address address;
      std::memcpy(address.data(), each->ai_addr,
                  std::min<std::size_t>(each->ai_addrlen, *address.capacity()));
      made.found.push_back(address.to_endpoint());
    }
  } catch (...) {
    ::freeaddrinfo(first);
    throw;
  }
  ::freeaddrinfo(first);
  if (made.found.empty()) made.error = std::error_code(EAI_NONAME, resolve_category());
  return made;
}

bool is_name_error(const std::error_code& error) noexcept {
  return error == std::error_code(EAI_NONAME, resolve_category());
}

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

const std::error_category& resolve_category() noexcept {
  static const category only;
  return only;
}

std::error_condition make_error_condition(resolve_errc meaning) noexcept {
  static const condition_category only;
  return {static_cast<int>(meaning), only};
}

task<std::vector<endpoint>> resolve(std::string host, std::string service) {
  answer got;
  if (host.empty() || has_zero(host) || has_zero(service)) {
    got.error = std::error_code(EAI_NONAME, resolve_category());
  } else if (is_no_port(service)) {
    got.error = std::error_code(EAI_SERVICE, resolve_category());
  } else {
    got = ask(host, service, AI_NUMERICHOST | AI_NUMERICSERV);
    if (is_name_error(got.error)) {
      const auto look_up = [&host, &service] { return ask(host, service, AI_ADDRCONFIG); };
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
