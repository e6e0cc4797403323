// names.cpp: GetAddrInfoW() and GetNameInfoW(), their errors and results.
// SPDX-License-Identifier: MIT
#include "platform/names.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <tandem/io/resolve.hpp>

#include "platform/windows/socket_address.hpp"
#include "platform/windows/system.hpp"
#include "platform/windows/wide_text.hpp"

namespace tandem::inline v0::io::platform {

namespace {

class category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "resolve"; }
  std::string message(int code) const override {
    return error_of(windows_numbers + code).message();
  }
  std::error_condition default_error_condition(int code) const noexcept override {
    switch (code) {
      case WSAHOST_NOT_FOUND:
      case WSANO_DATA: return resolve_errc::host_not_found;
      case WSATYPE_NOT_FOUND: return resolve_errc::service_not_found;
      case WSATRY_AGAIN: return resolve_errc::try_again;
      case WSANO_RECOVERY: return resolve_errc::failed;
      case WSA_NOT_ENOUGH_MEMORY: return std::errc::not_enough_memory;
      default: return {code, *this};
    }
  }
};

/// @returns  no error for 0
std::error_code error_of_answer(int code) noexcept {
  if (code == 0) return {};
  const bool is_ours =
      name_category().default_error_condition(code) != std::error_condition(code, name_category());
  return is_ours ? std::error_code(code, name_category())
                 : error_of(number_of(static_cast<DWORD>(code)));
}

}  // namespace

const std::error_category& name_category() noexcept {
  static const category only;
  return only;
}

std::error_code host_not_found() noexcept { return {WSAHOST_NOT_FOUND, name_category()}; }
std::error_code service_not_found() noexcept { return {WSATYPE_NOT_FOUND, name_category()}; }

found_names look_up(const std::string& host, const std::string& service, bool may_wait) {
  found_names made;
  if (const int failure = start_sockets(); failure != 0) {
    made.error = error_of(failure);
    return made;
  }
  ADDRINFOW wanted{};
  wanted.ai_family = AF_UNSPEC;
  wanted.ai_socktype = SOCK_STREAM;
  wanted.ai_protocol = IPPROTO_TCP;
  wanted.ai_flags = may_wait ? AI_ADDRCONFIG : AI_NUMERICHOST | AI_NUMERICSERV;
  std::wstring wide_host;
  std::wstring wide_service;
  if (!to_wide(host, wide_host) || !to_wide(service, wide_service)) {
    made.error = host_not_found();  // no text: nobody's name
    return made;
  }
  ADDRINFOW* first = nullptr;
  const auto ask = [&] {
    return ::GetAddrInfoW(wide_host.c_str(), wide_service.c_str(), &wanted, &first);
  };
  int code = ask();
  if (may_wait && (code == WSAHOST_NOT_FOUND || code == WSANO_DATA)) {
    // Without a network even "localhost" has no address that AI_ADDRCONFIG lets pass.
    wanted.ai_flags = 0;
    code = ask();
  }
  made.error = error_of_answer(code);
  if (made.error) return made;
  try {
    for (const ADDRINFOW* each = first; each != nullptr; each = each->ai_next) {
      if (each->ai_family != AF_INET && each->ai_family != AF_INET6) continue;
      socket_address address;
      std::memcpy(
          address.data(), each->ai_addr,
          std::min<std::size_t>(each->ai_addrlen, static_cast<std::size_t>(*address.capacity())));
      made.found.push_back(address.to_endpoint());
    }
  } catch (...) {
    ::FreeAddrInfoW(first);
    throw;
  }
  ::FreeAddrInfoW(first);
  if (made.found.empty()) made.error = host_not_found();
  return made;
}

found_host name_at(const endpoint& address) {
  found_host made;
  if (const int failure = start_sockets(); failure != 0) {
    made.error = error_of(failure);
    return made;
  }
  const socket_address native(address);
  std::array<wchar_t, NI_MAXHOST> name{};
  const int answer = ::GetNameInfoW(native.data(), native.size(), name.data(),
                                    static_cast<DWORD>(name.size()), nullptr, 0, NI_NAMEREQD);
  made.error = error_of_answer(answer != 0 ? ::WSAGetLastError() : 0);
  if (!made.error) made.found = to_utf8(name.data());
  return made;
}

}  // namespace tandem::inline v0::io::platform
