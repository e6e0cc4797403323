// binding.cpp: what is in the way of a socket's name, and what to do about it.
// SPDX-License-Identifier: MIT
#include "local/binding.hpp"

#include <system_error>

namespace tandem::inline v0::io {

namespace {

/// The name is another one's.
const char* advice_on_taken(const unix_endpoint& address, const path_wishes& wishes) noexcept {
  if (!address.is_path()) {
    return " (a socket of this network namespace has that name: end its program, or take another)";
  }
  const result<detail::file_identity> there = platform::identity_of(address);
  if (!there && there.error() == std::errc::no_such_file_or_directory) {
    return " (what was there is gone by now: try again)";
  }
  if (!there && there.error() == std::errc::not_a_socket) {
    return " (what is there is no socket, and so is not replaced: remove it, or take another path)";
  }
  if (!wishes.replaces_stale) {
    return " (a socket is there, which replaces_stale = false has kept: remove it, or set that)";
  }
  return " (a socket is there that is in use: end its program, or take another path)";
}

const char* advice_on(const std::error_code& error, const unix_endpoint& address,
                      const path_wishes& wishes) noexcept {
  if (error == std::errc::address_in_use) return advice_on_taken(address, wishes);
  if (!address.is_path()) return "";
  if (error == std::errc::no_such_file_or_directory) {
    return " (its directory does not exist, or no file can be made there: make it first)";
  }
  if (error == std::errc::permission_denied) {
    return " (this user may make no file in its directory: change that, or take another path)";
  }
  return "";
}

}  // namespace

detail::local_name bind_name(detail::socket& socket, platform::local_kind kind,
                             const unix_endpoint& address, const path_wishes& wishes,
                             const std::string& what) {
  try {
    return name_local(socket, kind, address, wishes, what);
  } catch (const std::system_error& refused) {
    throw std::system_error(refused.code(), what + advice_on(refused.code(), address, wishes));
  }
}

}  // namespace tandem::inline v0::io
