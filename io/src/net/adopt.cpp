// adopt.cpp: from_native() and release() of streams and listeners.
// SPDX-License-Identifier: MIT
#include "net/adopt.hpp"

#include <fcntl.h>
#include <netinet/in.h>

#include <string>
#include <tandem/io/tcp_listener.hpp>
#include <tandem/io/tcp_stream.hpp>

#include "net/socket_calls.hpp"
#include "net/socket_options.hpp"

namespace tandem::inline v0::io {

namespace {

[[noreturn]] void refuse(int descriptor, int error, const char* what, const char* why) {
  throw std::system_error(
      error, std::generic_category(),
      std::string(what) + ": descriptor " + std::to_string(descriptor) + " " + why);
}

int ask(int descriptor, int option, const char* what) {
  int value = 0;
  socklen_t size = sizeof value;
  if (::getsockopt(descriptor, SOL_SOCKET, option, &value, &size) == 0) return value;
  refuse(descriptor, errno, what, errno == ENOTSOCK ? "is no socket" : "cannot be asked");
}

}  // namespace

void check_adopted(int descriptor, adopted_kind wanted, const char* what) {
  const int flags = ::fcntl(descriptor, F_GETFD);
  if (flags < 0) refuse(descriptor, errno, what, "is not open");
  const int family = ask(descriptor, SO_DOMAIN, what);
  if (ask(descriptor, SO_TYPE, what) != SOCK_STREAM || (family != AF_INET && family != AF_INET6) ||
      ask(descriptor, SO_PROTOCOL, what) != IPPROTO_TCP) {
    refuse(descriptor, EPROTOTYPE, what, "is no TCP socket");
  }
  const bool listens = ask(descriptor, SO_ACCEPTCONN, what) != 0;
  if (wanted == adopted_kind::listener && !listens) {
    refuse(descriptor, EINVAL, what, "does not listen: call listen() on it first");
  }
  if (wanted == adopted_kind::stream) {
    if (listens) refuse(descriptor, EINVAL, what, "listens: make it a tcp_listener");
    socket_address peer;
    if (::getpeername(descriptor, peer.data(), peer.capacity()) != 0) {
      refuse(descriptor, errno, what, "is not connected");
    }
  }
  const int status = ::fcntl(descriptor, F_GETFL);
  if (status < 0 || ::fcntl(descriptor, F_SETFL, status & ~O_NONBLOCK) != 0 ||
      ::fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) != 0) {
    refuse(descriptor, errno, what, "does not take its flags");
  }
}

tcp_stream tcp_stream::from_native(int descriptor) {
  return from_native(current_completion_pool("tcp_stream::from_native"), descriptor);
}

tcp_stream tcp_stream::from_native(completion_pool& pool, int descriptor) {
  check_adopted(descriptor, adopted_kind::stream, "tcp_stream::from_native");
  return tcp_stream(detail::socket(descriptor, pool.next_thread()));
}

tcp_listener tcp_listener::from_native(int descriptor, const tcp_options& connections) {
  return from_native(current_completion_pool("tcp_listener::from_native"), descriptor, connections);
}

tcp_listener tcp_listener::from_native(completion_pool& pool, int descriptor,
                                       const tcp_options& connections) {
  check_adopted(descriptor, adopted_kind::listener, "tcp_listener::from_native");
  apply_options_or_throw(descriptor, connections, "tcp_listener::from_native");
  return {detail::socket(descriptor, pool.next_thread()), pool};
}

}  // namespace tandem::inline v0::io
