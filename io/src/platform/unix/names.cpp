// names.cpp: getaddrinfo() and getnameinfo(), their errors and results.
// SPDX-License-Identifier: MIT
#include "platform/names.hpp"

#include <netdb.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <tandem/io/resolve.hpp>

#include "platform/unix/socket_address.hpp"

namespace tandem::inline v0::io::platform {

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
#endif
#ifdef EAI_ADDRFAMILY
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

}  // namespace

const std::error_category& name_category() noexcept {
  static const category only;
  return only;
}

namespace {

/// Of a call that has just answered so. @returns  no error for 0
std::error_code error_of_answer(int code) noexcept {
  if (code == 0) return {};
  if (code == EAI_SYSTEM) return {errno, std::generic_category()};
  return {code, name_category()};
}

}  // namespace

std::error_code host_not_found() noexcept { return {EAI_NONAME, name_category()}; }
std::error_code service_not_found() noexcept { return {EAI_SERVICE, name_category()}; }

found_names look_up(const std::string& host, const std::string& service, bool may_wait) {
  found_names made;
  addrinfo wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_protocol = IPPROTO_TCP;
  wanted.ai_flags = may_wait ? AI_ADDRCONFIG : AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* first = nullptr;
  made.error = error_of_answer(::getaddrinfo(host.c_str(), service.c_str(), &wanted, &first));
  if (made.error) return made;
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
  if (made.found.empty()) made.error = host_not_found();
  return made;
}

found_host name_at(const endpoint& address) {
  const socket_address native(address);
  std::array<char, NI_MAXHOST> name{};
  found_host made;
  made.error = error_of_answer(::getnameinfo(native.data(), native.size(), name.data(), name.size(),
                                             nullptr, 0, NI_NAMEREQD));
  if (!made.error) made.found = name.data();
  return made;
}

}  // namespace tandem::inline v0::io::platform
