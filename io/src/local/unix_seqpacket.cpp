// unix_seqpacket.cpp: sockets whose messages stay whole.
// SPDX-License-Identifier: MIT
#include <tandem/io/unix_seqpacket.hpp>

#include <utility>

#include "local/local_opening.hpp"
#include "net/checked.hpp"
#include "platform/local_sockets.hpp"

namespace tandem::inline v0::io {

using platform::local_kind;

void unix_message_socket::shutdown(shutdown_kind kind) {
  check(platform::shut_down(socket_.descriptor(), kind != shutdown_kind::write,
                            kind != shutdown_kind::read),
        "shutdown of a Unix socket");
}
unix_endpoint unix_message_socket::local_endpoint() const {
  return checked(platform::local_name_of(socket_.descriptor()), "local_endpoint of a Unix socket");
}
unix_endpoint unix_message_socket::remote_endpoint() const {
  return checked(platform::local_peer_of(socket_.descriptor()), "remote_endpoint of a Unix socket");
}

task<unix_seqpacket> unix_seqpacket::connect(unix_endpoint peer) {
  detail::socket socket =
      co_await connect_local_socket(local_kind::seqpacket, peer, "unix_seqpacket::connect");
  co_return unix_seqpacket(std::move(socket));
}

std::pair<unix_seqpacket, unix_seqpacket> unix_seqpacket::pair() {
  return pair(default_completion_pool("unix_seqpacket::pair"));
}
std::pair<unix_seqpacket, unix_seqpacket> unix_seqpacket::pair(completion_pool& pool) {
  auto both = open_local_pair(pool, local_kind::seqpacket, "unix_seqpacket::pair");
  return {unix_seqpacket(std::move(both[0])), unix_seqpacket(std::move(both[1]))};
}

unix_seqpacket unix_seqpacket::from_native(native_descriptor descriptor) {
  return from_native(default_completion_pool("unix_seqpacket::from_native"), descriptor);
}
unix_seqpacket unix_seqpacket::from_native(completion_pool& pool, native_descriptor descriptor) {
  return unix_seqpacket(
      adopt_local(pool, descriptor, local_kind::seqpacket, false, "unix_seqpacket::from_native"));
}

peer_credentials unix_seqpacket::credentials() const {
  return checked(platform::credentials_of(socket_.descriptor()), "unix_seqpacket::credentials");
}

}  // namespace tandem::inline v0::io
