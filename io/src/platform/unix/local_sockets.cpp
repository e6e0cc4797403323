// local_sockets.cpp: making Unix sockets, and their names.
// SPDX-License-Identifier: MIT
#include "platform/local_sockets.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "platform/unix/adopted.hpp"
#include "platform/unix/calls.hpp"
#include "platform/unix/local_address.hpp"

namespace tandem::inline v0::io::platform {

namespace {

std::error_code error_of(int number) noexcept { return {number, std::generic_category()}; }
std::error_code error_of_call(int answer) noexcept {
  return answer == 0 ? std::error_code() : error_of(errno);
}

int type_of(local_kind kind) noexcept {
  switch (kind) {
    case local_kind::stream: return SOCK_STREAM;
    case local_kind::seqpacket: return SOCK_SEQPACKET;
    case local_kind::datagram: break;
  }
  return SOCK_DGRAM;
}

/// Of the path that was just bound, whatever somebody has put in its place meanwhile.
///
/// post: if that fails, no socket is left there
std::error_code permit(const unix_endpoint& bound, mode_t permissions) noexcept {
  const std::string path(bound.name());
  struct stat status{};
  constexpr mode_t all = 07777;
  if (::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode) &&
      (status.st_mode & all) == (permissions & all)) {
    return {};  // the system has made it so
  }
  const std::error_code error =
      error_of_call(::fchmodat(AT_FDCWD, path.c_str(), permissions, AT_SYMLINK_NOFOLLOW));
  if (error && identity_of(bound)) remove_path(bound);
  return error;
}

result<unix_endpoint> name_of(int descriptor, int (*ask)(int, sockaddr*, socklen_t*)) noexcept {
  local_address address;
  if (ask(descriptor, address.data(), address.capacity()) != 0) return error_of(errno);
  return address.to_endpoint();
}

}  // namespace

result<native_descriptor> open_local_socket(local_kind kind) noexcept {
  const int made = open_socket(AF_UNIX, type_of(kind), 0);
  if (made < 0) return error_of(errno);
  return made;
}

result<std::array<native_descriptor, 2>> make_local_pair(local_kind kind) noexcept {
  std::array<native_descriptor, 2> made{};
  if (open_socket_pair(type_of(kind), made.data()) != 0) return error_of(errno);
  return made;
}

std::error_code bind_local(native_descriptor socket, const unix_endpoint& address,
                           std::int64_t permissions) noexcept {
  const local_address native(address);
  if (!native.fits()) return error_of(ENAMETOOLONG);
  if (permissions >= 0 && address.is_path()) {
    // Before: then the path never exists with other ones. Where a socket has none, below.
    (void)::fchmod(socket, static_cast<mode_t>(permissions));
  }
  if (::bind(socket, native.data(), native.size()) != 0) return error_of(errno);
  if (permissions < 0 || !address.is_path()) return {};
  return permit(address, static_cast<mode_t>(permissions));
}

std::error_code connect_local(native_descriptor socket, const unix_endpoint& peer) noexcept {
  const local_address native(peer);
  if (!native.fits()) return error_of(ENAMETOOLONG);
  // It would wait while the listener's queue is full.
  const int status = ::fcntl(socket, F_GETFL);
  if (status < 0 || ::fcntl(socket, F_SETFL, status | O_NONBLOCK) != 0) return error_of(errno);
  int answer = 0;
  do answer = ::connect(socket, native.data(), native.size());
  while (answer != 0 && errno == EINTR);
  const std::error_code outcome = error_of_call(answer);
  (void)::fcntl(socket, F_SETFL, status);
  return outcome;
}

result<detail::file_identity> identity_of(const unix_endpoint& path) noexcept {
  struct stat status{};
  if (::lstat(std::string(path.name()).c_str(), &status) != 0) return error_of(errno);
  if (!S_ISSOCK(status.st_mode)) return error_of(ENOTSOCK);
  return detail::file_identity(static_cast<std::uint64_t>(status.st_dev),
                               static_cast<std::uint64_t>(status.st_ino));
}

void remove_path(const unix_endpoint& path) noexcept {
  (void)::unlink(std::string(path.name()).c_str());
}

result<unix_endpoint> local_name_of(native_descriptor socket) noexcept {
  return name_of(socket, &::getsockname);
}
result<unix_endpoint> local_peer_of(native_descriptor socket) noexcept {
  return name_of(socket, &::getpeername);
}

result<peer_credentials> credentials_of(native_descriptor socket) noexcept {
  peer_credentials found;
#if defined(SO_PEERCRED)
  ::ucred told{};
  socklen_t size = sizeof told;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &told, &size) != 0) return error_of(errno);
  // Of a socket that was never connected the system says so by numbers.
  if (told.uid == static_cast<uid_t>(-1)) return error_of(ENOTCONN);
  found.process = told.pid;
  found.user = told.uid;
  found.group = told.gid;
#else
  uid_t user = 0;
  gid_t group = 0;
  if (::getpeereid(socket, &user, &group) != 0) return error_of(errno);
  found.user = user;
  found.group = group;
#endif
  return found;
}

std::error_code tell_credentials([[maybe_unused]] native_descriptor socket) noexcept {
#if defined(SO_PASSCRED)
  const int on = 1;
  return error_of_call(::setsockopt(socket, SOL_SOCKET, SO_PASSCRED, &on, sizeof on));
#else
  return std::make_error_code(std::errc::not_supported);
#endif
}

refusal adopt_local_socket(native_descriptor descriptor, local_kind wanted, bool listens) noexcept {
  const adopted_facts facts = facts_of(descriptor);
  if (facts.refused) return facts.refused;
  if (facts.family != AF_UNIX) return refuse(EPROTOTYPE, "is no Unix socket");
  if (facts.type != type_of(wanted)) return refuse(EPROTOTYPE, "is a Unix socket of another kind");
  if (listens && !facts.listens) {
    return refuse(EINVAL, "does not listen: call listen() on it first");
  }
  if (!listens && facts.listens) return refuse(EINVAL, "listens: make it a listener");
  if (!listens && wanted != local_kind::datagram && !local_peer_of(descriptor)) {
    return refuse(ENOTCONN, "is not connected");
  }
  return make_like_ours(descriptor);
}

}  // namespace tandem::inline v0::io::platform
