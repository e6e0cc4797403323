// binding.cpp: the name of a socket, or what is in its way and what to do about it.
// SPDX-License-Identifier: MIT
#include "local/binding.hpp"

#include <system_error>

#include "platform/descriptor.hpp"

namespace tandem::inline v0::io {

namespace {

/// Whether nobody listens, or receives, any more at a path that is taken.
bool is_stale(platform::local_kind kind, const unix_endpoint& address) noexcept {
  const result<native_descriptor> probe = platform::open_local_socket(kind);
  if (!probe) return false;
  const std::error_code answer = platform::connect_local(probe.value(), address);
  platform::close(probe.value());
  return answer == std::errc::connection_refused;
}

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
  const std::int64_t permissions = wishes.permissions ? std::int64_t{*wishes.permissions} : -1;
  std::error_code error = platform::bind_local(socket.descriptor(), address, permissions);
  // A path at which somebody binds a socket meanwhile may be removed with the stale one: the system
  // has no call for both.
  if (error == std::errc::address_in_use && wishes.replaces_stale && address.is_path() &&
      platform::identity_of(address) && is_stale(kind, address)) {
    platform::remove_path(address);
    error = platform::bind_local(socket.descriptor(), address, permissions);
  }
  if (error) throw std::system_error(error, what + advice_on(error, address, wishes));
  if (!address.is_path() || !wishes.removes_at_close) return {};
  const auto made = platform::identity_of(address);
  if (!made) return {};
  return {address, made.value()};
}

}  // namespace tandem::inline v0::io
