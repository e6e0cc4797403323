// adopted.cpp: looking at foreign descriptors.
// SPDX-License-Identifier: MIT
#include "platform/unix/adopted.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "platform/unix/calls.hpp"
#include "platform/unix/socket_questions.hpp"

namespace tandem::inline v0::io::platform {

namespace {

/// Where there is no option for it a socket's name tells.
int family_of(socket_questions& socket, [[maybe_unused]] int descriptor) noexcept {
#if defined(SO_DOMAIN)
  return socket.ask(SOL_SOCKET, SO_DOMAIN);
#else
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&name), &size) == 0) {  // NOLINT
    return name.ss_family;
  }
  if (!socket.error) socket.error = std::error_code(errno, std::generic_category());
  return AF_UNSPEC;
#endif
}

/// Where there is no option for it: what streams of the internet are everywhere.
int protocol_of([[maybe_unused]] socket_questions& socket) noexcept {
#if defined(SO_PROTOCOL)
  return socket.ask(SOL_SOCKET, SO_PROTOCOL);
#else
  return IPPROTO_TCP;
#endif
}

}  // namespace

adopted_facts facts_of(native_descriptor descriptor) noexcept {
  adopted_facts facts;
  if (::fcntl(descriptor, F_GETFD) < 0) {
    facts.refused = refuse(errno, "is not open");
    return facts;
  }
  socket_questions socket(descriptor);
  facts.family = family_of(socket, descriptor);
  facts.type = socket.ask(SOL_SOCKET, SO_TYPE);
  facts.protocol = protocol_of(socket);
  facts.listens = socket.ask(SOL_SOCKET, SO_ACCEPTCONN) != 0;
  if (socket.error) {
    facts.refused.error = socket.error;
    facts.refused.why =
        socket.error == std::errc::not_a_socket ? "is no socket" : "cannot be asked";
  }
  return facts;
}

refusal make_like_ours(native_descriptor descriptor) noexcept {
  const int flags = ::fcntl(descriptor, F_GETFD);
  const int status = ::fcntl(descriptor, F_GETFL);
  if (flags < 0 || status < 0 || ::fcntl(descriptor, F_SETFL, status & ~O_NONBLOCK) != 0 ||
      ::fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) != 0) {
    return refuse(errno, "does not take its flags");
  }
  keep_from_signals(descriptor);
  return {};
}

}  // namespace tandem::inline v0::io::platform
